"""The HNSW graph of the usearch library and its vectors. Needs the extra ``ann``.

Vectors are stored in bfloat16. The dot product is not a metric when norms differ: vectors are divided by the largest norm M and
extended by √(1 − ‖x‖² / M²), which gives all norm 1, and queries by 0, so that the greatest dot product is the smallest angle
(Bachrach et al., *Speeding up the Xbox recommender system*, 2014, section 3).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from components.core.errors import HearsightError


@dataclass(frozen=True)
class GraphSettings:
    """Settings of building and searching the graph.

    Attributes:
        connectivity: edges of a vector on a layer (M of HNSW); twice as many on the lowest layer.
        build_width: candidates considered when a vector is added (efConstruction).
        search_width: minimum number of candidates considered for a query (ef).
        spare: candidates scored exactly, as a multiple of k.
        draws: queries drawn from the index to measure recall if none are given.
        recall_at: values of k at which recall is measured.
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
                what = f"{name} is {getattr(self, name)}"
                raise HearsightError(what, where="the approximate index", hint="use a larger number")


def graph_library() -> Any:
    """Return the module usearch; raise HearsightError if it is not installed."""
    try:
        # Imported here: usearch is an optional dependency, of the approximate index alone.
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
    """Return a graph without vectors, for D numbers and the added one."""
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
    """Return vectors divided by the largest norm, extended by a number that makes each norm 1: m × (D + 1)."""
    scaled = vectors.astype(np.float64) / largest
    rest = np.sqrt(np.maximum(0.0, 1.0 - np.einsum("nd,nd->n", scaled, scaled)))
    return np.concatenate([scaled, rest[:, None]], axis=1).astype(np.float32)
