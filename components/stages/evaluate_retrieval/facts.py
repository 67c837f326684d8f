"""All that the tables and the page tell: rows with their recalls, cropping, and the paper's claims judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from components.reporting.values import Contrast, Value, best_of
from components.stages.evaluate_retrieval.claims import CENTRE, WHOLE, Claim, claims_of, verdict, verdict_of_all
from components.stages.evaluate_retrieval.columns import Columns, Term
from components.stages.evaluate_retrieval.scoring import WAYS
from components.stages.evaluate_retrieval.values import HIT, Cell, measure

if TYPE_CHECKING:
    import pyarrow as pa

    from components.stages.evaluate_retrieval import Params

KINDS = ("triplet", "mms", "none", "audio", "image", "both")
"""What rows begin with, in the order of the paper's tables."""


@dataclass(frozen=True)
class Row:
    """A line of the table: all seeds of one training."""

    name: str
    kind: str
    """The loss, or what was warm-started."""
    number: int
    """The batch size, or the per cent of the training pairs."""
    models: dict[str, dict[str, Any]]
    """Its models by seed: what the training of each said."""
    values: dict[Cell, Value]

    @property
    def pairs(self) -> int:
        """What its first model was trained on: pairs."""
        return int(next(iter(self.models.values()))["training_pairs"])

    @property
    def words(self) -> str:
        """What it is."""
        if self.kind in ("mms", "triplet"):
            loss = {"mms": "masked margin softmax", "triplet": "triplet loss"}[self.kind]
            return f"{loss}, batch {self.number}"
        starts = {"none": "from scratch", "audio": "speech tower warm", "image": "image tower warm", "both": "both towers warm"}
        return f"{starts.get(self.kind, self.kind)}, {self.number} % of the training pairs"


@dataclass(frozen=True)
class Finding:
    """A claim, and what was measured of it."""

    claim: Claim
    judged: tuple[Contrast, ...]
    """One each direction and weighted sum of the claim."""

    @property
    def verdict(self) -> str:
        """One of the four of :mod:`components.stages.evaluate_retrieval.claims`."""
        return verdict_of_all([verdict(each.difference) for each in self.judged])


@dataclass(frozen=True)
class RetrievalResults:
    """Every row of the table, and what they say of the paper's claims."""

    dataset: str
    params: Params
    rows: tuple[Row, ...]
    queries: dict[str, int]
    """Way → the queries: records that ask, or pictures."""
    items: dict[str, int]
    """Way → the items that each is offered."""
    asked: dict[str, int]
    """``pictures``, ``utterances``, ``records`` and ``rounds`` of the split."""
    chance: dict[Cell, float]
    findings: tuple[Finding, ...]
    cropping: dict[tuple[str, str, int], Value]
    """(row, way, depth) → any-hit recall on whole pictures less that on their centres; empty without both crops."""

    @property
    def main(self) -> Row:
        """The last row of the table, the paper's best."""
        return self.rows[-1]

    @property
    def best(self) -> set[tuple[str, Cell]]:
        """Row and cell of each column's best values."""
        columns = {cell: {row.name: row.values[cell] for row in self.rows} for cell in self.main.values}
        return {(row, cell) for cell, column in columns.items() for row in best_of(column)}

    @property
    def crop(self) -> str:
        """The crop that tables tell."""
        return self.params.crops[0]


def gather(dataset: str, scored: Mapping[str, pa.Table], about: Mapping[str, dict[str, Any]], params: Params) -> RetrievalResults:
    """Sum up: model → its SCORED records, and what its job said of it."""
    measured, models = measure(scored, params.crops, params.depths), by_row(about)
    columns = Columns(measured, models, params.seed, params.resamples)
    cells = list(next(iter(measured.models.values())))
    rows = []
    for name, names in models.items():
        values = dict(zip(cells, columns.values([[Term(name, cell.crop, 1.0)] for cell in cells], cells), strict=True))
        rows.append(Row(name, *parts(name), {model: about[model] for model in names}, values))
    queries = {way: len(names) for way, names in measured.queries.items()}
    asked = {name: next(iter(about.values()))[name] for name in ("pictures", "utterances", "records", "rounds")}
    findings = tuple(_judge(claim, columns, params) for claim in claims_of(list(models), params.crops, params.crops[0]))
    cropping = _cropping(columns, params)
    return RetrievalResults(dataset, params, tuple(rows), queries, measured.items, asked, measured.chance, findings, cropping)


def parts(row: str) -> tuple[str, int]:
    """A row's name as what it is and its number."""
    kind, _, number = row.rpartition("-")
    return kind, int(number)


def by_row(about: Mapping[str, dict[str, Any]]) -> dict[str, list[str]]:
    """Row → its models by seed; rows in the order of the paper's tables."""
    found: dict[str, list[str]] = {}
    for model in sorted(about, key=lambda model: about[model]["seed"]):
        found.setdefault(about[model]["row"], []).append(model)

    def place(row: str) -> tuple[int, str, int]:
        kind, number = parts(row)
        return (KINDS.index(kind) if kind in KINDS else len(KINDS), kind, number)

    return {row: found[row] for row in sorted(found, key=place)}


def _judge(claim: Claim, columns: Columns, params: Params) -> Finding:
    if claim.depth not in params.depths:
        claim = replace(claim, sums=(), needs=(*claim.needs, f"R@{claim.depth}"))
    judged = []
    for each in claim.sums:
        cells = [Cell("", way, HIT, claim.depth) for way in WAYS]
        for way, value in zip(WAYS, columns.values([each.terms] * len(WAYS), cells), strict=True):
            judged.append(Contrast(each.title, way, value))
    return Finding(claim, tuple(judged))


def _cropping(columns: Columns, params: Params) -> dict[tuple[str, str, int], Value]:
    if not {CENTRE, WHOLE} <= set(params.crops):
        return {}
    keys = [(row, way, depth) for row in columns.models for way in WAYS for depth in params.depths]
    terms = [(Term(row, WHOLE, 1.0), Term(row, CENTRE, -1.0)) for row, _, _ in keys]
    return dict(zip(keys, columns.values(terms, [Cell("", way, HIT, depth) for _, way, depth in keys]), strict=True))
