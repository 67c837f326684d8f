"""The exact search: approximate scores of every row (``rough``), then exact scores of the candidates (``products``).

Threads share the blocks of rows, each multiplying on one core: while one thread multiplies, another selects from its block, so
the cores never wait for a common step. A block's scores are compared with each query's floor minus the error bound of the
approximate scores; only rows above it are processed further (``best.Best``). Queries are scaled by powers of two, which changes
no bit of a score, so that no float32 product overflows.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import os
import threading
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from components.core.progress import progress as progress_bar
from components.search.best import Best
from components.search.products import exact_products
from components.search.rough import Float32Products, OneThread, choose_products

QUERIES_AT_ONCE = 1024
PAIRS_AT_ONCE = 1 << 21
SCORES_AT_ONCE = 1 << 21
FEWEST_ROWS = 1024
SPARE = 1.5
"""A block whose selected rows span at most this many times as many rows is multiplied whole; otherwise its rows are gathered."""


@dataclass(frozen=True)
class Matrix:
    """The matrix to search.

    Attributes:
        vectors: n × D.
        norms: n, upper bounds of their norms.
        rows: the rows to search, sorted; None: all.
        roundings: n, upper bounds of the norms of their bfloat16 rounding errors; None: unknown, so float32 is used.
    """

    vectors: NDArray[np.float32]
    norms: NDArray[np.float32]
    rows: NDArray[np.int64] | None = None
    roundings: NDArray[np.float32] | None = None

    def __len__(self) -> int:
        return len(self.vectors) if self.rows is None else len(self.rows)

    def block(self, start: int, stop: int) -> tuple[NDArray[np.float32], slice | NDArray[np.int64], NDArray[np.intp] | None]:
        """Return for selected rows ``start`` to ``stop``: vectors to multiply, the rows' numbers, and which vectors these are
        (None: all)."""
        if self.rows is None:
            return self.vectors[start:stop], slice(start, stop), None
        rows = self.rows[start:stop]
        first, last = int(rows[0]), int(rows[-1]) + 1
        if last - first == len(rows):
            return self.vectors[first:last], rows, None
        if last - first <= SPARE * len(rows):
            return self.vectors[first:last], rows, rows - first
        return self.vectors[rows], rows, None


def scan(
    matrix: Matrix, queries: NDArray[np.float32], k: int, *, threads: int | None = None, progress: bool = False
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return each query's k rows of greatest score, ties by the lower row: rows q × k (−1: none) and scores q × k (−∞ there).

    Args:
        queries: q × D, finite.
        k: at least 1.
        threads: number of cores; None: all available to this process.
    """
    rows, scores = np.full((len(queries), k), -1, np.int64), np.full((len(queries), k), -np.inf)
    nonzero = queries.any(axis=1)
    _search_zeros(matrix, np.flatnonzero(~nonzero), rows, scores)
    parts = _batches(np.flatnonzero(nonzero), k)
    steps = _progress_steps(sum(-(-len(matrix) // _block_rows(len(part))) for part in parts), progress)
    products = choose_products(queries, len(matrix), matrix.roundings is not None)
    with OneThread(), contextlib.closing(steps):
        for part in parts:
            rows[part], scores[part] = _scan_part(matrix, queries[part], k, products, threads or usable_cores(), steps)
    return rows, scores


def usable_cores() -> int:
    """Return the number of cores available to this process."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _search_zeros(matrix: Matrix, queries: NDArray[np.intp], rows: NDArray[np.int64], scores: NDArray[np.float64]) -> None:
    """Fill in the results of zero vectors: every score is 0, so the first rows."""
    first = np.arange(min(rows.shape[1], len(matrix))) if matrix.rows is None else matrix.rows[: rows.shape[1]]
    rows[queries[:, None], np.arange(len(first))] = first
    scores[queries, : len(first)] = 0.0


def _batches(queries: NDArray[np.intp], k: int) -> list[NDArray[np.intp]]:
    """Return batches of queries that are searched together: smaller ones if each keeps many rows."""
    size = max(1, min(QUERIES_AT_ONCE, PAIRS_AT_ONCE // k))
    return [queries[start : start + size] for start in range(0, len(queries), size)]


def _block_rows(queries: int) -> int:
    """Return the rows of a block: its scores take a few MB, or for few queries its vectors a few tens of MB."""
    return max(FEWEST_ROWS, min(SCORES_AT_ONCE // queries, 8 * FEWEST_ROWS))


def _scan_part(
    matrix: Matrix, queries: NDArray[np.float32], k: int, products: type[Float32Products], workers: int, steps: Iterator[None]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    scaled, exponents = _scaled(queries)
    norms = np.ldexp(1.0, exponents)
    step = _block_rows(len(queries))

    def exact(query: NDArray[np.int64], row: NDArray[np.int64]) -> NDArray[np.float64]:
        scores = exact_products(queries, matrix.vectors, query, row, query_norms=norms, norms=matrix.norms)
        return np.ldexp(scores, -exponents[query])

    starts = iter(range(0, len(matrix), step))
    lock = threading.Lock()
    floor = np.full(len(queries), -np.inf)

    def work() -> Best:
        best = Best(len(queries), k, exact)
        rough = products(scaled, math.ceil(step * SPARE))
        while True:
            with lock:
                start = next(starts, None)
                if start is None:
                    return best
                # k rows of any thread bound the k-th best score, so the greatest floor holds for all.
                np.maximum(floor, best.floor, out=floor)
                best.floor[:] = floor
                next(steps)
            _search_block(matrix, rough, start, min(start + step, len(matrix)), best)

    workers = max(1, min(workers, -(-len(matrix) // step)))
    if workers == 1:
        best = work()
    else:
        with ThreadPoolExecutor(workers) as pool:
            best, *others = [future.result() for future in [pool.submit(work) for _ in range(workers)]]
        for other in others:
            best.merge(other)
    rows, scores = best.result()
    return rows, np.ldexp(scores, exponents[:, None]) + 0.0  # turns -0 into 0


def _search_block(matrix: Matrix, rough: Float32Products, start: int, stop: int, best: Best) -> None:
    """Score one block and add to ``best`` the rows that may be among its k."""
    vectors, rows, which = matrix.block(start, stop)
    products = rough.products(vectors)
    if which is not None:
        products = products[:, which]
    norms = matrix.norms[rows]
    roundings = np.zeros(1, np.float32) if matrix.roundings is None else matrix.roundings[rows]
    most = rough.slack(norms.max(), roundings.max(), slice(None))
    if best.k <= stop - start and np.isneginf(best.floor).any():
        kth = np.partition(products, stop - start - best.k, axis=1)[:, stop - start - best.k].astype(np.float64)
        np.maximum(best.floor, kth - np.abs(kth) * rough.rounding - most, out=best.floor)
    bar = best.floor - most
    bar -= np.abs(bar, where=np.isfinite(bar), out=np.zeros_like(bar)) * rough.rounding
    flat = np.flatnonzero(products >= np.nextafter(bar.astype(np.float32), np.float32(-np.inf))[:, None])
    if not len(flat):
        return
    query, column = np.divmod(flat, stop - start)
    score = products.reshape(-1)[flat].astype(np.float64)
    error = rough.slack(norms[column], roundings if len(roundings) == 1 else roundings[column], query)
    error += np.abs(score) * rough.rounding
    high = score + error
    kept = np.flatnonzero(high >= best.floor[query])
    row = column[kept] + start if isinstance(rows, slice) else rows[column[kept]]
    best.add(query[kept], row, (score - error)[kept], high[kept])


def _scaled(queries: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Return queries divided by powers of two, with norms below 1, and the exponents."""
    wide = queries.astype(np.float64)
    exponents = np.frexp(np.sqrt(np.einsum("qd,qd->q", wide, wide)) * (1 + 1e-9))[1].astype(np.int64)
    return np.ldexp(wide, -exponents[:, None]).astype(np.float32), exponents


def _progress_steps(total: int, shown: bool) -> Generator[None]:
    """Yield once a step, with a progress bar of ``total`` steps if ``shown``; closing the generator ends the bar."""
    if not shown:
        yield from itertools.repeat(None)
    yield from progress_bar(itertools.repeat(None), total, "searching")
