"""What a comparison of captioners holds: means over seeds, intervals over items, what is set side by side."""

from __future__ import annotations

from dataclasses import dataclass, field

from components.reporting.values import Contrast, Value, best_of
from components.stages.evaluate_captioners.analyses import Writing
from components.stages.evaluate_captioners.inputs import Item
from components.stages.evaluate_captioners.scoring import METRICS, Things


@dataclass(frozen=True)
class Row:
    """A network trained on a set, tried on a test set."""

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
    """A test set."""

    name: str
    language: str
    wording: str
    """What of its records is its reference: caption, or text; empty where nobody said."""
    items: int
    references: int
    references_writing: Writing
    """How the references are written."""
    rows: list[Row]
    constant: tuple[str, dict[str, Value]] | None

    @property
    def metrics(self) -> list[str]:
        """Those there are scores of, in order."""
        return [name for name in METRICS if all(name in row.values for row in self.rows)]

    @property
    def best(self) -> set[tuple[str, str]]:
        """Row and metric of each column's best values; the constant caption stands outside."""
        columns = {metric: {row.name: row.values[metric] for row in self.rows} for metric in self.metrics}
        return {(row, metric) for metric, column in columns.items() for row in best_of(column)}

    @property
    def groups(self) -> list[list[Row]]:
        """The rows by what they were trained on."""
        return [[row for row in self.rows if row.training == name] for name in dict.fromkeys(row.training for row in self.rows)]

    def row(self, training: str, network: str) -> Row | None:
        """The row of a cell."""
        return next((row for row in self.rows if (row.training, row.network) == (training, network)), None)


@dataclass(frozen=True)
class Pair:
    """Two test sets of the same pictures in different words (CC figure 3)."""

    first: str
    second: str
    contrasts: list[Contrast]
    examples: list[Example]
    """Drawn pictures for which some network writes different captions."""


@dataclass(frozen=True)
class Said:
    """What one model says of a picture."""

    caption: str
    things: Things


@dataclass(frozen=True)
class Example:
    """A picture, its references by test set, and what each model says of it."""

    item: Item
    test: str
    """The test set whose captions are shown."""
    references: dict[str, Item]
    said: dict[str, Said]
    """Model → what it says."""


@dataclass(frozen=True)
class CaptionerResults:
    """Every captioner on every test set."""

    dataset: str
    trainings: list[str]
    networks: list[str]
    shown: dict[tuple[str, str], list[str]]
    """(training set, network) → its models, the one shown first."""
    tables: list[Table]
    pairs: list[Pair] = field(default_factory=list)
    examples: list[Example] = field(default_factory=list)
    beam: int = 1
    resamples: int = 0
    phases: dict[str, str] = field(default_factory=dict)
    """Model → the phase of training whose weights were kept, where it is told."""

    @property
    def marked(self) -> bool:
        """Whether anything could be looked for that captions name and that is not there."""
        return any("captions_with_unseen" in row.writing.figures for table in self.tables for row in table.rows)
