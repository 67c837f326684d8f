"""What the tests of search share: an index of given vectors, and the brute-force reference of exact search."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from components.search.index import SearchIndex, build_index

MODEL = "a" * 64


def items(n: int, **columns: list[Any]) -> pa.Table:
    """n items, of pictures and speech by turns."""
    return pa.table(
        {"key": [f"k{row}" for row in range(n)], "kind": ["image", "speech"] * (n // 2) + ["image"] * (n % 2)} | columns
    )


def indexed(folder: Path, vectors: NDArray[np.float32], **columns: list[Any]) -> SearchIndex:
    """An index of ``vectors``, opened."""
    build_index(folder, vectors, items(len(vectors), **columns), MODEL)
    return SearchIndex.open(folder, MODEL)


def brute(
    vectors: NDArray[np.float32], queries: NDArray[np.float32], k: int, rows: list[int] | None = None
) -> tuple[list[list[int]], list[list[float]]]:
    """The definition: every product exact in float64, summed by ``math.fsum``; greatest first, then the lower row."""
    among = range(len(vectors)) if rows is None else rows
    wide = vectors.astype(np.float64)
    result, scores = [], []
    for query in queries.astype(np.float64):
        score = {row: math.fsum((query * wide[row]).tolist()) for row in among}
        order = sorted(among, key=lambda row: (-score[row], row))[:k]
        result.append(order)
        scores.append([score[row] for row in order])
    return result, scores
