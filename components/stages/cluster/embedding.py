"""From features to the space that is clustered, and to the plane of the map.

Source: #PraCegoVer section 4.3.2. Principal components are counted, not projected on: the paper takes from them the number
of dimensions alone. UMAP runs seeded and on one thread, over the posts in the order of their keys, so that equal features
give equal bytes.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.execution.shard_worker import Task

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FACTS = "embedding.json"
LEAST = 5
"""Posts below which there is no shape to find: all are outliers, at the map's origin."""
BLOCK = 8192
"""Rows of the features taken at a time for their covariance."""
PLANE_DISTANCE = 0.1
"""Least distance on the map, so that points of a cluster can be told apart; UMAP's own default."""


def embed_job(spec: dict[str, Any], task: Task, folder: Path) -> None:
    """Write ``keys.json``, ``embedding.npy`` (posts × dimensions), ``map.npy`` (posts × 2) and :data:`FACTS`.

    Args:
        spec: ``lost``: keys of the input that have no features.
        task: ``params`` is :class:`components.stages.cluster.Embedding`.
    """
    import numpy as np

    from components.stages.cluster.vectors import read_vectors

    params, lost = task.params, set(spec["lost"])
    table = task.inputs["input"].table(["key", "image_sha256"])
    columns = zip(table["key"].to_pylist(), table["image_sha256"].to_pylist(), strict=True)
    posts = sorted((key, sha) for key, sha in columns if key not in lost)
    vectors = read_vectors(posts, task.annotations)
    components = count_components(vectors, params.variance)
    wanted = params.dimensions or max(2, components)
    neighbours, dimensions = fitting(len(posts), params.neighbours, wanted)
    space = project(vectors, dimensions, neighbours, params.min_dist, params.metric, params.seed)
    plane = project(vectors, 2, neighbours, PLANE_DISTANCE, params.metric, params.seed)
    facts = {
        "posts": len(posts), "components": components, "dimensions": dimensions, "dimensions_asked": wanted,
        "neighbours": neighbours, "neighbours_asked": params.neighbours,
    }  # fmt: skip
    np.save(folder / "embedding.npy", space)
    np.save(folder / "map.npy", np.nan_to_num(plane))
    (folder / "keys.json").write_text(json.dumps([key for key, _ in posts]))
    (folder / FACTS).write_text(json.dumps(facts))


def fitting(posts: int, neighbours: int, dimensions: int) -> tuple[int, int]:
    """Neighbours and dimensions that so many posts can have: a post has no more neighbours than there are others, and
    the spectral start of UMAP needs two posts more than dimensions. Both 0 below :data:`LEAST`."""
    if posts < LEAST:
        return 0, 0
    return min(neighbours, posts - 1), min(dimensions, posts - 2)


def count_components(vectors: NDArray[np.float32], variance: float) -> int:
    """The least number of principal components that keeps ``variance`` (0..1); 0 when nothing varies.

    Exact: the eigenvalues of the covariance, which is summed block by block in float64 (a width² matrix, whatever the
    number of posts).
    """
    import numpy as np

    if len(vectors) < 2:
        return 0
    mean = vectors.mean(axis=0, dtype=np.float64)
    covariance = np.zeros((vectors.shape[1], vectors.shape[1]))
    for start in range(0, len(vectors), BLOCK):
        block = vectors[start : start + BLOCK] - mean
        covariance += block.T @ block
    values = np.clip(np.linalg.eigvalsh(covariance)[::-1], 0, None)
    if values.sum() <= 0:
        return 0
    return int(np.searchsorted(np.cumsum(values) / values.sum(), variance - 1e-12)) + 1


def project(
    vectors: NDArray[np.float32], dimensions: int, neighbours: int, min_dist: float, metric: str, seed: int
) -> NDArray[np.float32]:
    """UMAP to ``dimensions``; a post that nothing connects to the others is a row of NaN. No neighbours: zeros."""
    import numpy as np

    if not neighbours or not np.ptp(vectors, axis=0).any():
        # Too few posts, or one and the same picture: there is nothing to spread out.
        return np.zeros((len(vectors), max(2, dimensions)), dtype=np.float32)
    import numba
    import umap

    numba.set_num_threads(1)
    reducer = umap.UMAP(
        n_components=dimensions, n_neighbors=neighbours, min_dist=min_dist, metric=metric, random_state=seed, n_jobs=1,
        low_memory=True,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of disconnected posts, which come out as outliers, and of a spectral start in pieces
        return np.asarray(reducer.fit_transform(vectors), dtype=np.float32)
