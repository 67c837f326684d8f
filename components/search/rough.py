"""Scores that are nearly right, of many rows at once, and how far from right they can be: what the exact search sifts by.

Two ways. :class:`Single` multiplies in float32, by numpy's BLAS. :class:`Half` rounds both sides to bfloat16 and lets oneDNN (in
torch) multiply, on processors that have instructions for it (AVX512-BF16, AMX): three to four times as fast there as float32.
Products of bfloat16 numbers are exact in float32 and are summed in float32, so that the bound of ``products.slack`` holds for
them; to it comes what rounding took from the vectors, at most ‖q − q̂‖ ‖x̂‖ + ‖q‖ ‖x − x̂‖, with the roundings' norms known for
every row, and the rounding of the result to bfloat16.
"""

from __future__ import annotations

import functools
import sys
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from components.search.products import norms_above, slack

FEWEST_QUERIES = 32
DEAR = 3e10
"""Multiplications from which loading torch, a second or two, is worth it."""


class Rough(Protocol):
    """Products of given queries (of norms below 1) with rows.

    Attributes:
        rounding: a product p stands for a sum of at most |p| · ``rounding`` and the slack away from it.
    """

    rounding: float

    def __init__(self, queries: NDArray[np.float32], most_rows: int) -> None:
        """For q × D queries and at most so many rows a call."""

    def products(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """m × D to q × m; the result is overwritten by the next call of the same thread's object."""

    def slack(
        self, norms: NDArray[np.floating], roundings: NDArray[np.floating], query: NDArray[np.int64] | slice
    ) -> NDArray[np.float64]:
        """Bounds for rows of these norms and roundings, each with the query of the same place (broadcast)."""


class Single:
    """By float32 products."""

    rounding = 0.0

    def __init__(self, queries: NDArray[np.float32], most_rows: int) -> None:
        self._queries = queries
        self._scratch = np.empty(len(queries) * most_rows, np.float32)

    def products(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """See :class:`Rough`."""
        found = self._scratch[: len(self._queries) * len(vectors)].reshape(len(self._queries), len(vectors))
        if len(self._queries) == 1:
            np.matmul(vectors, self._queries[0], out=found[0])
        else:
            np.matmul(self._queries, vectors.T, out=found)
        return found

    def slack(
        self, norms: NDArray[np.floating], roundings: NDArray[np.floating], query: NDArray[np.int64] | slice
    ) -> NDArray[np.float64]:
        """See :class:`Rough`."""
        return slack(self._queries.shape[1], norms, 1.0)


class Half:
    """By bfloat16 products."""

    rounding = 1.02 * 2.0**-8

    def __init__(self, queries: NDArray[np.float32], most_rows: int) -> None:
        import torch

        self._torch = torch
        self._dimension = queries.shape[1]
        self._queries = torch.from_numpy(queries).bfloat16()
        self._roundings = roundings_above(queries).astype(np.float64)
        # torch warns of arrays that cannot be written, as a mapped index's: a block is copied.
        self._scratch = torch.empty((most_rows, self._dimension))

    def products(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """See :class:`Rough`."""
        block = self._scratch[: len(vectors)]
        np.copyto(block.numpy(), vectors)
        found: NDArray[np.float32] = (self._queries @ block.bfloat16().T).float().numpy()
        return found

    def slack(
        self, norms: NDArray[np.floating], roundings: NDArray[np.floating], query: NDArray[np.int64] | slice
    ) -> NDArray[np.float64]:
        """See :class:`Rough`."""
        wide, taken = np.asarray(norms, np.float64), np.asarray(roundings, np.float64)
        # Twice the dimension: room for the rounded vectors' norms, at most 1.01 times the others'.
        found = slack(2 * self._dimension, wide, 1.0) + taken + self._roundings[query] * (wide + taken)
        return np.asarray(found)


def choose_products(queries: NDArray[np.float32], rows: int, known: bool) -> type[Single] | type[Half]:
    """The faster way for these queries and so many rows.

    Args:
        queries: q × D.
        rows: of the index that are looked at.
        known: whether the roundings of the rows are.
    """
    dear = len(queries) * rows * queries.shape[1] > DEAR or "torch" in sys.modules
    return Half if known and dear and len(queries) >= FEWEST_QUERIES and has_half() else Single


@functools.cache
def has_half() -> bool:
    """Whether this processor multiplies bfloat16, and torch lets it and sums in float32."""
    try:
        told = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return bool({"avx512_bf16", "amx_bf16"} & set(told.split())) and sums_in_single()


def sums_in_single() -> bool:
    """Whether torch sums products of bfloat16 numbers in float32, as oneDNN's default accumulation mode promises."""
    import torch

    if not torch.backends.mkldnn.is_available():
        return False
    # Each partial sum needs more digits than bfloat16 has; were one rounded to it, the end would not be the last number.
    up = torch.full((64, 2048), 1 + 2.0**-7)
    found = torch.cat([up, up[:, :1], -up], dim=1).bfloat16() @ torch.ones((64, 4097)).bfloat16().T
    return bool((found == 1 + 2.0**-7).all())


class OneThread:
    """While it lasts numpy's and torch's products run on the thread that asks: the search's own threads share the rows."""

    def __enter__(self) -> None:
        self._torch = sys.modules.get("torch")
        self._before = self._torch.get_num_threads() if self._torch else 0
        if self._torch:
            self._torch.set_num_threads(1)
        self._blas = _libraries().limit(limits=1, user_api="blas")

    def __exit__(self, *_: object) -> None:
        self._blas.restore_original_limits()
        if self._torch:
            self._torch.set_num_threads(self._before)


def roundings_above(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Upper bounds of the norms of what rounding to bfloat16 (to nearest, ties to even) takes from n × D vectors: n."""
    bits = np.ascontiguousarray(vectors).view(np.uint32)
    rounded = (bits + (np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1)))) & np.uint32(0xFFFF0000)
    return norms_above(vectors - rounded.view(np.float32))


@functools.cache
def _libraries() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
