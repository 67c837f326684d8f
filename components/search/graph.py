"""The graph (HNSW) of the usearch library: how one is made, and of what vectors. Needs the extra ``ann``.

It holds vectors in bfloat16. Nearest by dot product is no metric when norms differ: vectors are divided by the largest norm M and
given one more number, √(1 − ‖x‖² / M²), which makes all of norm 1, and queries a zero there, so that the greatest dot product is
the least angle (Bachrach et al., *Speeding up the Xbox recommender system*, 2014, section 3).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from components.core.errors import HearsightError


@dataclass(frozen=True)
class GraphSettings:
    """How the graph is made and searched.

    Attributes:
        connectivity: edges a vector has on a layer (M of HNSW); the lowest layer has twice as many.
        build_width: candidates looked at to place a vector (efConstruction).
        search_width: candidates looked at for a query (ef), at least.
        spare: candidates that are scored exactly, as a multiple of k.
        draws: queries drawn from the index to measure recall when none are given.
        recall_at: the k of which recall is measured.
        seed: of these draws.
    """

    connectivity: int = 16
    build_width: int = 128
    search_width: int = 128
    spare: int = 2
    draws: int = 200
    recall_at: tuple[int, ...] = (1, 10, 100)
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("connectivity", "build_width", "search_width", "spare", "draws"):
            if getattr(self, name) < (2 if name == "connectivity" else 1):
                raise HearsightError(
                    f"{name} is {getattr(self, name)}", where="the approximate index", hint="give a larger number"
                )


def graph_library() -> Any:
    """usearch (HearsightError where it is not installed)."""
    try:
        import usearch
        import usearch.index
    except ImportError as error:
        raise HearsightError(
            "approximate search needs usearch, which is not installed",
            where="the approximate index",
            hint="pip install 'hearsight[ann]', or search exactly",
        ) from error
    return usearch


def empty_graph(library: Any, dimension: int, settings: GraphSettings) -> Any:
    """A graph without vectors, for D numbers and the one added."""
    return library.index.Index(
        ndim=dimension + 1,
        metric="ip",
        dtype="bf16",
        connectivity=settings.connectivity,
        expansion_add=settings.build_width,
        expansion_search=settings.search_width,
        enable_key_lookups=False,
    )


def extend_to_unit_norm(vectors: NDArray[np.float32], largest: float) -> NDArray[np.float32]:
    """Vectors divided by the largest norm, with the number that makes each of norm 1: m × (D + 1)."""
    scaled = vectors.astype(np.float64) / largest
    rest = np.sqrt(np.maximum(0.0, 1.0 - np.einsum("nd,nd->n", scaled, scaled)))
    return np.concatenate([scaled, rest[:, None]], axis=1).astype(np.float32)
