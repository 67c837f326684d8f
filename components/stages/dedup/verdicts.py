"""The records that stay: groups and their names, the representative of each set of duplicates, and the ledger rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from components.core.ledger import dropped, format_value, kept, ledger_table
from components.stages.dedup import Params
from components.stages.dedup.edges import Duplicates, Pairs
from components.stages.dedup.groups import Groups
from components.stages.dedup.records import Records

DUPLICATE_PAIR = "duplicate_pair"
"""The same caption about the same image."""
DUPLICATE_POST = "duplicate_post"
"""Image and caption both close to another post's."""
UNREADABLE = "unreadable_image"


@dataclass(frozen=True)
class Outcome:
    """The decision for each record, by index."""

    group: NDArray[np.int64]
    """The record that names the group."""
    winner: NDArray[np.int64]
    """The representative; the record itself if it stays."""
    post: NDArray[np.int64]
    """A label shared by records that duplicate posts connect."""
    unreadable: Mapping[int, str]


def decide(
    records: Records,
    same: Iterable[Pairs],
    duplicates: Duplicates | None,
    params: Params,
    unreadable: Mapping[str, str],
) -> Outcome:
    """Connect groups by same images and duplicate posts, and duplicates by duplicate posts and repeated captions."""
    groups, posts = Groups(len(records)), Groups(len(records))
    for i, j in same:
        groups.add(i, j)
    if duplicates is not None and params.posts is not None:
        for i, j in duplicates.duplicates(params.posts.image_distance, params.posts.caption_distance):
            groups.add(i, j)
            posts.add(i, j)
    post = posts.labels()
    broken = {n: unreadable[sha256] for n, sha256 in enumerate(records.images) if sha256 in unreadable}
    # A record with an unreadable image represents no other.
    rank = np.argsort(np.lexsort((records.rank, np.isin(np.arange(len(records)), list(broken)))))
    group = _first_of(groups.labels(), rank)
    first_with_caption: dict[tuple[int, str], int] = {}
    repeats = [(n, first_with_caption.setdefault((int(group[n]), caption), n)) for n, caption in enumerate(records.captions)]
    edges = np.array([edge for edge in repeats if edge[0] != edge[1]], np.int64).reshape(-1, 2)
    posts.add(edges[:, 0], edges[:, 1])
    return Outcome(group, _first_of(posts.labels(), rank), post, broken)


def _first_of(labels: NDArray[np.int64], rank: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each record the first by rank of those with its label."""
    best = np.full(len(labels), len(labels), np.int64)
    np.minimum.at(best, labels, rank)
    order = np.argsort(rank)
    return order[best[labels]]


def ledgers(
    records: Records, outcome: Outcome, duplicates: Duplicates | None, params: Params
) -> Iterator[tuple[str, pa.Table, pa.Table]]:
    """Yield each shard's name, its remaining records with their groups, and its ledger."""
    values = _distances(outcome, duplicates)
    names = [records.keys[n] for n in outcome.group.tolist()]
    winners = [records.keys[n] for n in outcome.winner.tolist()]
    for shard, start, end in zip(records.shards, records.starts, records.starts[1:], strict=False):
        rows = []
        for n in range(start, end):
            key, group = records.keys[n], f"group {names[n]}"
            if n in outcome.unreadable:
                rows.append(dropped(key, UNREADABLE, outcome.unreadable[n], "an image that can be decoded"))
            elif outcome.winner[n] == n:
                rows.append(kept(key, detail=group))
            elif n in values and params.posts is not None:
                image, caption, matched = values[n]
                limits = (params.posts.image_distance, params.posts.caption_distance)
                seen = [name for name, fits in (("features", image <= limits[0]), (params.signal.kind, matched)) if fits]
                how = f" by {' and '.join(seen)}" if seen and caption <= limits[1] else ", by way of others"
                rows.append(
                    dropped(
                        key, DUPLICATE_POST, _both(image, caption), _both(*limits), detail=f"same as {winners[n]}{how}; {group}"
                    )
                )
            else:
                signal = params.signal
                limit = signal.max_distance if signal.kind == "phash" else signal.score_from
                rows.append(dropped(key, DUPLICATE_PAIR, f"same as {winners[n]}", limit, detail=group))
        remaining = np.array([n for n in range(start, end) if outcome.winner[n] == n and n not in outcome.unreadable], np.int64)
        table = shard.read().take(pa.array(remaining - start))
        grouped = pa.array([names[n] for n in remaining.tolist()], pa.string())
        yield shard.name, table.append_column("group", grouped), ledger_table(rows)


def _both(image: float, caption: float) -> str:
    return f"image {format_value(float(image))}, caption {format_value(float(caption))}"


def _distances(outcome: Outcome, duplicates: Duplicates | None) -> dict[int, tuple[Any, Any, Any]]:
    """Return distances to the representative, and whether the signal matches it, where duplicate posts connect a record to it."""
    dropped_records = np.nonzero(
        (outcome.winner != np.arange(len(outcome.winner))) & (outcome.post == outcome.post[outcome.winner])
    )[0]
    if duplicates is None or not len(dropped_records):
        return {}
    winners = outcome.winner[dropped_records]
    columns = *duplicates.distances(dropped_records, winners), duplicates.matched(dropped_records, winners)
    return dict(zip(dropped_records.tolist(), zip(*(column.tolist() for column in columns), strict=True), strict=True))
