"""An input that changes while a stage runs, and any failure of a stage, are seen: no output of mixed inputs, no silent end."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from components.core import graph
from components.core.addresses import draft_path
from components.core.errors import HearsightError
from components.core.shard_cache import ShardCache, machine_id
from components.core.stage_output import StageOutput
from components.execution import runner
from components.stages.split import run as split
from components.tracking import recorder
from tests.support import PROJECT, InlineEngine, make_output, make_stage, row

CHAIN = {"crawl": {"english": {}}, "split": {"english": {"input": "english/crawl", "ratings": "none"}}}
PARAMS = {"engine": {"kind": "local"}, "chain": CHAIN, "english": {"split": {"by": "text", "validation": 0.2, "test": 0.2}}}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a finished crawl, whose split has not run; a file of the user's is a dependency of split."""
    monkeypatch.setattr(runner, "make_engine", lambda *_: InlineEngine())
    monkeypatch.setattr(graph, "CODE_ROOT", tmp_path)
    monkeypatch.setenv("HEARSIGHT_TRACKING", "queue")
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(PARAMS))
    entry = {"cmd": "x", "deps": ["lists/${key}", "components/stages/split", "data/${item.input}"]}
    (tmp_path / "dvc.yaml").write_text(yaml.safe_dump({"stages": {"crawl": entry, "split": {"do": entry}}}))
    (tmp_path / "lists" / "english").mkdir(parents=True)
    (tmp_path / "lists" / "english" / "a.txt").write_text("one")
    shutil.copytree(PROJECT / "components" / "stages" / "split", tmp_path / "components" / "stages" / "split")
    make_output(tmp_path, "crawl", [[row("crawl", key=f"{n:016x}", alt=f"caption {n}", image_sha256=f"{n}") for n in range(4)]])
    return tmp_path


def edit_params(root: Path) -> None:
    changed = {**PARAMS, "english": {"split": {"by": "text", "validation": 0.2, "test": 0.3}}}
    (root / "params.yaml").write_text(yaml.safe_dump(changed))


def edit_code(root: Path, text: str) -> None:
    with (root / "components" / "stages" / "split" / "text.py").open("a") as file:
        file.write(text)


def edit_input(root: Path) -> None:
    make_output(root, "crawl", [[row("crawl", key="0" * 16, alt="another", image_sha256="9")]])


def run_split(root: Path, monkeypatch: pytest.MonkeyPatch, meanwhile: Callable[[Path], None]) -> StageOutput:
    """Run the stage; ``meanwhile`` happens when it has done its work."""
    real = split.run

    def run(stage: object) -> None:
        real(stage)  # type: ignore[arg-type]
        meanwhile(root)

    monkeypatch.setattr(split, "run", run)
    try:
        return StageOutput(runner.run_stage(root, "split", "english", recorder).out)
    finally:
        monkeypatch.setattr(split, "run", real)


@pytest.mark.parametrize(
    ("edit", "named"),
    [
        (edit_params, "params.yaml: english.split"),
        (edit_input, "data/english/crawl/manifest.json"),
        (lambda root: (root / "lists" / "english" / "a.txt").write_text("two"), "lists/english"),
        (lambda root: edit_code(root, "\nNEW = 1\n"), "the code of split"),
    ],
    ids=["settings", "input", "file", "code"],
)
def test_an_input_edited_while_a_stage_runs_leaves_no_output_of_it(root, monkeypatch, edit, named):
    with pytest.raises(HearsightError) as caught:
        run_split(root, monkeypatch, edit)
    assert str(caught.value).startswith(f"{root}: {named} changed while split@english ran")
    assert not (root / "data" / "english" / "split" / "manifest.json").exists()
    again = run_split(root, monkeypatch, lambda _: None)
    assert again.manifest.stage == "split"


def test_an_edited_comment_ends_no_run(root, monkeypatch):
    assert run_split(root, monkeypatch, lambda root: edit_code(root, "\n# a comment\n")).table().num_rows == 4


def fail(_: Path) -> None:
    raise ZeroDivisionError("a defect")


def damage_input(root: Path) -> None:
    (root / "data" / "english" / "crawl" / "manifest.json").write_text("{}")


@pytest.mark.parametrize(
    ("before", "meanwhile", "message"), [(None, fail, "ZeroDivisionError: a defect"), (damage_input, None, "manifest")]
)
def test_every_failure_of_a_stage_is_recorded(root, monkeypatch, before, meanwhile, message):
    if before:
        before(root)
    with pytest.raises((HearsightError, ZeroDivisionError)):
        run_split(root, monkeypatch, meanwhile or (lambda _: None))
    [record] = [json.loads(path.read_text()) for path in (root / ".hearsight" / "runs").glob("*.json")]
    assert message in record["error"] and (record["dataset"], record["stage"]) == ("english", "split")


def test_a_failure_that_cannot_be_recorded_keeps_its_own_message(root, monkeypatch, capsys):
    def no_room(*_: object, **__: object) -> None:
        raise HearsightError("no space is left on the disk")

    monkeypatch.setattr(recorder, "put", no_room)
    with pytest.raises(ZeroDivisionError, match="a defect"):
        run_split(root, monkeypatch, fail)
    assert "is not in MLflow" in capsys.readouterr().err


def test_a_finished_stage_leaves_no_entry_of_a_killed_worker(tmp_path):
    stage = make_stage(tmp_path, "crawl")
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    cache = ShardCache(stage.state / "cache").folder / "crawl.look"
    for pid in (ended.pid, os.getpid()):
        (cache / f"entry.tmp-{machine_id()}-{pid}").mkdir(parents=True)
    stage.finish()
    assert [path.name for path in cache.iterdir()] == [f"entry.tmp-{machine_id()}-{os.getpid()}"]


def test_an_experiment_runs_with_the_main_projects_caches_and_scratch_files_of_its_own(root, monkeypatch):
    experiment, stages = root / ".dvc" / "tmp" / "exps" / "tmp1", []
    shutil.copytree(root, experiment, ignore=shutil.ignore_patterns(".dvc", ".hearsight"))
    monkeypatch.setattr(split, "run", lambda stage, real=split.run: (stages.append(stage), real(stage)))
    runner.run_stage(experiment, "split", "english")
    [stage] = stages
    assert stage.cache.folder == root / ".hearsight" / "cache" and stage.annotations.folder == root / ".hearsight" / "annotations"
    assert stage.work == experiment / ".hearsight" / "work" / "english" / "split"
    assert stage.out == draft_path(experiment / "data" / "english" / "split")
