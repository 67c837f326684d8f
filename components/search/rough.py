"""Approximate scores of many rows at once, with error bounds: the first pass of the exact search.

:class:`Float32Products` multiplies in float32 with numpy's BLAS. :class:`BFloat16Products` rounds both operands to bfloat16 and
multiplies with oneDNN (in torch), on CPUs with instructions for it (AVX512-BF16, AMX): three to four times as fast there.
Products of bfloat16 numbers are exact in float32 and are summed in float32, so the bound of ``products.slack`` holds for them.
Rounding of the vectors adds at most ‖q − q̂‖ ‖x̂‖ + ‖q‖ ‖x − x̂‖, with known norms of each row's rounding errors, and the result is
rounded to bfloat16.
"""

from __future__ import annotations

import functools
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from components.search.products import norms_above, slack

FEWEST_QUERIES = 32
TORCH_WORTHWHILE = 3e10
"""Multiplications above which loading torch (a second or two) pays off."""


class Float32Products:
    """Approximate products of q × D queries (of norms below 1) with at most ``most_rows`` rows a call, in float32."""

    rounding = 0.0
    """Relative error: a product p is off by at most |p| · ``rounding`` plus the slack."""

    def __init__(self, queries: NDArray[np.float32], most_rows: int) -> None:
        self._queries: Any = queries
        self._scratch: Any = np.empty(len(queries) * most_rows, np.float32)

    def products(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return q × m products with m × D vectors; the next call on this object overwrites the result."""
        products = self._scratch[: len(self._queries) * len(vectors)].reshape(len(self._queries), len(vectors))
        if len(self._queries) == 1:
            np.matmul(vectors, self._queries[0], out=products[0])
        else:
            np.matmul(self._queries, vectors.T, out=products)
        return products

    def slack(
        self, norms: NDArray[np.floating], roundings: NDArray[np.floating], query: NDArray[np.int64] | slice
    ) -> NDArray[np.float64]:
        """Return bounds for rows of these norms and roundings, each with the query at the same index (broadcast)."""
        return slack(self._queries.shape[1], norms, 1.0)


class BFloat16Products(Float32Products):
    """The same in bfloat16."""

    rounding = 1.02 * 2.0**-8

    def __init__(self, queries: NDArray[np.float32], most_rows: int) -> None:
        # Small searches do not load torch.
        import torch

        self._dimension = queries.shape[1]
        self._queries: Any = torch.from_numpy(queries).bfloat16()
        self._roundings = roundings_above(queries).astype(np.float64)
        # A block is copied, since torch warns about read-only arrays such as a mapped index.
        self._scratch: Any = torch.empty((most_rows, self._dimension))

    def products(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        block = self._scratch[: len(vectors)]
        np.copyto(block.numpy(), vectors)
        products: NDArray[np.float32] = (self._queries @ block.bfloat16().T).float().numpy()
        return products

    def slack(
        self, norms: NDArray[np.floating], roundings: NDArray[np.floating], query: NDArray[np.int64] | slice
    ) -> NDArray[np.float64]:
        wide, errors = np.asarray(norms, np.float64), np.asarray(roundings, np.float64)
        # Twice the dimension covers the rounded vectors' norms, at most 1.01 times the exact ones.
        return np.asarray(slack(2 * self._dimension, wide, 1.0) + errors + self._roundings[query] * (wide + errors))


def choose_products(queries: NDArray[np.float32], rows: int, known: bool) -> type[Float32Products]:
    """Return the faster class for these queries and this number of rows.

    Args:
        known: whether the rows' rounding errors are known.
    """
    worthwhile = len(queries) * rows * queries.shape[1] > TORCH_WORTHWHILE or "torch" in sys.modules
    return BFloat16Products if known and worthwhile and len(queries) >= FEWEST_QUERIES and has_half() else Float32Products


@functools.cache
def has_half() -> bool:
    """Return whether this CPU multiplies bfloat16, and torch does so and sums in float32."""
    try:
        cpu_info = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return bool({"avx512_bf16", "amx_bf16"} & set(cpu_info.split())) and sums_in_single()


def sums_in_single() -> bool:
    """Return whether torch sums bfloat16 products in float32, as oneDNN's default accumulation mode promises."""
    # Small searches do not load torch.
    import torch

    if not torch.backends.mkldnn.is_available():
        return False
    # Each partial sum needs more bits than bfloat16 has; if one were rounded, the result would not equal the last number.
    rising = torch.full((64, 2048), 1 + 2.0**-7)
    sums = torch.cat([rising, rising[:, :1], -rising], dim=1).bfloat16() @ torch.ones((64, 4097)).bfloat16().T
    return bool((sums == 1 + 2.0**-7).all())


class OneThread:
    """Context in which numpy's and torch's products use the calling thread only, since the search has its own threads."""

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
    """Return upper bounds of the norms of the bfloat16 rounding errors (to nearest, ties to even) of n × D vectors: n."""
    bits = np.ascontiguousarray(vectors).view(np.uint32)
    rounded = (bits + (np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1)))) & np.uint32(0xFFFF0000)
    return norms_above(vectors - rounded.view(np.float32))


@functools.cache
def _libraries() -> Any:
    return ThreadpoolController()
