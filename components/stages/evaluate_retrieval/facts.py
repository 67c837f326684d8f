"""Results of the evaluation: rows with their recalls, and verdicts on the paper's claims."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from components.reporting.values import Contrast, Value, best_of, shifted
from components.reporting.verdicts import Finding
from components.retrieval.settings import TRANSCRIPT, split_row
from components.stages.evaluate_retrieval import Params
from components.stages.evaluate_retrieval.claims import RecallClaim, applicable_claims, reported
from components.stages.evaluate_retrieval.columns import Cell, Columns, Term, measure
from components.stages.evaluate_retrieval.scoring import DIRECTIONS

KINDS = ("triplet", "mms", "none", "audio", "image", "both")
"""Losses and starts of rows, in the order of the paper's tables."""
NOTHING, OUTSIDE, TRUE_WORDS = "from nothing", "with outside pretraining", "the true words"
TRACKS = {"convolutions": NOTHING, "inception_resnet_v2": NOTHING, "whisper": OUTSIDE, TRANSCRIPT: OUTSIDE, "text": TRUE_WORDS}
"""What hears the speech → its track, in the order of the table. Rows of different tracks are never compared as the paper's."""
STARTS = {"none": "from scratch", "audio": "speech tower warm", "image": "image tower warm", "both": "both towers warm"}
"""Warm start → its description; on the page also the CSS class of its series in figure 3."""


@dataclass(frozen=True)
class Row:
    """A row of the table: all seeds of one training."""

    name: str
    tower: str
    """The tower in its name; empty if it names none."""
    kind: str
    """The loss, or which towers were warm-started."""
    number: int
    """The batch size, or the percentage of the training pairs."""
    models: dict[str, dict[str, Any]]
    """Model → its training's settings and figures, ordered by seed."""
    values: dict[Cell, Value]

    @property
    def pairs(self) -> int:
        """The number of training pairs of its first model."""
        return int(next(iter(self.models.values()))["training_pairs"])

    @property
    def speech(self) -> str:
        """Its speech tower, or ``transcript``: one of :data:`TRACKS`."""
        return str(next(iter(self.models.values()))["speech"])

    @property
    def track(self) -> str:
        """Whether speech outside the training set taught it to hear."""
        return TRACKS[self.speech]

    def paper(self, direction: str, depth: int) -> float | None:
        """Return the paper's R@``depth`` of such a row of its track, or None."""
        return reported(self.experiment, direction, depth) if self.track == NOTHING else None

    @property
    def experiment(self) -> str:
        """Its name without the tower, as in the paper's tables."""
        return f"{self.kind}-{self.number}"

    @property
    def words(self) -> str:
        """A description of the row."""
        if self.kind in ("mms", "triplet"):
            loss = {"mms": "masked margin softmax", "triplet": "triplet loss"}[self.kind]
            return f"{loss}, batch {self.number}"
        return f"{STARTS.get(self.kind, self.kind)}, {self.number} % of the training pairs"


@dataclass(frozen=True)
class RetrievalResults:
    """All rows of the table, and the verdicts on the paper's claims."""

    dataset: str
    params: Params
    rows: tuple[Row, ...]
    queries: dict[str, int]
    """Direction → number of queries."""
    items: dict[str, int]
    """Direction → number of items that each query ranks."""
    counts: dict[str, int]
    """Counts of ``images``, ``utterances``, ``records`` and ``rounds`` in the split."""
    chance: dict[Cell, float]
    findings: tuple[Finding[RecallClaim], ...]
    """Each with a contrast per direction and weighted sum."""
    costs: tuple[Contrast, ...]
    """What hearing costs: recall with the true words less that of each row trained alike, in each direction."""

    @property
    def main(self) -> Row:
        """The last row of the table that hears, which is the paper's best."""
        return next((row for row in reversed(self.rows) if row.speech not in (TRANSCRIPT, "text")), self.rows[-1])

    @property
    def best(self) -> set[tuple[str, Cell]]:
        """Row and cell of the best values of each column, in each track."""
        tracks = [[row for row in self.rows if row.track == track] for track in dict.fromkeys(TRACKS.values())]
        columns = [(cell, {row.name: row.values[cell] for row in rows}) for rows in tracks if rows for cell in self.main.values]
        return {(row, cell) for cell, column in columns for row in best_of(column)}

    @property
    def crop(self) -> str:
        """The crop shown in the tables."""
        return self.params.crops[0]


