"""Properties of mapping over shards: cached, conserved, resumed, and the same whatever the engine did."""

from __future__ import annotations

import json
import os
import signal
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest

from components.core.addresses import metrics_path
from components.core.errors import HearsightError
from components.core.ledger import dropped, kept, ledger_table
from components.core.records import OUTPUT_SCHEMAS
from components.core.stage_output import StageOutput
from components.execution.stage import Job, ShardOut, Task
from tests import support
from tests.support import WORKERS, make_output, row

make_stage = partial(support.make_stage, engine=WORKERS)


def keep_long(table: pa.Table, task: Task) -> ShardOut:
    (task.work / "calls").open("a").write("x")
    keys, alts = table["key"].to_pylist(), table["alt"].to_pylist()
    stays = [len(alt) >= task.params["least"] for alt in alts]
    rows = [
        kept(key) if stay else dropped(key, "short", len(alt), task.params["least"])
        for key, alt, stay in zip(keys, alts, stays, strict=True)
    ]
    return ShardOut(table.filter(pa.array(stays)), ledger_table(rows))


def lose_one(table: pa.Table, task: Task) -> ShardOut:
    return ShardOut(table.slice(1), ledger_table(kept(key) for key in table["key"].to_pylist()[1:]))


def die_once(table: pa.Table, task: Task) -> ShardOut:
    marker = task.work / f"died-{task.shard}"
    if not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return keep_long(table, task)


def die_always(table: pa.Table, task: Task) -> ShardOut:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def write_twice(spec: str, task: Task, folder: Path) -> None:
    (folder / "made.txt").write_text(spec * 2)


@pytest.fixture
def candidates(tmp_path: Path) -> StageOutput:
    rows = [row("crawl", key=f"{n:016x}", alt="x" * n) for n in range(9)]
    return make_output(tmp_path, "crawl", [rows[:3], rows[3:6], rows[6:]])


def calls(stage) -> int:
    path = stage.work / "calls"
    return len(path.read_text()) if path.exists() else 0


def test_a_second_map_with_the_same_parameters_computes_nothing(tmp_path, candidates):
    for _ in range(2):
        stage = make_stage(tmp_path, "crawl", "again", inputs={"input": candidates})
        stage.map(keep_long, candidates.shards, step="keep", params={"least": 4})
        stage.finish()
    assert calls(stage) == 3
    assert stage.cache_summary() == {"keep": "3 of 3"}


def test_a_stage_that_drops_records_has_the_number_it_keeps_as_a_metric_of_dvc(tmp_path, candidates):
    stage = make_stage(tmp_path, "filter", "english", inputs={"input": candidates})
    keys = [f"{n:016x}" for n in range(3)]
    kept_rows = pa.Table.from_pylist([row("filter", key=keys[0]), row("filter", key=keys[1])], schema=OUTPUT_SCHEMAS["filter"][1])
    stage.write_shard("00000", kept_rows, ledger_table([kept(keys[0]), kept(keys[1]), dropped(keys[2], "short", 1, 2)]))
    stage.main_figures.add("more", "of_it", value=1 / 3)
    stage.finish()
    metrics = json.loads(metrics_path(tmp_path, "english", "filter").read_text())
    assert metrics == {"english": {"filter": 2, "more": {"of_it": 0.333333}}}


def test_another_parameter_or_shared_value_computes_again(tmp_path, candidates):
    stage = make_stage(tmp_path, "crawl", "again", inputs={"input": candidates})
    stage.map(keep_long, candidates.shards, step="keep", params={"least": 4})
    stage.map(keep_long, candidates.shards, step="keep", params={"least": 5})
    stage.map(keep_long, candidates.shards, step="keep", params={"least": 5}, shared={"a": 1})
    assert calls(stage) == 9


