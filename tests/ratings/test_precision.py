"""Judged samples of kept captions: the draw, the verdicts' file, and the precision with its interval."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core.errors import HearsightError
from components.core.stage_output import StageOutput
from components.ratings.precision import Precision, draw_kept, judge, precision_of, read_verdicts, with_verdicts
from tests.support import make_output, row


def made(root: Path, numbers: range, shards: int = 2) -> StageOutput:
    rows = [row("split", key=f"{number:016x}", caption=f"a dog, {number}") for number in numbers]
    return make_output(root, "split", [rows[at::shards] for at in range(shards)])


def test_the_sample_is_the_same_for_every_sharding_and_one_new_record_changes_one_place_at_most(tmp_path: Path) -> None:
    drawn = [each["key"] for each in draw_kept(made(tmp_path / "a", range(100)), 10)]
    assert len(set(drawn)) == 10 and sorted(drawn) != drawn[:10]
    assert [each["key"] for each in draw_kept(made(tmp_path / "b", range(100), 7), 10)] == drawn
    assert len(set(drawn) - {each["key"] for each in draw_kept(made(tmp_path / "c", range(101)), 10)}) <= 1
    assert len(draw_kept(made(tmp_path / "d", range(3)), 10)) == 3


def test_a_verdict_holds_for_the_caption_that_was_judged(tmp_path: Path) -> None:
    rows = [{"key": str(number), "caption": f"a dog, {number}"} for number in range(4)]
    path = tmp_path / "ratings" / "kept" / "english.csv"
    judge(rows, [2, 4], path)
    assert with_verdicts(rows, read_verdicts(path)) == [True, False, True, False]
    changed = [rows[0] | {"caption": "a cat"}, *rows[1:]]
    assert with_verdicts(changed, read_verdicts(path)) == [None, False, True, False]
    judge(changed[:2], [], path)
    assert with_verdicts(changed, read_verdicts(path)) == [True, True, True, False]


def test_numbers_that_are_not_shown_and_files_that_are_no_verdicts_are_refused_and_nothing_is_lost(tmp_path: Path) -> None:
    rows, path = [{"key": "a", "caption": "a dog"}], tmp_path / "english.csv"
    judge(rows, [], path)
    before = path.read_bytes()
    with pytest.raises(HearsightError, match="no caption 2"):
        judge(rows, [2], path)
    assert path.read_bytes() == before
    path.write_text("key,caption_sha256,verdict\na,b,maybe\n")
    with pytest.raises(HearsightError, match=r"english\.csv:2"):
        judge(rows, [1], path)
    path.write_bytes(b"\x89PNG\r\n\x1a\n\0")
    with pytest.raises(HearsightError, match=r"english\.csv"):
        judge(rows, [1], path)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_interval_holds_the_share_and_mirrors_that_of_the_wrong_ones(counts: tuple[int, int]) -> None:
    good, judged = counts
    (low, high), (mirrored_low, mirrored_high) = Precision(good, judged).interval, Precision(judged - good, judged).interval
    assert 0 <= low <= good / judged <= high <= 1
    assert low == pytest.approx(1 - mirrored_high, abs=1e-9) and high == pytest.approx(1 - mirrored_low, abs=1e-9)


def test_the_interval_is_wilsons_and_unjudged_captions_do_not_count() -> None:
    precision = precision_of([True] * 34 + [False] * 6 + [None] * 5)
    assert precision == Precision(34, 40)
    assert precision.interval == pytest.approx((0.7093, 0.9294), abs=1e-4)
    assert precision_of([None]) is None
