"""Recalls of each query, and columns of them with their means, intervals over queries and values per seed.

The interval resamples queries with fixed models, after averaging rounds and seeds, so more voices or seeds do not narrow it. All
columns of a direction share their resamples, so a difference of rows is a column of differences.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from components.metrics.bootstrap import bootstrap_intervals
from components.metrics.retrieval import chance_of_hit
from components.reporting.values import Value
from components.stages.evaluate_retrieval.scoring import DIRECTIONS


class Cell(NamedTuple):
    """Key of a column of one value per query."""

    crop: str
    direction: str
    depth: int


@dataclass
class Measured:
    """Recalls of every model for every query; all models have the same queries."""

    queries: dict[str, list[str]] = field(default_factory=dict)
    """Direction → the queries in order: records, or images."""
    items: dict[str, int] = field(default_factory=dict)
    """Direction → number of items that a query ranks."""
    models: dict[str, dict[Cell, NDArray[np.float64]]] = field(default_factory=dict)
    """Model → cell → the recall of each query, averaged over its rounds."""
    chance: dict[Cell, float] = field(default_factory=dict)
    """Recall of a random order; equal for all crops, so ``crop`` is empty."""


def measure(scored: Mapping[str, pa.Table], crops: Sequence[str], depths: Sequence[int]) -> Measured:
    """Return the recalls of all models, from each model's RETRIEVAL_RANK records."""
    measured = Measured()
    for model, table in sorted(scored.items()):
        measured.models[model] = {}
        for direction in DIRECTIONS:
            for crop in crops:
                _measure(measured, model, table, crop, direction, depths)
    return measured


def _measure(measured: Measured, model: str, table: pa.Table, crop: str, direction: str, depths: Sequence[int]) -> None:
    rows = table.filter(pc.and_(pc.equal(table["crop"], crop), pc.equal(table["direction"], direction)))
    names, query_index = np.unique(np.array(rows["query"].to_pylist(), dtype=object), return_inverse=True)
    rounds = np.bincount(query_index)
    ranks, relevant = (rows[name].to_numpy().astype(np.int64) for name in ("rank", "relevant"))

    def mean_by_query(values: NDArray[np.float64]) -> NDArray[np.float64]:
        means: NDArray[np.float64] = np.bincount(query_index, weights=values) / rounds
        return means

    for depth in depths:
        measured.models[model][Cell(crop, direction, depth)] = mean_by_query((ranks <= depth).astype(np.float64))
    if direction not in measured.queries:
        items = rows["items"].to_numpy()
        measured.queries[direction], measured.items[direction] = names.tolist(), int(items.max())
        pairs = list(zip(relevant.tolist(), items.tolist(), strict=True))
        for depth in depths:
            chances = {(good, all_items): chance_of_hit([good], all_items, depth) for good, all_items in set(pairs)}
            hits = np.array([chances[pair] for pair in pairs])
            measured.chance[Cell("", direction, depth)] = float(mean_by_query(hits).mean())
    elif measured.queries[direction] != names.tolist():
        raise ValueError(f"{model} has other queries than the models before it")


DIGITS = 12
"""Decimal places that results are rounded to, so that rounding errors around 0 become exactly 0."""


class Term(NamedTuple):
    """A row's recall with a weight."""

    row: str
    crop: str
    weight: float


class Columns:
    """Recalls of every row for every query.

    Args:
        models: row → its models, ``<row>-<seed>``.
        seed, resamples: of the bootstrap.
    """

    def __init__(self, measured: Measured, models: Mapping[str, Sequence[str]], seed: int, resamples: int) -> None:
        self.measured, self.models, self.seed, self.resamples = measured, models, seed, resamples

    def values(self, sums: Sequence[Sequence[Term]], cells: Sequence[Cell]) -> list[Value]:
        """Return weighted sums of rows' recalls, one per cell; the crop is that of each term, not the cell's."""
        columns: dict[str, dict[str, NDArray[np.float64]]] = {direction: {} for direction in DIRECTIONS}
        for number, (terms, cell) in enumerate(zip(sums, cells, strict=True)):
            columns[cell.direction][str(number)] = self._sum(terms, cell)
        ends: dict[str, tuple[float, float]] = {}
        for direction_columns in columns.values():
            ends |= bootstrap_intervals(direction_columns, seed=self.seed, resamples=self.resamples)
        result = []
        for number, (terms, cell) in enumerate(zip(sums, cells, strict=True)):
            column = columns[cell.direction][str(number)]
            low, high = ends[str(number)]
            seeds = tuple(round(mean, DIGITS) for mean in self._seeds(terms, cell))
            result.append(Value(round(math.fsum(column) / len(column), DIGITS), round(low, DIGITS), round(high, DIGITS), seeds))
        return result

    def _sum(self, terms: Sequence[Term], cell: Cell) -> NDArray[np.float64]:
        result = np.zeros(len(self.measured.queries[cell.direction]))
        for term in terms:
            of_seeds = [self.measured.models[model][cell._replace(crop=term.crop)] for model in self.models[term.row]]
            result += term.weight * np.mean(of_seeds, axis=0)
        return result

    def _seeds(self, terms: Sequence[Term], cell: Cell) -> tuple[float, ...]:
        """Return the sum for each seed that all rows have; models of different rows are paired by seed."""
        rows = [({model.rpartition("-")[2]: model for model in self.models[term.row]}, term) for term in terms]
        return tuple(
            math.fsum(
                term.weight * float(self.measured.models[models[seed]][cell._replace(crop=term.crop)].mean())
                for models, term in rows
            )
            for seed in rows[0][0]
            if all(seed in models for models, _ in rows)
        )
