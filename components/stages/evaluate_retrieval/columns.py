"""Columns of one value per query, with their means, bootstrap_intervals over queries and values per seed.

The interval resamples queries with fixed models, after averaging rounds and seeds, so more voices or seeds do not narrow it. All
columns of a direction share their resamples, so a difference of rows is a column of differences.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from components.metrics.bootstrap import bootstrap_intervals
from components.reporting.values import Value
from components.stages.evaluate_retrieval.scoring import WAYS
from components.stages.evaluate_retrieval.values import Cell, Measured

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
        columns: dict[str, dict[str, NDArray[np.float64]]] = {way: {} for way in WAYS}
        for number, (terms, cell) in enumerate(zip(sums, cells, strict=True)):
            columns[cell.way][str(number)] = self._sum(terms, cell)
        ends: dict[str, tuple[float, float]] = {}
        for way_columns in columns.values():
            ends |= bootstrap_intervals(way_columns, seed=self.seed, resamples=self.resamples)
        result = []
        for number, (terms, cell) in enumerate(zip(sums, cells, strict=True)):
            column = columns[cell.way][str(number)]
            low, high = ends[str(number)]
            seeds = tuple(round(mean, DIGITS) for mean in self._seeds(terms, cell))
            result.append(Value(round(math.fsum(column) / len(column), DIGITS), round(low, DIGITS), round(high, DIGITS), seeds))
        return result

    def _sum(self, terms: Sequence[Term], cell: Cell) -> NDArray[np.float64]:
        result = np.zeros(len(self.measured.queries[cell.way]))
        for term in terms:
            of_seeds = [self.measured.models[model][cell._replace(crop=term.crop)] for model in self.models[term.row]]
            result += term.weight * np.mean(of_seeds, axis=0)
        return result

    def _seeds(self, terms: Sequence[Term], cell: Cell) -> tuple[float, ...]:
        """Return the sum for each seed that all rows have; models of different rows are paired by seed."""
        rows = [({model.rpartition("-")[2]: model for model in self.models[term.row]}, term) for term in terms]
        result = []
        for seed in rows[0][0]:
            if all(seed in models for models, _ in rows):
                means = (
                    term.weight * float(self.measured.models[models[seed]][cell._replace(crop=term.crop)].mean())
                    for models, term in rows
                )
                result.append(math.fsum(means))
        return tuple(result)
