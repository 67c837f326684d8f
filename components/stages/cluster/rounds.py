"""HDBSCAN, repeated on its outliers until few are left.

Source: PCV §4.3.3; its published code runs one round with at least 200 posts a cluster, 10 samples and at most 10,000 posts a
cluster. Stops when the share of outliers is small enough, a round finds no cluster, or the rounds are used up.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from components.execution.shard_worker import Task

FACTS = "rounds.json"
OUTLIER = -1


def rounds_job(spec: dict[str, Any], task: Task, folder: Path) -> None:
    """Write ``labels.npy`` and ``rounds.npy`` (int32, a value a post) and :data:`FACTS`.

    Args:
        spec: ``embedding``: the folder of the embedding, relative to the stage's state.
        task: ``params`` holds the settings of the rounds.
    """
    space = np.load(task.state / spec["embedding"] / "embedding.npy")
    labels, rounds, summaries = cluster_rounds(space, task.params)
    np.save(folder / "labels.npy", labels)
    np.save(folder / "rounds.npy", rounds)
    outliers = int((labels == OUTLIER).sum())
    facts = {"clusters": int(labels.max(initial=-1)) + 1, "outliers": outliers, "rounds": summaries}
    (folder / FACTS).write_text(json.dumps(facts))


def cluster_rounds(
    space: NDArray[np.float32], settings: dict[str, Any]
) -> tuple[NDArray[np.int32], NDArray[np.int32], list[dict[str, int]]]:
    """Return each post's cluster and round, and a summary of each round.

    Clusters are numbered from 0 by round, then by size (largest first), then by first post. Outliers are -1, round 0. A row that
    is not finite is an outlier.

    Args:
        space: posts × dimensions.
        settings: ``min_cluster_size``, ``min_samples``, ``max_cluster_size``, ``max_outliers`` and ``max_rounds``.
    """
    labels = np.full(len(space), OUTLIER, dtype=np.int32)
    rounds = np.zeros(len(space), dtype=np.int32)
    finite = np.isfinite(space).all(axis=1)
    summaries: list[dict[str, int]] = []
    clusters = 0
    while len(summaries) < settings["max_rounds"]:
        remaining = np.flatnonzero((labels == OUTLIER) & finite)
        round_labels = _ordered(_hdbscan(space[remaining], settings))
        new_clusters = int(round_labels.max(initial=OUTLIER)) + 1
        labels[remaining] = np.where(round_labels == OUTLIER, OUTLIER, round_labels + clusters)
        rounds[remaining[round_labels != OUTLIER]] = len(summaries) + 1
        clusters += new_clusters
        outliers = int((labels == OUTLIER).sum())
        summaries.append({"entered": len(remaining), "clusters": new_clusters, "outliers": outliers})
        if not new_clusters or outliers <= settings["max_outliers"] * len(space):
            break
    return labels, rounds, summaries


def _hdbscan(points: NDArray[np.float32], settings: dict[str, Any]) -> NDArray[np.int64]:
    smallest, samples = settings["min_cluster_size"], settings["min_samples"]
    if len(points) < max(smallest, samples) or len(points) < 2 or not np.ptp(points, axis=0).any():
        return np.full(len(points), OUTLIER)  # too few posts, or all at one point
    # Imported here: scikit-learn is slow to load.
    from sklearn.cluster import HDBSCAN

    largest = settings["max_cluster_size"] or None
    model = HDBSCAN(min_cluster_size=smallest, min_samples=samples, max_cluster_size=largest, n_jobs=1, copy=True)
    return np.asarray(model.fit_predict(points))


def _ordered(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the same clusters, numbered by size and first post."""
    names, first, sizes = np.unique(labels[labels >= 0], return_index=True, return_counts=True)
    order = np.lexsort((first, -sizes))
    number = {int(names[original]): index for index, original in enumerate(order)}
    return np.array([number.get(int(label), OUTLIER) for label in labels], dtype=np.int64)
