"""A dataset of posts on loopback that is collected and measured day by day."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from components.core.addresses import lineage_path
from components.core.files import publish_json
from components.core.ledger import dropped, kept, ledger_table
from components.core.records import SPLIT
from components.core.stage_output import StageOutput
from components.stages.crawl import run as crawl_stage
from components.stages.drift import Params
from components.stages.drift.run import run
from tests.stages.drift.support import Measure
from tests.support import make_stage, row
from tests.support.crawl.crawls import posts_params
from tests.support.crawl.social import Social


@pytest.fixture
def social() -> Iterator[Social]:
    """A running server of posts."""
    with Social() as server:
        yield server


def make(root: Path, stage: str, params: Any, inputs: dict[str, StageOutput], work: Callable[[Any], None]) -> StageOutput:
    """Run a stage into an empty folder."""
    job = make_stage(root, stage, "portuguese", params, inputs)
    shutil.rmtree(job.out)
    job.out.mkdir()
    work(job)
    job.finish()
    return StageOutput(job.out)


def split_all(crawl: StageOutput) -> Callable[[Any], None]:
    """Return a split that drops posts whose number ends in 0, shard by shard, as a stage does."""

    def work(job: Any) -> None:
        for shard in crawl.shards:
            rows, ledger = [], []
            for record in shard.read().to_pylist():
                if record["post"].endswith("0"):
                    ledger.append(dropped(record["key"], "duplicate_across_sides", "", ""))
                else:
                    rows.append(row("split", **record, text=record["alt"], caption=record["alt"], split="train"))
                    ledger.append(kept(record["key"]))
            job.write_shard(shard.name, pa.Table.from_pylist(rows, schema=SPLIT), ledger_table(ledger))

    return work


@pytest.fixture
def collect(tmp_path: Path, social: Social) -> Callable[..., dict[str, StageOutput]]:
    """Collects the posts of a day over its base and splits them; returns the inputs of drift."""

    def go(snapshot: str, base: str = "") -> dict[str, StageOutput]:
        params = posts_params(social.proxy, snapshot=snapshot, base=base)
        crawl = make(tmp_path, "crawl", params, {}, crawl_stage.run)
        publish_json(lineage_path(crawl.path), {"params": params.plain()})
        return {"crawl": crawl, "input": make(tmp_path, "split", None, {}, split_all(crawl))}

    return go


@pytest.fixture
def compare(tmp_path: Path) -> Measure:
    """Runs drift on its inputs, with settings."""
    return lambda inputs, **settings: make(tmp_path, "drift", Params(**settings), inputs, run)


@pytest.fixture
def measure_day(collect: Callable[..., dict[str, StageOutput]], compare: Measure) -> Measure:
    """Does both for a day over its base."""
    return lambda snapshot, base="", **settings: compare(collect(snapshot, base), **settings)
