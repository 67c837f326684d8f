"""Results of the evaluation: means over seeds, intervals over items, contrasts, examples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from components.reporting.values import Contrast, Value, best_of
from components.reporting.verdicts import Finding
from components.stages.evaluate_captioners.claims import CaptionerClaim
from components.stages.evaluate_captioners.inputs import Item, Model
from components.stages.evaluate_captioners.scoring import METRICS, ObjectMentions


@dataclass(frozen=True)
class Writing:
    """Figures of one network's captions for one test set, or of its references."""

    figures: dict[str, float]
    """Name → value; a figure that cannot be computed is left out."""
    unsupported: Sequence[tuple[str, int]] = ()
    """Hallucinated lemmas with their counts over all seeds, most frequent first."""


@dataclass(frozen=True)
class Row:
    """Results of a network, trained on one set, on one test set."""

    training: str
    network: str
    seeds: dict[str, dict[str, float]]
    """Model → metric → value."""
    values: dict[str, Value]
    writing: Writing

    @property
    def name(self) -> str:
        """``<training set>-<network>``."""
        return f"{self.training}-{self.network}"


@dataclass(frozen=True)
class Table:
    """Results on one test set."""

    name: str
    language: str
    wording: str
    """Which field of its records is the reference, ``caption`` or ``text``; empty if unknown."""
    items: int
    references: int
    references_writing: Writing
    rows: list[Row]
    constant: tuple[str, dict[str, Value]] | None
    left_out: list[str] = field(default_factory=list)
    """Why enabled metrics are left out, a line each."""
    findings: Sequence[Finding[CaptionerClaim]] = ()
    """The papers' claims, by paired differences of the main metric."""

    @property
    def metrics(self) -> list[str]:
        """The metrics that all rows have, in order."""
        return [name for name in METRICS if all(name in row.values for row in self.rows)]

    @property
    def best(self) -> set[tuple[str, str]]:
        """Row and metric of each column's best values; the constant caption is not ranked."""
        columns = {metric: {row.name: row.values[metric] for row in self.rows} for metric in self.metrics}
        return {(row, metric) for metric, column in columns.items() for row in best_of(column)}

    @property
    def groups(self) -> list[list[Row]]:
        """The rows grouped by training set."""
        return [[row for row in self.rows if row.training == name] for name in dict.fromkeys(row.training for row in self.rows)]

    def row(self, training: str, network: str) -> Row | None:
        """Return the row of a cell, or None."""
        return next((row for row in self.rows if (row.training, row.network) == (training, network)), None)


@dataclass(frozen=True)
class Pair:
    """Two test sets with the same images and different wordings (CC figure 3)."""

    first: str
    second: str
    contrasts: list[Contrast]
    examples: list[Example]
    """Random images that some network captions differently after training on either set."""


@dataclass(frozen=True)
class ModelCaption:
    """One model's caption of an image."""

    caption: str
    objects: ObjectMentions


@dataclass(frozen=True)
class Example:
    """An image with its references by test set and each model's caption."""

    item: Item
    test: str
    """The test set whose captions are shown."""
    references: dict[str, Item]
    captions: dict[str, ModelCaption]
    """Model → its caption."""


@dataclass(frozen=True)
class CaptionerResults:
    """Every captioner on every test set."""

    dataset: str
    trainings: list[str]
    networks: list[str]
    shown: dict[tuple[str, str], list[str]]
    """(training set, network) → its models; the examples show the first."""
    tables: list[Table]
    pairs: list[Pair] = field(default_factory=list)
    examples: list[Example] = field(default_factory=list)
    beam: int = 1
    resamples: int = 0
    trained: dict[str, Model] = field(default_factory=dict)
    """The trained captioners by name, without ensembles and reranking."""
    weights: dict[str, float] = field(default_factory=dict)
    """Model with reranking → weight of the consensus."""

    @property
    def marked(self) -> bool:
        """Whether hallucinated objects were measured for any row."""
        return any("captions_with_unsupported" in row.writing.figures for table in self.tables for row in table.rows)
