"""Projection of features to the clustered space and to the plane of the map.

Source: PCV §4.3.2. Principal components are only counted: the paper takes the number of dimensions from them. UMAP runs with a
seed, on one thread, and over posts in the order of their keys, so equal features give equal bytes.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from components.execution.shard_worker import Task
from components.stages.cluster.vectors import read_vectors
from components.vision.named_encoders import PostEncoder

FACTS = "embedding.json"
LEAST = 5
"""Posts below which nothing is clustered: all are outliers at the map's origin."""
BLOCK = 8192
"""Rows of features per block of the covariance."""
PLANE_DISTANCE = 0.1
"""Least distance on the map, so that points of a cluster are distinguishable; UMAP's default."""


def embed_job(spec: dict[str, Any], task: Task, folder: Path) -> None:
    """Write ``keys.json``, ``embedding.npy`` (posts × dimensions), ``map.npy`` (posts × 2) and :data:`FACTS`.

    Args:
        spec: ``lost``: keys of the input that have no features; ``encoder``: as in :func:`.vectors.compute_features`.
        task: ``params`` is :class:`components.stages.cluster.Embedding`.
    """
    params, dropped = task.params, set(spec["lost"])
    table = task.inputs["input"].table(["key", "image_sha256"])
    columns = zip(table["key"].to_pylist(), table["image_sha256"].to_pylist(), strict=True)
    posts = sorted((key, sha) for key, sha in columns if key not in dropped)
    vectors = read_vectors(posts, task.annotations, PostEncoder(*spec["encoder"]).annotator(task.project))
    components = count_components(vectors, params.variance)
    requested = params.dimensions or max(2, components)
    neighbours, dimensions = limit_to_posts(len(posts), params.neighbours, requested)
    space = project(vectors, dimensions, neighbours, params.min_dist, params.metric, params.seed)
    plane = project(vectors, 2, neighbours, PLANE_DISTANCE, params.metric, params.seed)
    facts = {
        "posts": len(posts), "components": components, "dimensions": dimensions, "dimensions_asked": requested,
        "neighbours": neighbours, "neighbours_asked": params.neighbours,
    }  # fmt: skip
    np.save(folder / "embedding.npy", space)
    np.save(folder / "map.npy", np.nan_to_num(plane))
    (folder / "keys.json").write_text(json.dumps([key for key, _ in posts]))
    (folder / FACTS).write_text(json.dumps(facts))


def limit_to_posts(posts: int, neighbours: int, dimensions: int) -> tuple[int, int]:
    """Return neighbours and dimensions possible for this number of posts; both 0 below :data:`LEAST`.

    A post has at most as many neighbours as other posts, and UMAP's spectral initialisation needs two posts more than dimensions.
    """
    if posts < LEAST:
        return 0, 0
    return min(neighbours, posts - 1), min(dimensions, posts - 2)


def count_components(vectors: NDArray[np.float32], variance: float) -> int:
    """Return the least number of principal components that keeps ``variance`` (0..1); 0 if nothing varies.

    Exact: eigenvalues of the covariance, summed block by block in float64 (a width² matrix, whatever the number of posts).
    """
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
    """Return UMAP to ``dimensions``; a disconnected post is a row of NaN. Without neighbours: zeros."""
    if not neighbours or not np.ptp(vectors, axis=0).any():
        # Too few posts, or equal images: UMAP has nothing to separate.
        return np.zeros((len(vectors), max(2, dimensions)), dtype=np.float32)
    # Imported here: compiles its kernels when loaded.
    import numba
    import umap

    numba.set_num_threads(1)
    reducer = umap.UMAP(
        n_components=dimensions, n_neighbors=neighbours, min_dist=min_dist, metric=metric, random_state=seed, n_jobs=1,
        low_memory=True,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about disconnected posts, which become outliers
        return np.asarray(reducer.fit_transform(vectors), dtype=np.float32)