def test_other_code_of_the_stage_computes_again_unless_the_step_has_a_version(tmp_path):
    def made_with(code: str, version: int | None) -> str:
        stage = support.make_stage(tmp_path, "split")
        stage.code = code
        stage.jobs(write_twice, [Job("a", "hey")], step="twice", params={}, version=version)
        return stage.cache_summary()["twice"]

    assert [made_with("one", None), made_with("one", None), made_with("two", None)] == ["0 of 1", "1 of 1", "0 of 1"]
    assert [made_with("one", 1), made_with("two", 1), made_with("two", 2)] == ["0 of 1", "1 of 1", "0 of 1"]


def test_every_record_leaves_in_exactly_one_state(tmp_path, candidates):
    stage = make_stage(tmp_path, "crawl", "again", inputs={"input": candidates})
    stage.map(keep_long, candidates.shards, step="keep", params={"least": 4})
    stage.finish()
    after = StageOutput(stage.out)
    assert sorted(after.ledger()["key"].to_pylist()) == sorted(candidates.table(["key"])["key"].to_pylist())
    assert after.manifest.counts == {"record": {"kept": 5, "dropped": {"short": 4}}}


def test_a_step_that_loses_a_record_is_refused(tmp_path, candidates):
    stage = make_stage(tmp_path, "crawl", "again", inputs={"input": candidates})
    with pytest.raises(HearsightError, match="lost"):
        stage.map(lose_one, candidates.shards, step="lose", params={})


def test_rows_dropped_by_an_intermediate_map_stay_in_the_ledger(tmp_path, candidates):
    stage = make_stage(tmp_path, "crawl", "again", inputs={"input": candidates})
    middle = stage.map(keep_long, candidates.shards, step="first", params={"least": 2}, publish=False)
    stage.map(keep_long, middle, step="second", params={"least": 6})
    stage.finish()
    assert StageOutput(stage.out).ledger().num_rows == 9
    assert StageOutput(stage.out).table().num_rows == 3


def test_a_worker_killed_once_costs_one_retry_only(tmp_path, candidates):
    whole = make_stage(tmp_path, "crawl", "whole", inputs={"input": candidates})
    whole.map(keep_long, candidates.shards, step="keep", params={"least": 4})
    hurt = make_stage(tmp_path, "crawl", "hurt", inputs={"input": candidates})
    hurt.map(die_once, candidates.shards, step="keep-hurt", params={"least": 4})
    assert hurt.finish().digest == whole.finish().digest


def test_work_that_always_kills_its_worker_gives_an_error(tmp_path, candidates):
    stage = make_stage(tmp_path, "crawl", "again", inputs={"input": candidates})
    with pytest.raises(HearsightError, match="died 3 times"):
        stage.map(die_always, candidates.shards, step="die", params={})


def test_a_shard_changed_by_hand_is_refused_with_its_name(tmp_path, candidates):
    path = candidates.shards[1].path
    path.write_bytes(path.read_bytes() + b"x")
    stage = make_stage(tmp_path, "crawl", "again", inputs={"input": candidates})
    with pytest.raises(HearsightError, match=r"00001\.parquet.*not the file the manifest lists.*dvc repro"):
        stage.map(keep_long, candidates.shards, step="keep", params={"least": 4})


def test_a_damaged_cache_entry_is_computed_again(tmp_path, candidates):
    stage = make_stage(tmp_path, "crawl", "again", inputs={"input": candidates})
    refs = stage.map(keep_long, candidates.shards, step="keep", params={"least": 4}, publish=False)
    before = refs[0].path.read_bytes()
    refs[0].path.write_bytes(b"torn")
    again = stage.map(keep_long, candidates.shards, step="keep", params={"least": 4}, publish=False)
    assert calls(stage) == 4
    assert again[0].path.read_bytes() == before


def test_a_finished_job_is_not_repeated_and_its_folder_is_returned(tmp_path, candidates):
    stage = make_stage(tmp_path, "crawl", "again", inputs={"input": candidates})
    for _ in range(2):
        folders = stage.jobs(write_twice, [Job("a", "ab"), Job("c", "cd")], step="twice", params={})
    assert [(folder / "made.txt").read_text() for folder in folders] == ["abab", "cdcd"]
    assert stage.cache_summary() == {"twice": "2 of 4"}
