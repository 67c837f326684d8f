"""Dot products of float32 vectors: their one exact value in float64, and how far a float32 product can be from it.

**The score.** A product of two float32 numbers has at most 48 significant bits, so float64 holds it exactly; only their sum
rounds, and how depends on the order in which a BLAS adds. The score here is the sum without that freedom: *the exact dot product
of the two float32 vectors, rounded once to float64*, what ``math.fsum`` gives. Equal vectors have equal scores wherever they
stand, on any machine, with any number of threads.

**The bound.** Let u = 2⁻²⁴. A float32 dot product of length D, in any order of summation, with or without fused
multiply-add, is off by at most γ Σ|qᵢxᵢ|, γ = Du / (1 − Du) (Higham, *Accuracy and Stability of Numerical Algorithms*,
2nd ed., section 3.1), hence by at most γ ‖q‖ ‖x‖ (Cauchy–Schwarz), as long as nothing underflows. Where it does, or where a
multiplication takes subnormal numbers for zero, each of the D products and D sums loses at most 2⁻¹²⁶, and each qᵢ or xᵢ taken
for zero at most 2⁻¹²⁶ times its partner: in all 2⁻¹²⁶ (‖q‖₁ + ‖x‖₁ + 2D). :func:`slack` is the sum of both, rounded up.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

PRODUCTS_AT_ONCE = 1 << 15
"""float64 products that :func:`exact_products` holds at a time: they and what is made of them stay in a core's cache."""


def norms_above(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Upper bounds of the Euclidean norms of n × D vectors, a few units in the last place above them: n, float32."""
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
    """How far a float32 product of a query with vectors of these ``norms`` can be from the exact one.

    Args:
        dimension: D, at most 2¹⁶.
        norms: upper bounds of the vectors' norms, any shape.
        query_norm: an upper bound of the query's.

    Returns:
        The bound of the module's docstring, of the shape of ``norms``. Where a norm is 0 so is the product, exactly.
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
    """The scores of pairs: for each p the exact product of ``queries[query[p]]`` and ``vectors[row[p]]``, rounded once.

    The sum is cut in two at a power of two σ ≥ 4 ‖q‖ ‖x‖: the multiples of 2⁻⁵³σ in the products add without any error in any
    order, and the rests, each at most 2⁻⁵³σ, add with an error of at most D² 2⁻¹⁰⁶ σ (the extraction of Rump, Ogita and Oishi,
    *Accurate floating-point summation*, 2008). Where the sum of both rounds alike at either end of that error it is the score;
    where it does not, about one pair in a million, ``math.fsum`` decides.

    Args:
        queries: q × D.
        vectors: n × D.
        query, row: the pairs, both of length m.
        query_norms, norms: upper bounds of the norms, of lengths q and n.

    Returns:
        m scores.
    """
    dimension = vectors.shape[1]
    found = np.zeros(len(row), np.float64)
    step = max(1, PRODUCTS_AT_ONCE // dimension)
    for start in range(0, len(row), step):
        part = slice(start, start + step)
        products = vectors[row[part]].astype(np.float64)
        products *= queries[query[part]]
        bound = query_norms[query[part]].astype(np.float64) * norms[row[part]].astype(np.float64)
        some = bound > 0
        sigma = np.where(some, np.exp2(np.ceil(np.log2(bound, where=some, out=np.zeros_like(bound))) + 3), 1.0)
        coarse = products + sigma[:, None]
        coarse -= sigma[:, None]
        rests = np.add.reduce(products - coarse, axis=1)
        sums = np.add.reduce(coarse, axis=1)
        off = 2.0 * dimension**2 * 2.0**-106 * sigma
        low, high = sums + (rests - off), sums + (rests + off)
        found[part] = np.where(some, low, 0.0)
        for place in np.flatnonzero((low != high) & some):
            found[start + place] = math.fsum(products[place].tolist())
    found += 0.0  # a sum of minus zeros is zero
    return found
