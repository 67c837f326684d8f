"""The small columns of all records, numbered in the order of the shards, and the order of precedence among duplicates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from components.core.stage_output import ShardRef, StageOutput

COLUMNS = ["key", "caption", "image_sha256", "media", "phash", "width", "height", "posted", "collected"]


@dataclass(frozen=True)
class Records:
    """The columns that dedup compares; index n is the n-th record of all shards."""

    shards: list[ShardRef]
    starts: list[int]
    """Index of each shard's first record, and the number of records."""
    keys: list[str]
    captions: list[str]
    pictures: list[str]
    """sha256 of each record's picture."""
    media: list[str]
    hashes: list[str]
    rank: NDArray[np.int64]
    """Rank of each record in the order of precedence, 0 first: see :func:`precedence`."""

    @staticmethod
    def read(source: StageOutput) -> Records:
        """Return the records of a CAPTION output."""
        starts, rows = [0], {name: list[object]() for name in COLUMNS}
        for shard in source.shards:
            table = shard.read(COLUMNS)
            for name in COLUMNS:
                rows[name].extend(table.column(name).to_pylist())
            starts.append(len(rows["key"]))
        order = sorted(range(starts[-1]), key=lambda n: precedence(**{name: rows[name][n] for name in RANKED}))  # type: ignore[arg-type]
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        texts = {name: [str(value) for value in rows[name]] for name in COLUMNS}
        return Records(source.shards, starts, texts["key"], texts["caption"], texts["image_sha256"], texts["media"],
                       texts["phash"], rank)  # fmt: skip

    def __len__(self) -> int:
        return len(self.keys)

    def first_shown(self) -> list[dict[str, str]]:
        """Return for each shard the pictures that no earlier shard shows: sha256 → media reference."""
        seen: set[str] = set()
        shown = []
        for start, end in zip(self.starts, self.starts[1:], strict=False):
            new = {self.pictures[n]: self.media[n] for n in range(end - 1, start - 1, -1) if self.pictures[n] not in seen}
            seen.update(new)
            shown.append(new)
        return shown


RANKED = ("collected", "posted", "width", "height", "key")


def precedence(collected: str, posted: str, width: int, height: int, key: str) -> tuple[object, ...]:
    """Return the sort key of a record among duplicates; the smallest becomes the representative.

    First collected, first posted (undated posts last), largest picture, smallest key. Records of a later snapshot never precede
    earlier ones, so representatives and group names stay when posts are added.
    """
    return (not collected, collected, not posted, posted, -width * height, key)
