"""A stage's output appears whole and checked, or not at all; what failed stays beside it, and no later stage can read it."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from components.core.addresses import draft_path, lineage_path
from components.core.check_warnings import CheckWarning, read_warnings
from components.core.errors import HearsightError
from components.core.stage_output import StageOutput
from components.execution import runner
from tests.support import InlineEngine, make_output, row

CHAIN = {
    "crawl": {"english": {}},
    "split": {"english": {"input": "english/crawl", "ratings": "none"}, "other": {"input": "english/split", "ratings": "none"}},
}
PARAMS = {"engine": {"kind": "local"}, "chain": CHAIN} | {
    dataset: {"split": {"by": "text", "validation": 0.2, "test": 0.2}} for dataset in ("english", "other")
}


@pytest.fixture
def out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a split whose input is there, in a project of its own."""
    monkeypatch.setattr(runner, "make_engine", lambda *_: InlineEngine())
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(PARAMS))
    (tmp_path / "dvc.yaml").write_text(yaml.safe_dump({"stages": {"crawl": {"cmd": "x"}, "split": {"cmd": "x"}}}))
    make_output(tmp_path, "crawl", [[row("crawl", key=f"{n:016x}", alt=f"caption {n}", image_sha256=f"{n}") for n in range(4)]])
    return tmp_path / "data" / "english" / "split"


def refuse(root: Path, dataset: str, stage: str) -> list[CheckWarning]:
    raise HearsightError("fails expect_it", where=draft_path(root / "data" / dataset / stage))


def run(out: Path, check: runner.Check | None = None, dataset: str = "english") -> runner.StageResult:
    return runner.run_stage(out.parents[2], "split", dataset, check=check)


def test_the_check_sees_the_finished_draft_and_then_it_is_the_output(out: Path) -> None:
    def check(root: Path, dataset: str, stage: str) -> list[CheckWarning]:
        assert not out.exists()
        assert StageOutput(draft_path(out)).name == f"{dataset}/{stage}" == "english/split"
        assert StageOutput(draft_path(out)).table().num_rows == 4
        return []

    result = run(out, check)
    assert result.out == out and StageOutput(out).digest == result.manifest.digest and not draft_path(out).exists()


def test_what_fails_its_check_stays_beside_the_output_and_nothing_can_be_read(out: Path, monkeypatch) -> None:
    before = run(out).manifest
    monkeypatch.setattr(runner, "keep_output", lambda *_: pytest.fail("an object was stored"))
    with pytest.raises(HearsightError, match=r"split\.draft: fails expect_it"):
        run(out, refuse)
    assert StageOutput(draft_path(out)).table().num_rows == 4 and not out.exists()
    with pytest.raises(HearsightError, match="there is no finished output here"):
        run(out, dataset="other")
    monkeypatch.undo()
    monkeypatch.setattr(runner, "make_engine", lambda *_: InlineEngine())
    assert run(out).manifest == before and not draft_path(out).exists()


@pytest.mark.parametrize("step", ["_check", "keep_output", "write_lineage", "move_into_place"])
def test_a_run_that_ends_at_any_step_leaves_no_output_and_the_next_one_is_equal(out: Path, monkeypatch, step: str) -> None:
    before = run(out).manifest

    def end(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(runner, step, end)
        with pytest.raises(KeyboardInterrupt):
            run(out)
    assert not out.exists()
    assert run(out).manifest == before


def test_warnings_are_a_file_of_the_output_and_of_the_result(out: Path) -> None:
    warning = CheckWarning("english/split", "shards", "text", "expect_it", "found 3", "it is measured")
    result = run(out, lambda *_: [warning])
    assert list(result.warnings) == read_warnings([StageOutput(out)]) == [warning]
    assert result.lineage["manifest_sha256"] == StageOutput(out).digest


def test_an_output_whose_manifest_was_changed_by_hand_is_refused_by_the_next_stage(out: Path) -> None:
    run(out)
    output = StageOutput(out)
    (out / "more.txt").write_text("more")
    output.manifest.with_warnings(b"[]").write(out)
    with pytest.raises(HearsightError, match=r"is not the output that its lineage names.*dvc repro --force -s split@english"):
        run(out, dataset="other")
    lineage_path(out).write_text("damaged")
    with pytest.raises(HearsightError, match="is not the output that its lineage names"):
        run(out, dataset="other")
