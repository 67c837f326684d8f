"""The exact search: every row scored roughly (``rough``), what may be among the k best scored again exactly (``products``).

Rows go through in blocks, shared by threads that each multiply on one core: a thread selects from its block while the other
multiplies, so the cores have no common step to wait at. A block's scores are compared with each query's floor, less the error
bound of the rough scores; only what passes is looked at further (``best.Best``). Queries are scaled by powers of two, which
changes no digit of a score, so that no float32 product overflows.
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

from components.search.best import Best
from components.search.products import exact_products
from components.search.rough import OneThread, Rough, choose_products

QUERIES_AT_ONCE = 1024
PAIRS_AT_ONCE = 1 << 21
SCORES_AT_ONCE = 1 << 21
FEWEST_ROWS = 1024
SPARE = 1.5
"""A block whose selected rows lie among at most this many times as many is multiplied whole; else its rows are gathered."""


@dataclass(frozen=True)
class Matrix:
    """What is searched.

    Attributes:
        vectors: n × D.
        norms: n, upper bounds of their norms.
        rows: the rows to look at, sorted; None: all.
        roundings: n, upper bounds of the norms of what bfloat16 takes from them; None: not known, so float32 it is.
    """

    vectors: NDArray[np.float32]
    norms: NDArray[np.float32]
    rows: NDArray[np.int64] | None = None
    roundings: NDArray[np.float32] | None = None

    def __len__(self) -> int:
        return len(self.vectors) if self.rows is None else len(self.rows)

    def block(self, start: int, stop: int) -> tuple[NDArray[np.float32], slice | NDArray[np.int64], NDArray[np.intp] | None]:
        """Selected rows ``start`` to ``stop``: vectors to multiply, the rows' numbers, which vectors these are (None: all)."""
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
    """The k rows of greatest score of each query, ties by the lower row: rows q × k (−1: no more), scores q × k (−∞ there).

    Args:
        matrix: what is searched.
        queries: q × D, finite.
        k: at least 1.
        threads: cores to use; None: all this process may use.
        progress: show a bar.
    """
    rows, scores = np.full((len(queries), k), -1, np.int64), np.full((len(queries), k), -np.inf)
    some = queries.any(axis=1)
    _of_zeros(matrix, np.flatnonzero(~some), rows, scores)
    parts = _parts(np.flatnonzero(some), k)
    seen = _steps(sum(-(-len(matrix) // _step(len(part))) for part in parts), progress)
    way = choose_products(queries, len(matrix), matrix.roundings is not None)
    with OneThread(), contextlib.closing(seen):
        for part in parts:
            rows[part], scores[part] = _scan_part(matrix, queries[part], k, way, threads or usable_cores(), seen)
    return rows, scores


def usable_cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _of_zeros(matrix: Matrix, which: NDArray[np.intp], rows: NDArray[np.int64], scores: NDArray[np.float64]) -> None:
    """What zero vectors find: every score is 0, so the first rows."""
    first = np.arange(min(rows.shape[1], len(matrix))) if matrix.rows is None else matrix.rows[: rows.shape[1]]
    rows[which[:, None], np.arange(len(first))] = first
    scores[which, : len(first)] = 0.0


def _parts(queries: NDArray[np.intp], k: int) -> list[NDArray[np.intp]]:
    """Queries that go through the matrix together: fewer where each keeps many rows."""
    size = max(1, min(QUERIES_AT_ONCE, PAIRS_AT_ONCE // k))
    return [queries[start : start + size] for start in range(0, len(queries), size)]


def _step(queries: int) -> int:
    """Rows of a block: a block's scores are a few MB, or for few queries its vectors a few tens of MB."""
    return max(FEWEST_ROWS, min(SCORES_AT_ONCE // queries, 8 * FEWEST_ROWS))


def _scan_part(
    matrix: Matrix, queries: NDArray[np.float32], k: int, way: type[Rough], workers: int, seen: Iterator[None]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    scaled, exponents = _scaled(queries)
    norms = np.ldexp(1.0, exponents)
    step = _step(len(queries))

    def exact(query: NDArray[np.int64], row: NDArray[np.int64]) -> NDArray[np.float64]:
        found = exact_products(queries, matrix.vectors, query, row, query_norms=norms, norms=matrix.norms)
        return np.ldexp(found, -exponents[query])

    starts = iter(range(0, len(matrix), step))
    lock = threading.Lock()
    floor = np.full(len(queries), -np.inf)

    def work() -> Best:
        best = Best(len(queries), k, exact)
        rough = way(scaled, math.ceil(step * SPARE))
        while True:
            with lock:
                start = next(starts, None)
                if start is None:
                    return best
                # Any thread's k rows are k rows: the greatest floor holds for all.
                np.maximum(floor, best.floor, out=floor)
                best.floor[:] = floor
                next(seen)
            _look_at(matrix, rough, start, min(start + step, len(matrix)), best)

    workers = max(1, min(workers, -(-len(matrix) // step)))
    if workers == 1:
        best = work()
    else:
        with ThreadPoolExecutor(workers) as pool:
            best, *others = [each.result() for each in [pool.submit(work) for _ in range(workers)]]
        for other in others:
            best.take(other)
    rows, scores = best.first()
    return rows, np.ldexp(scores, exponents[:, None]) + 0.0  # a minus zero is zero


def _look_at(matrix: Matrix, rough: Rough, start: int, stop: int, best: Best) -> None:
    """Score one block and give ``best`` what may be among its k."""
    vectors, rows, which = matrix.block(start, stop)
    found = rough.products(vectors)
    if which is not None:
        found = found[:, which]
    norms = matrix.norms[rows]
    roundings = np.zeros(1, np.float32) if matrix.roundings is None else matrix.roundings[rows]
    most = rough.slack(norms.max(), roundings.max(), slice(None))
    if best.k <= stop - start and np.isneginf(best.floor).any():
        kth = np.partition(found, stop - start - best.k, axis=1)[:, stop - start - best.k].astype(np.float64)
        np.maximum(best.floor, kth - np.abs(kth) * rough.rounding - most, out=best.floor)
    bar = best.floor - most
    bar -= np.abs(bar, where=np.isfinite(bar), out=np.zeros_like(bar)) * rough.rounding
    flat = np.flatnonzero(found >= np.nextafter(bar.astype(np.float32), np.float32(-np.inf))[:, None])
    if not len(flat):
        return
    query, place = np.divmod(flat, stop - start)
    score = found.reshape(-1)[flat].astype(np.float64)
    off = rough.slack(norms[place], roundings if len(roundings) == 1 else roundings[place], query)
    off += np.abs(score) * rough.rounding
    high = score + off
    kept = np.flatnonzero(high >= best.floor[query])
    row = place[kept] + start if isinstance(rows, slice) else rows[place[kept]]
    best.add(query[kept], row, (score - off)[kept], high[kept])


def _scaled(queries: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Queries divided by powers of two, of norms below 1, and the exponents of these powers."""
    wide = queries.astype(np.float64)
    exponents = np.frexp(np.sqrt(np.einsum("qd,qd->q", wide, wide)) * (1 + 1e-9))[1].astype(np.int64)
    return np.ldexp(wide, -exponents[:, None]).astype(np.float32), exponents


def _steps(total: int, shown: bool) -> Generator[None]:
    """As many steps as are asked for, on a bar of ``total`` or unseen; closing it ends the bar."""
    if not shown:
        yield from itertools.repeat(None)
    from components.core.progress import progress

    yield from progress(itertools.repeat(None), total, "searching")