def gather(
    dataset: str, scored: Mapping[str, pa.Table], model_info: Mapping[str, dict[str, Any]], params: Params
) -> RetrievalResults:
    """Return all results, from the RETRIEVAL_RANK records and the information of each model."""
    measured, models = measure(scored, params.crops, params.depths), models_by_row(model_info)
    columns = Columns(measured, models, params.seed, params.resamples)
    cells = list(next(iter(measured.models.values())))
    rows = []
    for name, names in models.items():
        values = dict(zip(cells, columns.values([[Term(name, cell.crop, 1.0)] for cell in cells], cells), strict=True))
        tower, kind, number = split_row(name)
        rows.append(Row(name, tower, kind, int(number), {model: model_info[model] for model in names}, values))
    queries = {direction: len(names) for direction, names in measured.queries.items()}
    counts = {name: next(iter(model_info.values()))[name] for name in ("images", "utterances", "records", "rounds")}
    claims = applicable_claims(list(models), params.crops, params.crops[0])
    findings = tuple(_judge(claim, columns, measured.chance, params) for claim in claims)
    costs = tuple(_costs(rows, columns, params.crops[0], params.main_depth))
    return RetrievalResults(dataset, params, tuple(rows), queries, measured.items, counts, measured.chance, findings, costs)


def models_by_row(model_info: Mapping[str, dict[str, Any]]) -> dict[str, list[str]]:
    """Return row → its models by seed, with rows in the order of the paper's tables."""
    rows: dict[str, list[str]] = {}
    for model in sorted(model_info, key=lambda model: model_info[model]["seed"]):
        rows.setdefault(model_info[model]["row"], []).append(model)

    def order(row: str) -> tuple[int, int, str, int]:
        _, kind, number = split_row(row)
        speech = list(TRACKS).index(model_info[rows[row][0]]["speech"])
        return (speech, KINDS.index(kind) if kind in KINDS else len(KINDS), kind, int(number))

    return {row: rows[row] for row in sorted(rows, key=order)}


def _judge(claim: RecallClaim, columns: Columns, chance: Mapping[Cell, float], params: Params) -> Finding[RecallClaim]:
    cells = [Cell("", direction, claim.depth) for direction in DIRECTIONS]
    if claim.depth not in params.depths:
        claim = replace(claim, sums=(), needs=(*claim.needs, f"R@{claim.depth}"))
    elif any(chance[cell] >= 1.0 for cell in cells):
        claim = replace(claim, sums=(), needs=(*claim.needs, f"more than {claim.depth} items"))
    judged = []
    for weighted in claim.sums:
        for cell, value in zip(cells, columns.values([weighted.terms] * len(cells), cells), strict=True):
            if weighted.above_chance:
                value = shifted(value, -chance[cell] * sum(term.weight for term in weighted.terms))
            judged.append(Contrast(weighted.title, cell.direction, value))
    return Finding(claim, tuple(judged))


def _costs(rows: Sequence[Row], columns: Columns, crop: str, depth: int) -> Iterator[Contrast]:
    """Yield for each row with a counterpart that reads the true words how much lower its recall is, in each direction."""
    true = {row.experiment: row.name for row in rows if row.speech == "text"}
    cells = [Cell("", direction, depth) for direction in DIRECTIONS]
    for row in (row for row in rows if row.speech != "text" and row.experiment in true):
        terms = [Term(true[row.experiment], crop, 1.0), Term(row.name, crop, -1.0)]
        for cell, value in zip(cells, columns.values([terms] * len(cells), cells), strict=True):
            yield Contrast(f"{terms[0].row} less {row.name}, R@{depth}", cell.direction, value)
