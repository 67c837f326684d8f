"""Dot products of float32 vectors: their unique exact value in float64, and error bounds of float32 products.

**The score.** A product of two float32 numbers has at most 48 significant bits, so float64 holds it exactly; only the sum rounds,
depending on the order in which a BLAS adds. The score here does not depend on it: *the exact dot product of the two float32
vectors, rounded once to float64*, as ``math.fsum`` computes it. Equal vectors have equal scores at any position, on any machine,
with any number of threads.

**The bound.** Let u = 2⁻²⁴. A float32 dot product of length D, in any order of summation, with or without fused multiply-add, is
off by at most γ Σ|qᵢxᵢ|, γ = Du / (1 − Du) (Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd ed., section 3.1),
hence by at most γ ‖q‖ ‖x‖ (Cauchy–Schwarz), unless something underflows. If so, or if subnormal factors are flushed to zero, each
of the D products and D sums loses at most 2⁻¹²⁶, and each flushed qᵢ or xᵢ at most 2⁻¹²⁶ times its partner: in all 2⁻¹²⁶ (‖q‖₁ +
‖x‖₁ + 2D). :func:`slack` is the sum of both, rounded up.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

PRODUCTS_AT_ONCE = 1 << 15
"""float64 products that :func:`exact_products` holds at a time, so that they stay in a core's cache."""


def norms_above(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return upper bounds of the Euclidean norms of n × D vectors, within a few units in the last place: n, float32."""
    norms = np.empty(len(vectors), np.float32)
    step = max(1, (1 << 20) // vectors.shape[1])
    for start in range(0, len(vectors), step):
        wide = vectors[start : start + step].astype(np.float64)
        exact = np.sqrt(np.einsum("nd,nd->n", wide, wide)) * (1 + 1e-9)
        with np.errstate(over="ignore"):
            above = np.nextafter(exact.astype(np.float32), np.float32(np.inf))
        norms[start : start + step] = np.where(exact == 0, np.float32(0), above)
    return norms


def slack(dimension: int, norms: NDArray[np.floating], query_norm: float) -> NDArray[np.float64]:
    """Return how far a float32 product of a query with vectors of these ``norms`` can be from the exact one.

    Args:
        dimension: D, at most 2¹⁶.
        norms: upper bounds of the vectors' norms, any shape.
        query_norm: an upper bound of the query's.

    Returns:
        The bound of the module's docstring, in the shape of ``norms``; 0 where a norm is 0, since the product is exact.
    """
    wide = np.asarray(norms, np.float64)
    relative = 1.01 * dimension * 2.0**-24
    lost = 2.0**-124 * (math.sqrt(dimension) * (query_norm + wide) + 2 * dimension)
    return np.where(wide > 0, relative * query_norm * wide + lost, 0.0)


def exact_products(
    queries: NDArray[np.float32],
    vectors: NDArray[np.float32],
    query: NDArray[np.int64],
    row: NDArray[np.int64],
    *,
    query_norms: NDArray[np.floating],
    norms: NDArray[np.floating],
) -> NDArray[np.float64]:
    """Return the scores of pairs: for each p the exact product of ``queries[query[p]]`` and ``vectors[row[p]]``, rounded once.

    Each product is split at a power of two σ ≥ 4 ‖q‖ ‖x‖: the multiples of 2⁻⁵³σ add without error in any order, and the rests,
    each at most 2⁻⁵³σ, add with an error of at most D² 2⁻¹⁰⁶ σ (the extraction of Rump, Ogita and Oishi, *Accurate floating-point
    summation*, 2008). If the total rounds to the same value at both ends of that error, it is the score; otherwise, for about one
    pair in a million, ``math.fsum`` decides.

    Args:
        queries: q × D.
        vectors: n × D.
        query, row: the pairs, both of length m.
        query_norms, norms: upper bounds of the norms, of lengths q and n.

    Returns:
        m scores.
    """
    dimension = vectors.shape[1]
    scores = np.zeros(len(row), np.float64)
    step = max(1, PRODUCTS_AT_ONCE // dimension)
    for start in range(0, len(row), step):
        part = slice(start, start + step)
        products = vectors[row[part]].astype(np.float64)
        products *= queries[query[part]]
        bound = query_norms[query[part]].astype(np.float64) * norms[row[part]].astype(np.float64)
        nonzero = bound > 0
        sigma = np.where(nonzero, np.exp2(np.ceil(np.log2(bound, where=nonzero, out=np.zeros_like(bound))) + 3), 1.0)
        coarse = products + sigma[:, None]
        coarse -= sigma[:, None]
        rests = np.add.reduce(products - coarse, axis=1)
        sums = np.add.reduce(coarse, axis=1)
        off = 2.0 * dimension**2 * 2.0**-106 * sigma
        low, high = sums + (rests - off), sums + (rests + off)
        scores[part] = np.where(nonzero, low, 0.0)
        for index in np.flatnonzero((low != high) & nonzero):
            scores[start + index] = math.fsum(products[index].tolist())
    scores += 0.0  # turns -0 into 0
    return scores
