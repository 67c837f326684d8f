"""Columns of one number a query, their means, and what to make of them: over queries an interval, over seeds a spread.

The two are kept apart. The interval is of queries resampled with the models held fixed, rounds and seeds averaged first, so that
neither more voices nor more seeds narrow it; the spread is of the seeds' own means. All columns of a direction are resampled
alike, so a difference of rows is a column of differences.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from components.metrics.intervals import bootstrap_intervals
from components.reporting.values import Value
from components.stages.evaluate_retrieval.scoring import WAYS
from components.stages.evaluate_retrieval.values import Cell, Measured

DIGITS = 12
"""Behind the point: what is 0 but for rounding is 0, and never above it."""


class Term(NamedTuple):
    """A row's recall, times a weight."""

    row: str
    crop: str
    weight: float


class Columns:
    """What every row made of every query.

    Args:
        models: row → its models, ``<row>-<seed>``.
        seed, resamples: of the bootstrap.
    """

    def __init__(self, measured: Measured, models: Mapping[str, Sequence[str]], seed: int, resamples: int) -> None:
        self.measured, self.models, self.seed, self.resamples = measured, models, seed, resamples

    def values(self, sums: Sequence[Sequence[Term]], cells: Sequence[Cell]) -> list[Value]:
        """Weighted sums of rows, each of the recall of its cell; the crop is not the cell's but its terms'."""
        columns: dict[str, dict[str, NDArray[np.float64]]] = {way: {} for way in WAYS}
        for number, (terms, cell) in enumerate(zip(sums, cells, strict=True)):
            columns[cell.way][str(number)] = self._sum(terms, cell)
        ends: dict[str, tuple[float, float]] = {}
        for of_way in columns.values():
            ends |= bootstrap_intervals(of_way, seed=self.seed, resamples=self.resamples)
        found = []
        for number, (terms, cell) in enumerate(zip(sums, cells, strict=True)):
            column = columns[cell.way][str(number)]
            low, high = ends[str(number)]
            seeds = tuple(round(mean, DIGITS) for mean in self._seeds(terms, cell))
            found.append(Value(round(math.fsum(column) / len(column), DIGITS), round(low, DIGITS), round(high, DIGITS), seeds))
        return found

    def _sum(self, terms: Sequence[Term], cell: Cell) -> NDArray[np.float64]:
        found = np.zeros(len(self.measured.queries[cell.way]))
        for term in terms:
            of_seeds = [self.measured.models[model][cell._replace(crop=term.crop)] for model in self.models[term.row]]
            found += term.weight * np.mean(of_seeds, axis=0)
        return found

    def _seeds(self, terms: Sequence[Term], cell: Cell) -> tuple[float, ...]:
        """Of the seeds that all these rows have: a row's model of a seed goes with another's of that seed."""
        rows = [({model.rpartition("-")[2]: model for model in self.models[term.row]}, term) for term in terms]
        found = []
        for seed in rows[0][0]:
            if all(seed in models for models, _ in rows):
                means = (
                    term.weight * float(self.measured.models[models[seed]][cell._replace(crop=term.crop)].mean())
                    for models, term in rows
                )
                found.append(math.fsum(means))
        return tuple(found)
