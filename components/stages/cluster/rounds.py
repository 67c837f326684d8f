"""HDBSCAN, and again on its outliers until few are left.

Source: #PraCegoVer section 4.3.3; its published code runs one round with at least 200 posts a cluster, 10 samples and at most
10,000 posts a cluster. Ends when the outliers' share is small enough, a round finds no cluster, or the rounds are used up.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.execution.shard_worker import Task

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FACTS = "rounds.json"
OUTLIER = -1


def rounds_job(spec: dict[str, Any], task: Task, folder: Path) -> None:
    """Write ``labels.npy`` and ``rounds.npy`` (int32, a value a post) and :data:`FACTS`.

    Args:
        spec: ``embedding``: the folder of the embedding, from the folder of the state.
        task: ``params`` holds the settings of the rounds.
    """
    import numpy as np

    space = np.load(task.work.parents[2] / spec["embedding"] / "embedding.npy")
    labels, rounds, told = cluster_rounds(space, task.params)
    np.save(folder / "labels.npy", labels)
    np.save(folder / "rounds.npy", rounds)
    outliers = int((labels == OUTLIER).sum())
    facts = {"clusters": int(labels.max(initial=-1)) + 1, "outliers": outliers, "rounds": told}
    (folder / FACTS).write_text(json.dumps(facts))


def cluster_rounds(
    space: NDArray[np.float32], settings: dict[str, Any]
) -> tuple[NDArray[np.int32], NDArray[np.int32], list[dict[str, int]]]:
    """Each post's cluster and the round that found it, and what each round did.

    Clusters are numbered from 0: those of the first round first, in a round the largest first, of equal ones that with the
    first post. Outliers are -1, round 0. A row that is not finite is an outlier.

    Args:
        space: posts × dimensions.
        settings: ``min_cluster_size``, ``min_samples``, ``max_cluster_size``, ``max_outliers`` and ``max_rounds``.
    """
    import numpy as np

    labels = np.full(len(space), OUTLIER, dtype=np.int32)
    rounds = np.zeros(len(space), dtype=np.int32)
    finite = np.isfinite(space).all(axis=1)
    told: list[dict[str, int]] = []
    clusters = 0
    while len(told) < settings["max_rounds"]:
        rest = np.flatnonzero((labels == OUTLIER) & finite)
        found = _ordered(_hdbscan(space[rest], settings))
        fresh = int(found.max(initial=OUTLIER)) + 1
        labels[rest] = np.where(found == OUTLIER, OUTLIER, found + clusters)
        rounds[rest[found != OUTLIER]] = len(told) + 1
        clusters += fresh
        left = int((labels == OUTLIER).sum())
        told.append({"entered": len(rest), "clusters": fresh, "outliers": left})
        if not fresh or left <= settings["max_outliers"] * len(space):
            break
    return labels, rounds, told


def _hdbscan(points: NDArray[np.float32], settings: dict[str, Any]) -> NDArray[np.int64]:
    import numpy as np

    smallest, samples = settings["min_cluster_size"], settings["min_samples"]
    if len(points) < max(smallest, samples) or len(points) < 2 or not np.ptp(points, axis=0).any():
        return np.full(len(points), OUTLIER)  # too few for a cluster, or all in one place: nothing stands apart
    from sklearn.cluster import HDBSCAN

    largest = settings["max_cluster_size"] or None
    model = HDBSCAN(min_cluster_size=smallest, min_samples=samples, max_cluster_size=largest, n_jobs=1, copy=True)
    return np.asarray(model.fit_predict(points))


def _ordered(found: NDArray[np.int64]) -> NDArray[np.int64]:
    """The same clusters, numbered by size and first post."""
    import numpy as np

    names, first, sizes = np.unique(found[found >= 0], return_index=True, return_counts=True)
    order = np.lexsort((first, -sizes))
    number = {int(names[at]): place for place, at in enumerate(order)}
    return np.array([number.get(int(label), OUTLIER) for label in found], dtype=np.int64)
