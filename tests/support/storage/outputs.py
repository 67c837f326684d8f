"""Outputs of two stages, and their clones on another machine."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from components.core.ledger import kept, ledger_table
from components.core.manifest import NAME
from components.core.stage_output import StageOutput
from components.execution.shard_worker import ShardOut, Task
from tests.support import make_output, make_stage, publish, row

ROWS = [[row("crawl", key=f"{shard}-{n}", media=f"{shard:05d}/{shard}-{n}.jpg") for n in range(3)] for shard in range(2)]
MEDIA = [{f"{shard}-{n}.jpg": f"image {shard} {n}".encode() for n in range(3)} for shard in range(2)]
computed: list[str] = []


def crawl(root: Path) -> StageOutput:
    return make_output(root, "crawl", ROWS, media=MEDIA)


def double(table: Any, task: Task) -> ShardOut:
    computed.append(task.shard)
    return ShardOut(table, ledger_table(kept(key) for key in table["key"].to_pylist()))


def filtered(root: Path, source: StageOutput) -> StageOutput:
    job = make_stage(root, "crawl", "next", inputs={"input": source})
    job.map(double, source.shards, step="double", params={})
    publish(job)
    return StageOutput(job.out)


def clone(output: StageOutput, root: Path) -> StageOutput:
    """The output on another machine, where DVC has put the manifest alone."""
    folder = root / output.path.relative_to(output.path.parents[2])
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(output.path / NAME, folder / NAME)
    return StageOutput(folder)
