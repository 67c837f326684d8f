"""Run cluster: reduce and cluster the posts' vectors, and write each post's cluster."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from components.core.ledger import kept, ledger_table
from components.core.records import OUTPUT_SCHEMAS
from components.core.shards import read_table
from components.execution.stage import Job, Stage
from components.stages.cluster import SUMMARY, embedding, rounds, vectors
from components.vision.named_encoders import PostEncoder


def run(stage: Stage) -> None:
    """Write each shard's posts with their cluster, its round, and their position on the map."""
    source, media = stage.inputs["input"], stage.inputs["media"]
    params = stage.params
    encoder = PostEncoder.of(stage.project, params.mobilenet_v2, params.encoder, stage.engine.device(params.accelerator))
    given: dict[str, Any] = {"params": {}, "shared": {"media": media.digest, "encoder": list(encoder)}, "publish": False}
    featured = stage.map(vectors.compute_features, source.shards, step="features", resources=encoder.resources, **given)
    verdicts = {ref.name: read_table(ref.ledger).to_pylist() for ref in featured}
    dropped_keys = sorted(row["key"] for rows in verdicts.values() for row in rows if row["verdict"] != "kept")
    job = Job("embedding", {"lost": dropped_keys, "encoder": list(encoder)})
    [space] = stage.jobs(embedding.embed_job, [job], step="embedding", params=params.embedding)
    space_path = str(space.relative_to(stage.state))
    settings = params.model_dump(exclude={"embedding", "mobilenet_v2", "encoder", "accelerator"})
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


def _posts(space: Any, found: Any) -> dict[str, dict[str, Any]]:
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
