"""cluster: posts with like pictures share a cluster; what fits nowhere is an outlier (-1); every post has a place on a map.

Features of the whole picture (1280 values) → the number of principal components that keeps ``variance`` → UMAP to that many
dimensions (or ``dimensions``) → HDBSCAN, again on its outliers until few are left. Source: #PraCegoVer sections 4.3.2 and
4.3.3. The clusters are for looking at a set (section 5): duplicates are sought among all posts, not within a cluster.
Not in scope: duplicates (``dedup``), drawing (``analyze``).
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
"""What the numbers came to: posts, components, dimensions, neighbours asked for and used, each round."""


class Embedding(Settings):
    """How features become the space that is clustered."""

    variance: float = 0.95
    """Share (0..1) of the features' variance that the counted principal components keep. PCV §4.3.2: .95."""
    dimensions: int = 0
    """Dimensions of the space; 0 takes the number of components just counted. PCV §4.3.2: those counted, 900."""
    neighbours: int = 80
    """Neighbours that UMAP looks at; with fewer posts, all the others. PCV §4.3.2: 80."""
    min_dist: float = 0.0
    """Least distance between points of the space. PCV §4.3.2: 0."""
    metric: str = "correlation"
    """Distance between features, by UMAP's name for it. PCV §4.3.2: correlation."""
    seed: int = 42
    """Seed of UMAP. PCV's code: 42."""


class Params(Settings):
    """Settings of cluster."""

    embedding: Embedding = Embedding()
    """How features become the space that is clustered."""
    min_cluster_size: int = 200
    """Posts a cluster has at least. PCV's code: 200."""
    min_samples: int = 10
    """Posts around a core point. PCV's code: 10."""
    max_cluster_size: int = 10_000
    """Posts a cluster has at most; 0 sets no bound. PCV's code: 10,000."""
    max_outliers: float = 0.11
    """Share (0..1) of outliers with which clustering them again ends. PCV §4.3.3: "a satisfactory amount"; 60 K of 533 K
    stayed."""
    max_rounds: int = 5
    """Rounds at most. Ours."""


def run(stage: Stage) -> None:
    """Write each shard's posts with their cluster, the round that found it, and their place on the map."""
    from components.core.shards import read_table
    from components.stages.cluster import embedding, rounds, vectors

    check(stage)
    source, media = stage.inputs["input"], stage.inputs["media"]
    looked = stage.map(vectors.look, source.shards, step="features", params={}, shared={"media": media.digest}, publish=False)
    verdicts = {ref.name: read_table(ref.ledger).to_pylist() for ref in looked}
    lost = sorted(row["key"] for rows in verdicts.values() for row in rows if row["verdict"] != "kept")
    [space] = stage.jobs(embedding.embed_job, [Job("embedding", {"lost": lost})], step="embedding", params=stage.params.embedding)
    place = str(space.relative_to(stage.state))
    settings = stage.params.model_dump(exclude={"embedding"})
    [found] = stage.jobs(rounds.rounds_job, [Job("rounds", {"embedding": place})], step="rounds", params=settings)

    summary = json.loads((space / embedding.FACTS).read_text()) | json.loads((found / rounds.FACTS).read_text())
    posts = _posts(space, found)
    for ref in looked:
        _write(stage, ref.name, verdicts[ref.name], posts, _lowered(summary))
    stage.write_file(SUMMARY, (json.dumps(summary, indent=1, sort_keys=True) + "\n").encode())
    for name in ("posts", "components", "dimensions", "neighbours", "clusters", "outliers"):
        stage.metric(name, summary[name])
    for number, each in enumerate(summary["rounds"], start=1):
        stage.metric("outlier_share", each["outliers"] / max(1, summary["posts"]), number)


def check(stage: Stage) -> None:
    """Hold the settings to what can be computed; raises HearsightError for the first that cannot."""
    from components.core.errors import HearsightError

    params, where = stage.params, f"params.yaml: {stage.dataset}.cluster"
    space = params.embedding
    for name, good, cure in (
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
        if not good:
            raise HearsightError("cannot be used", where=f"{where}.{name}", hint=cure)


def _posts(space: Any, found: Any) -> dict[str, dict[str, Any]]:
    import numpy as np

    keys = json.loads((space / "keys.json").read_text())
    plane, labels, numbers = np.load(space / "map.npy"), np.load(found / "labels.npy"), np.load(found / "rounds.npy")
    return {
        key: {"key": key, "cluster": int(label), "round": int(number), "x": float(point[0]), "y": float(point[1])}
        for key, label, number, point in zip(keys, labels, numbers, plane, strict=True)
    }


def _lowered(summary: Mapping[str, Any]) -> str:
    """What had to be lowered because there are few posts; empty when nothing was."""
    said = []
    if summary["neighbours"] < summary["neighbours_asked"]:
        said.append(f"{summary['neighbours']} neighbours instead of {summary['neighbours_asked']}")
    if summary["dimensions"] < summary["dimensions_asked"]:
        said.append(f"{summary['dimensions']} dimensions instead of {summary['dimensions_asked']}")
    return f"; only {summary['posts']} posts, so {', '.join(said)}" if said else ""


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
