"""Run dedup: group the duplicates, keep one record of each group, and list the effect of other thresholds (PCV §4.2.2)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from components.core.text_encoding import csv_text
from components.execution.stage import Stage
from components.stages.dedup import Params
from components.stages.dedup.close_pairs import Pairs
from components.stages.dedup.edges import Duplicates, aligned_repeats, prepare_images, same_images, signal_matches
from components.stages.dedup.groups import Groups
from components.stages.dedup.records import Records
from components.stages.dedup.verdicts import decide, ledgers


def run(stage: Stage) -> None:
    """Group records by image, find duplicate posts, and write each shard's remaining records."""
    params: Params = stage.params
    records = Records.read(stage.inputs["input"])
    images = duplicates = None
    repeats: list[Pairs] = []
    if params.posts is not None or params.signal.kind == "aligned":
        images = prepare_images(stage, records)
    if params.signal.kind == "aligned" and images is not None:
        repeats = list(aligned_repeats(stage, images))
    if params.posts is not None and images is not None:
        by_signal = params.posts.same_image == "signal"
        matched = signal_matches(records, images, params.signal, repeats) if by_signal else None
        duplicates = Duplicates(records, images, params.posts, matched)
    unreadable = images.unreadable if images is not None else {}
    outcome = decide(records, same_images(records, images, params.signal, repeats), duplicates, params, unreadable)
    for name, table, ledger in ledgers(records, outcome, duplicates, params):
        stage.write_shard(name, table, ledger)
    lines = [
        summarise_clusters("as run", "", "", outcome.winner),
        *sweep_thresholds(duplicates, len(records), params.posts.grid if params.posts else []),
    ]
    stage.export(GRID, csv_text(list(lines[0]), (list(line.values()) for line in lines)).encode())
    stage.metric("groups", len(set(outcome.group.tolist())))
    stage.metric("dropped", lines[0]["dropped"])


GRID = "duplicates.csv"


def sweep_thresholds(duplicates: Duplicates | None, count: int, thresholds: Sequence[float]) -> list[dict[str, Any]]:
    """Return the clusters of two posts or more for each pair of thresholds; distances are computed once."""
    if duplicates is None or not thresholds:
        return []
    steps = list(product(sorted(thresholds), repeat=2))
    groups = [Groups(count) for _ in steps]
    for i, j in duplicates.within(max(thresholds), max(thresholds)):
        image, caption = duplicates.distances(i, j)
        for (most_image, most_caption), components in zip(steps, groups, strict=True):
            near = (image <= most_image) & (caption <= most_caption)
            components.add(i[near], j[near])
    return [
        summarise_clusters(f"{image:g} / {caption:g}", image, caption, components.labels())
        for (image, caption), components in zip(steps, groups, strict=True)
    ]


def summarise_clusters(name: str, image: float | str, caption: float | str, labels: NDArray[np.int64]) -> dict[str, Any]:
    """Return one line: number of clusters, their posts, the largest, and the posts dropped if each keeps one."""
    sizes = np.unique(labels, return_counts=True)[1]
    sizes = sizes[sizes > 1]
    lost = int(sizes.sum() - len(sizes))
    return {
        "thresholds": name, "image": image, "caption": caption, "clusters": len(sizes), "posts": int(sizes.sum()),
        "largest": int(sizes.max(initial=0)), "dropped": lost, "share": round(lost / max(1, len(labels)), 4),
    }  # fmt: skip
