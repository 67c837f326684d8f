"""The small columns of all records together, numbered in the order of the shards, and who comes first among equals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from components.core.stage_output import ShardRef, StageOutput

COLUMNS = ["key", "caption", "image_sha256", "media", "phash", "width", "height", "posted", "collected"]


@dataclass(frozen=True)
class Records:
    """What dedup knows of the records; record n is the n-th of all shards."""

    shards: list[ShardRef]
    starts: list[int]
    """The number of each shard's first record, and the count of all."""
    keys: list[str]
    captions: list[str]
    pictures: list[str]
    """The sha256 of each record's picture."""
    media: list[str]
    hashes: list[str]
    rank: NDArray[np.int64]
    """Each record's place in the order of precedence, 0 first: see :func:`precedence`."""

    @staticmethod
    def read(source: StageOutput) -> Records:
        """The records of an output of CAPTION."""
        import numpy as np

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
        """For each shard the pictures that no shard before it shows: sha256 → media reference."""
        seen: set[str] = set()
        found = []
        for start, end in zip(self.starts, self.starts[1:], strict=False):
            new = {self.pictures[n]: self.media[n] for n in range(end - 1, start - 1, -1) if self.pictures[n] not in seen}
            seen.update(new)
            found.append(new)
        return found


RANKED = ("collected", "posted", "width", "height", "key")


def precedence(collected: str, posted: str, width: int, height: int, key: str) -> tuple[object, ...]:
    """What a record is ordered by when one must speak for several: the smallest does.

    First collected, first posted (what has no date comes after what has), the largest picture, the smallest key. What a later
    snapshot brings never goes before what is there, so representatives and names stay when posts are added.
    """
    return (not collected, collected, not posted, posted, -width * height, key)
