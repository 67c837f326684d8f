"""cluster: group posts with similar pictures; posts that fit no cluster are outliers (-1); every post gets a position on a map.

Features of the whole picture (1280 values) → the number of principal components that keeps ``variance`` → UMAP to that many
dimensions (or ``dimensions``) → HDBSCAN, repeated on its outliers until few are left. Source: PCV §4.3.2 and §4.3.3. The clusters
serve exploration (PCV §5): duplicates are searched among all posts, not within clusters.
Not in scope: duplicates (``dedup``), plots (``posts_report``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from components.core.ledger import kept, ledger_table
from components.core.params import Settings
from components.core.records import OUTPUT_SCHEMAS
from components.execution.stage import Job, Stage

SUMMARY = "clusters.json"
"""Output file with the numbers of posts, components, dimensions and neighbours, and those of each round."""


class Embedding(Settings):
    """Settings of the projection of features to the clustered space."""

    variance: float = 0.95
    """Share (0..1) of the features' variance that the counted principal components keep. PCV §4.3.2: .95."""
    dimensions: int = 0
    """Dimensions of the space; 0 takes the counted components. PCV §4.3.2: those counted, 900."""
    neighbours: int = 80
    """Neighbours of a point in UMAP; with fewer posts, all others. PCV §4.3.2: 80."""
    min_dist: float = 0.0
    """Least distance between points of the space. PCV §4.3.2: 0."""
    metric: str = "correlation"
    """Distance between features, by UMAP's name. PCV §4.3.2: correlation."""
    seed: int = 42
    """Seed of UMAP. PCV's code: 42."""


class Params(Settings):
    """Settings of cluster."""

    embedding: Embedding = Embedding()
    """Settings of the projection."""
    min_cluster_size: int = 200
    """Posts of a cluster, at least. PCV's code: 200."""
    min_samples: int = 10
    """Posts around a core point. PCV's code: 10."""
    max_cluster_size: int = 10_000
    """Posts of a cluster, at most; 0 sets no bound. PCV's code: 10,000."""
    max_outliers: float = 0.11
    """Share (0..1) of outliers at which clustering stops. PCV §4.3.3: "a satisfactory amount"; 60 K of 533 K
    stayed."""
    max_rounds: int = 5
    """Rounds at most. Ours."""


def run(stage: Stage) -> None:
    """Write each shard's posts with their cluster, its round, and their position on the map."""
    from components.core.shards import read_table
    from components.stages.cluster import embedding, rounds, vectors

    validate_settings(stage)
    source, media = stage.inputs["input"], stage.inputs["media"]
    featured = stage.map(
        vectors.compute_features, source.shards, step="features", params={}, shared={"media": media.digest}, publish=False
    )
    verdicts = {ref.name: read_table(ref.ledger).to_pylist() for ref in featured}
    dropped_keys = sorted(row["key"] for rows in verdicts.values() for row in rows if row["verdict"] != "kept")
    [space] = stage.jobs(
        embedding.embed_job, [Job("embedding", {"lost": dropped_keys})], step="embedding", params=stage.params.embedding
    )
    space_path = str(space.relative_to(stage.state))
    settings = stage.params.model_dump(exclude={"embedding"})
    [clustered] = stage.jobs(rounds.rounds_job, [Job("rounds", {"embedding": space_path})], step="rounds", params=settings)

    summary = json.loads((space / embedding.FACTS).read_text()) | json.loads((clustered / rounds.FACTS).read_text())
    posts = _posts(space, clustered)
    for ref in featured:
        _write(stage, ref.name, verdicts[ref.name], posts, _lowered(summary))
    stage.write_file(SUMMARY, (json.dumps(summary, indent=1, sort_keys=True) + "\n").encode())
    for name in ("posts", "components", "dimensions", "neighbours", "clusters", "outliers"):
        stage.metric(name, summary[name])
    for number, round_summary in enumerate(summary["rounds"], start=1):
        stage.metric("outlier_share", round_summary["outliers"] / max(1, summary["posts"]), number)


def validate_settings(stage: Stage) -> None:
    """Raise HearsightError for the first setting that is out of range."""
    from components.core.errors import HearsightError

    params, where = stage.params, f"params.yaml: {stage.dataset}.cluster"
    space = params.embedding
    for name, valid, advice in (
        ("embedding.variance", 0 < space.variance <= 1, "give a share over 0 and up to 1"),
        ("embedding.dimensions", space.dimensions >= 0 and space.dimensions != 1, "give 0, or 2 and more"),
        ("embedding.neighbours", space.neighbours >= 2, "give 2 or more"),
        ("embedding.min_dist", 0 <= space.min_dist <= 1, "give 0 to 1"),
        ("embedding.metric", space.metric in ("correlation", "cosine", "euclidean"), "use correlation, cosine or euclidean"),
        ("min_cluster_size", params.min_cluster_size >= 2, "give 2 or more"),
        ("min_samples", params.min_samples >= 1, "give 1 or more"),
        ("max_cluster_size", not 0 < params.max_cluster_size < params.min_cluster_size, "give 0, or min_cluster_size or more"),
        ("max_cluster_size", params.max_cluster_size >= 0, "give 0 or more"),
        ("max_outliers", 0 <= params.max_outliers <= 1, "give a share from 0 to 1"),
        ("max_rounds", params.max_rounds >= 1, "give 1 or more"),
    ):
        if not valid:
            raise HearsightError("is out of range", where=f"{where}.{name}", hint=advice)


def _posts(space: Any, found: Any) -> dict[str, dict[str, Any]]:
    import numpy as np

    keys = json.loads((space / "keys.json").read_text())
    plane, labels, numbers = np.load(space / "map.npy"), np.load(found / "labels.npy"), np.load(found / "rounds.npy")
    return {
        key: {"key": key, "cluster": int(label), "round": int(number), "x": float(point[0]), "y": float(point[1])}
        for key, label, number, point in zip(keys, labels, numbers, plane, strict=True)
    }


def _lowered(summary: Mapping[str, Any]) -> str:
    """Return in words which settings were lowered because there are few posts; empty if none."""
    changes = []
    if summary["neighbours"] < summary["neighbours_asked"]:
        changes.append(f"{summary['neighbours']} neighbours instead of {summary['neighbours_asked']}")
    if summary["dimensions"] < summary["dimensions_asked"]:
        changes.append(f"{summary['dimensions']} dimensions instead of {summary['dimensions_asked']}")
    return f"; only {summary['posts']} posts, so {', '.join(changes)}" if changes else ""


def _write(stage: Stage, name: str, verdicts: list[dict[str, str]], posts: Mapping[str, dict[str, Any]], lowered: str) -> None:
    import pyarrow as pa

    rows, ledger = [], []
    for verdict in verdicts:
        if verdict["verdict"] != "kept":
            ledger.append(verdict)
            continue
        post = posts[verdict["key"]]
        rows.append(post)
        where = f"cluster {post['cluster']}, round {post['round']}" if post["cluster"] >= 0 else "outlier"
        ledger.append(kept(post["key"], detail=where + lowered))
    stage.write_shard(name, pa.Table.from_pylist(rows, schema=OUTPUT_SCHEMAS["cluster"][1]), ledger_table(ledger))
