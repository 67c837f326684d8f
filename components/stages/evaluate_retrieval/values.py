"""From SCORED records to what each query is worth: the recall of each query at each depth, by both definitions, and chance's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from components.metrics.retrieval import chance_of_hit, chance_of_share, shares_at
from components.stages.evaluate_retrieval.scoring import WAYS

if TYPE_CHECKING:
    import pyarrow as pa

HIT, SHARE = "hit", "share"
DEFINITIONS = {HIT: "any hit", SHARE: "share found"}
"""The two definitions of recall (``components.metrics.retrieval``)."""


class Cell(NamedTuple):
    """A column of numbers, one a query."""

    crop: str
    way: str
    definition: str
    depth: int


@dataclass
class Measured:
    """What every model made of every query. All models were asked the same queries."""

    queries: dict[str, list[str]] = field(default_factory=dict)
    """Way → the queries, ordered: records, or pictures."""
    items: dict[str, int] = field(default_factory=dict)
    """Way → the items that a query ranks."""
    models: dict[str, dict[Cell, NDArray[np.float64]]] = field(default_factory=dict)
    """Model → cell → of each query its recall, the mean of its rounds."""
    chance: dict[Cell, float] = field(default_factory=dict)
    """What a random order gives; the same for all crops, whose name is empty."""


def measure(scored: Mapping[str, pa.Table], crops: Sequence[str], depths: Sequence[int]) -> Measured:
    """Recalls of all models: key → its SCORED records."""
    found = Measured()
    for model, table in sorted(scored.items()):
        found.models[model] = {}
        for way in WAYS:
            for crop in crops:
                _measure(found, model, table, crop, way, depths)
    return found


def _measure(found: Measured, model: str, table: pa.Table, crop: str, way: str, depths: Sequence[int]) -> None:
    import pyarrow.compute as pc

    rows = table.filter(pc.and_(pc.equal(table["crop"], crop), pc.equal(table["way"], way)))
    names, place = np.unique(np.array(rows["query"].to_pylist(), dtype=object), return_inverse=True)
    times = np.bincount(place)
    ranks, right = (rows[name].to_numpy().astype(np.int64) for name in ("rank", "right"))
    places = rows["places"].to_pylist()

    def of_queries(values: NDArray[np.float64]) -> NDArray[np.float64]:
        means: NDArray[np.float64] = np.bincount(place, weights=values) / times
        return means

    for depth in depths:
        found.models[model][Cell(crop, way, HIT, depth)] = of_queries((ranks <= depth).astype(np.float64))
        found.models[model][Cell(crop, way, SHARE, depth)] = of_queries(shares_at(places, right, depth))
    if way not in found.queries:
        items = rows["items"].to_numpy()
        found.queries[way], found.items[way] = names.tolist(), int(items.max())
        pairs = list(zip(right.tolist(), items.tolist(), strict=True))
        for depth in depths:
            hits = {(good, all_items): chance_of_hit([good], all_items, depth) for good, all_items in set(pairs)}
            shares = np.array([chance_of_share(all_items, depth) for _, all_items in pairs])
            found.chance[Cell("", way, HIT, depth)] = float(of_queries(np.array([hits[pair] for pair in pairs])).mean())
            found.chance[Cell("", way, SHARE, depth)] = float(of_queries(shares).mean())
    elif found.queries[way] != names.tolist():
        raise ValueError(f"{model} was asked other queries than the models before it")
