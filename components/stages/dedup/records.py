"""The small columns of all records, numbered in the order of the shards, and the order of precedence among duplicates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from components.core.stage_output import ShardRef, StageOutput
from components.web.images.contrast import EXACT

TEXTS = ["key", "caption", "image_sha256"]
ORDERED = ["collected", "posted", "width", "height"]


@dataclass(frozen=True)
class Records:
    """The columns that dedup compares; index n is the n-th record of all shards."""

    shards: list[ShardRef]
    starts: list[int]
    """Index of each shard's first record, and the number of records."""
    keys: list[str]
    captions: list[str]
    images: list[str]
    """sha256 of each record's image."""
    hashes: NDArray[np.uint64]
    """Perceptual hashes, which say nothing where ``exact`` is not -1."""
    exact: NDArray[np.int64]
    """The digest of the pixels of an image without contrast, -1 of any other. Images with different numbers are not the same."""
    rank: NDArray[np.int64]
    """Rank of each record in the order of precedence, 0 first: see :func:`ranks`."""

    @staticmethod
    def read(source: StageOutput) -> Records:
        """Return the records of a CAPTION output."""
        starts, texts = [0], {name: list[str]() for name in TEXTS}
        hashes, ordered = list[str](), []
        for shard in source.shards:
            table = shard.read([*TEXTS, "phash", *ORDERED])
            for name in TEXTS:
                texts[name].extend(table[name].to_pylist())
            hashes.extend(table["phash"].to_pylist())
            ordered.append(table.select(["key", *ORDERED]))
            starts.append(len(texts["key"]))
        rank = ranks(pa.concat_tables(ordered)) if ordered else np.empty(0, np.int64)
        plain = np.array([text.startswith(EXACT) for text in hashes], bool)
        numbers = np.array([int(text.removeprefix(EXACT), 16) for text in hashes], np.uint64)
        # A digest has 60 bits, so it is a positive number.
        exact = np.where(plain, numbers.astype(np.int64), -1)
        return Records(source.shards, starts, texts["key"], texts["caption"], texts["image_sha256"], numbers, exact, rank)

    def __len__(self) -> int:
        return len(self.keys)

    def first_shown(self) -> list[dict[str, str]]:
        """Return for each shard the images that no earlier shard shows: sha256 → media reference."""
        seen: set[str] = set()
        shown = []
        for shard, start in zip(self.shards, self.starts, strict=False):
            media = shard.read(["media"])["media"].to_pylist()
            rows = range(len(media) - 1, -1, -1)
            new = {self.images[start + n]: media[n] for n in rows if self.images[start + n] not in seen}
            seen.update(new)
            shown.append(new)
        return shown


def ranks(table: pa.Table) -> NDArray[np.int64]:
    """Return the rank of each record among duplicates; the record with the smallest becomes the representative.

    First collected, first posted (undated posts last), largest image, smallest key. Records of a later snapshot never precede
    earlier ones, so representatives and group names stay when posts are added.

    Args:
        table: with ``key`` and :data:`ORDERED`.
    """
    area = pc.multiply(table["width"].cast(pa.int64()), table["height"].cast(pa.int64()))
    columns = {
        "uncollected": pc.equal(table["collected"], ""),
        "collected": table["collected"],
        "undated": pc.equal(table["posted"], ""),
        "posted": table["posted"],
        "area": pc.negate(area),
        "key": table["key"],
    }
    order = pc.sort_indices(pa.table(columns), sort_keys=[(name, "ascending") for name in columns]).to_numpy()
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return rank
