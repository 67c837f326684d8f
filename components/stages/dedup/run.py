"""Run dedup: group the duplicates and keep one record of each group."""

from __future__ import annotations

from components.core.errors import HearsightError
from components.execution.stage import Stage
from components.stages.dedup import Params, PerceptualHash
from components.stages.dedup.grid import GRID, as_csv, summarise_clusters, sweep_thresholds
from components.stages.dedup.near import Duplicates, prepare_pictures, same_pictures
from components.stages.dedup.records import Records
from components.stages.dedup.verdicts import decide, ledgers


def run(stage: Stage) -> None:
    """Group records by picture, find duplicate posts, and write each shard's remaining records."""
    params: Params = stage.params
    _check(params)
    records = Records.read(stage.inputs["input"])
    pictures = duplicates = None
    if params.posts is not None or params.signal.kind == "aligned":
        pictures = prepare_pictures(stage, records)
    if params.posts is not None and pictures is not None:
        duplicates = Duplicates(records, pictures, params.posts)
    unreadable = pictures.unreadable if pictures is not None else {}
    outcome = decide(records, same_pictures(stage, records, pictures), duplicates, params, unreadable)
    for name, table, ledger in ledgers(records, outcome, duplicates, params):
        stage.write_shard(name, table, ledger)
    lines = [
        summarise_clusters("as run", "", "", outcome.winner),
        *sweep_thresholds(duplicates, len(records), params.posts.grid if params.posts else []),
    ]
    stage.export(GRID, as_csv(lines))
    stage.metric("groups", len(set(outcome.group.tolist())))
    stage.metric("dropped", lines[0]["dropped"])


def _check(params: Params) -> None:
    posts = params.posts
    distances: list[tuple[str, float]] = []
    if posts is not None:
        distances = [("image_distance", posts.image_distance), ("caption_distance", posts.caption_distance)]
        distances += [("grid", value) for value in posts.grid]
    for name, value in distances:
        if not 0 <= value < 1:
            raise HearsightError(
                f"a distance of {value} is not in [0, 1)", where=f"dedup.posts.{name}", hint="the paper takes .1"
            )
    if isinstance(params.signal, PerceptualHash) and not 0 <= params.signal.max_distance <= 64:
        raise HearsightError("is not from 0 to 64", where="dedup.signal.max_distance", hint="set a number of bits, for example 6")
