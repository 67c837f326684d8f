"""A split is a function of the group and the seed alone."""

from __future__ import annotations

from components.core.stage_output import StageOutput
from components.stages.split import ByGroup
from components.stages.split.run import draw_split, run
from tests.support import make_output, make_stage, row

SETTINGS = ByGroup(validation=0.2, test=0.3)


def split(tmp_path, shards, params=SETTINGS):
    source = make_output(tmp_path, "dedup", shards)
    stage = make_stage(tmp_path, "split", params=params, inputs={"input": source})
    run(stage)
    stage.finish()
    return {r["key"]: r["split"] for r in StageOutput(stage.out).table().to_pylist()}


def records(groups):
    return [row("dedup", key=f"{n:04d}", group=group) for n, group in enumerate(groups)]


def test_shares_are_close_to_the_requested_ones():
    names = [draw_split(f"g{n}", 7, 0.2, 0.3) for n in range(4000)]
    assert abs(names.count("test") / 4000 - 0.3) < 0.03
    assert abs(names.count("validation") / 4000 - 0.2) < 0.03


def test_near_duplicates_are_in_one_split(tmp_path):
    groups = [f"g{n % 7}" for n in range(60)]
    splits = split(tmp_path, [records(groups)])
    assert all(len({splits[f"{n:04d}"] for n in range(60) if groups[n] == g}) == 1 for g in set(groups))


def test_new_records_change_no_split_of_existing_ones(tmp_path):
    before = split(tmp_path / "a", [records([f"g{n}" for n in range(40)])])
    after = split(tmp_path / "b", [records([f"g{n}" for n in range(60)])])
    assert {key: after[key] for key in before} == before
