"""Recall of each query at each depth by both definitions, and chance, from SCORED records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from components.metrics.retrieval import chance_of_hit, chance_of_share, shares_at
from components.stages.evaluate_retrieval.scoring import WAYS

if TYPE_CHECKING:
    import pyarrow as pa

HIT, SHARE = "hit", "share"
DEFINITIONS = {HIT: "any hit", SHARE: "share found"}
"""The two definitions of recall (``components.metrics.retrieval``)."""


class Cell(NamedTuple):
    """Key of a column of one value per query."""

    crop: str
    way: str
    definition: str
    depth: int


@dataclass
class Measured:
    """Recalls of every model for every query; all models have the same queries."""

    queries: dict[str, list[str]] = field(default_factory=dict)
    """Direction → the queries in order: records, or pictures."""
    items: dict[str, int] = field(default_factory=dict)
    """Direction → number of items that a query ranks."""
    models: dict[str, dict[Cell, NDArray[np.float64]]] = field(default_factory=dict)
    """Model → cell → the recall of each query, averaged over its rounds."""
    chance: dict[Cell, float] = field(default_factory=dict)
    """Recall of a random order; equal for all crops, so ``crop`` is empty."""


def measure(scored: Mapping[str, pa.Table], crops: Sequence[str], depths: Sequence[int]) -> Measured:
    """Return the recalls of all models, from each model's SCORED records."""
    measured = Measured()
    for model, table in sorted(scored.items()):
        measured.models[model] = {}
        for way in WAYS:
            for crop in crops:
                _measure(measured, model, table, crop, way, depths)
    return measured


def _measure(measured: Measured, model: str, table: pa.Table, crop: str, way: str, depths: Sequence[int]) -> None:

    rows = table.filter(pc.and_(pc.equal(table["crop"], crop), pc.equal(table["way"], way)))
    names, query_index = np.unique(np.array(rows["query"].to_pylist(), dtype=object), return_inverse=True)
    rounds = np.bincount(query_index)
    ranks, right = (rows[name].to_numpy().astype(np.int64) for name in ("rank", "right"))
    places = rows["places"].to_pylist()

    def mean_by_query(values: NDArray[np.float64]) -> NDArray[np.float64]:
        means: NDArray[np.float64] = np.bincount(query_index, weights=values) / rounds
        return means

    for depth in depths:
        measured.models[model][Cell(crop, way, HIT, depth)] = mean_by_query((ranks <= depth).astype(np.float64))
        measured.models[model][Cell(crop, way, SHARE, depth)] = mean_by_query(shares_at(places, right, depth))
    if way not in measured.queries:
        items = rows["items"].to_numpy()
        measured.queries[way], measured.items[way] = names.tolist(), int(items.max())
        pairs = list(zip(right.tolist(), items.tolist(), strict=True))
        for depth in depths:
            hits = {(good, all_items): chance_of_hit([good], all_items, depth) for good, all_items in set(pairs)}
            shares = np.array([chance_of_share(all_items, depth) for _, all_items in pairs])
            measured.chance[Cell("", way, HIT, depth)] = float(mean_by_query(np.array([hits[pair] for pair in pairs])).mean())
            measured.chance[Cell("", way, SHARE, depth)] = float(mean_by_query(shares).mean())
    elif measured.queries[way] != names.tolist():
        raise ValueError(f"{model} has other queries than the models before it")
