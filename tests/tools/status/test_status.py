"""`hearsight status` and `hearsight logs`: what runs, what failed and why, how long it takes, and the events of runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from components.core.addresses import lock_path
from components.core.errors import HearsightError
from components.execution.process import sole_writer
from components.execution.run_log import FINISHED, ITEM, STARTED, RunLog, logged_run
from components.tools.status.history import event_text, select_events
from components.tools.status.report import project_status, text_of
from tests.support.app.project import new_project
from tests.support.command import hearsight

ERROR = "no answer from \x1b[31mhttp://me:hunter2@a.example"  # pragma: allowlist secret


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return new_project(tmp_path)


def log(root: Path, dataset: str, stage: str) -> RunLog:
    return RunLog(root / ".hearsight", dataset, stage)


def fail(root: Path, dataset: str, stage: str) -> None:
    with pytest.raises(HearsightError), logged_run(root / ".hearsight", dataset, stage):
        raise HearsightError(ERROR)


def status(root: Path) -> dict[str, Any]:
    done = hearsight("status", cwd=root, HEARSIGHT_ROOT=str(root))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.long
def test_a_running_stage_has_its_process_its_time_its_progress_and_its_flow_run(root, monkeypatch):
    monkeypatch.setenv("HEARSIGHT_FLOW_RUN", "flow-7")
    for seconds in (10.0, 30.0, 20.0):
        log(root, "english", "crawl").write(FINISHED, seconds=seconds)
    running = log(root, "english", "crawl")
    with sole_writer(lock_path(root, "english", "crawl"), "english/crawl"):
        running.write(STARTED, pid=os.getpid())
        running.write("step_started", step="look", items=5)
        for shard in ("00000", "00001"):
            running.write(ITEM, step="look", shard=shard)
        (found,) = status(root)["running"]
        text = text_of(project_status(root))
    assert (found["name"], found["pid"], found["alive"]) == ("crawl@english", os.getpid(), True)
    assert (found["progress"], found["flow_run"], found["expected"]) == ("look: 2 of 5", "flow-7", 20.0)
    assert 0 <= found["seconds"] < 300
    assert "look: 2 of 5" in text and "flow run flow-7" in text
    assert status(root)["running"] == []


def test_the_last_failure_has_its_error_and_disappears_when_the_stage_succeeds(root):
    fail(root, "english", "crawl")
    (failure,) = status(root)["failed"]
    assert failure["name"] == "crawl@english"
    assert failure["error"] == "no answer from \\x1b[31mhttp://***@a.example"
    assert "\x1b" not in text_of(project_status(root))
    log(root, "english", "crawl").write(FINISHED, seconds=1.0)
    assert status(root)["failed"] == []


def test_a_killed_run_is_a_failure_that_says_how_far_it_came(root):
    killed = log(root, "english", "crawl")
    killed.write(STARTED, pid=1)
    killed.write("step_started", step="look", items=5)
    killed.write(ITEM, step="look", shard="00000")
    (failure,) = status(root)["failed"]
    assert failure["error"] == "killed, in look after 1 of 5; the next run continues"


def test_the_expected_duration_is_the_median(root):
    for dataset, stage, seconds in (("english", "crawl", 10.0), ("english", "filter", 5.0), ("portuguese", "crawl", 12.0)):
        log(root, dataset, stage).write(FINISHED, seconds=seconds)
    found = project_status(root)
    assert found.in_sequence == 27.0
    assert found.unknown == sum(each.expected is None for each in found.next)


def test_neither_dvc_nor_mlflow_nor_prefect_is_imported(root):
    code = (
        "import sys, pathlib; from components.tools.status.report import project_status;"
        f"project_status(pathlib.Path({str(root)!r}));"
        "print([name for name in ('dvc', 'mlflow', 'prefect', 'torch', 'great_expectations') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_logs_prints_the_events_of_all_outputs_by_time_and_selects(root):
    first, second = log(root, "english", "crawl"), log(root, "portuguese", "crawl")
    for number in range(3):
        first.write(ITEM, shard=f"{number}")
        second.write(ITEM, shard=f"{number}")
    fail(root, "english", "filter")
    lines = [json.loads(line) for line in hearsight("logs", "-n", "0", cwd=root, HEARSIGHT_ROOT=str(root)).stdout.splitlines()]
    assert len(lines) == 7 and [line["time"] for line in lines] == sorted(line["time"] for line in lines)
    (failed,) = select_events(root, failed=True)
    assert failed["stage"] == "filter"
    assert [event["shard"] for event in select_events(root, "portuguese/crawl", last=2)] == ["1", "2"]
    assert {event["run"] for event in select_events(root, run=first.common["run"])} == {first.common["run"]}
    refused = hearsight("logs", "english/crawll", cwd=root, HEARSIGHT_ROOT=str(root))
    assert refused.returncode == 2 and b"english/crawl" in refused.stderr


def test_a_line_for_a_terminal_has_time_output_shard_and_figures(root):
    log(root, "english", "crawl").write(ITEM, step="look", shard="00000", seconds=2.0, records_in=3, cached=False)
    (event,) = select_events(root)
    assert event_text(event)[19:] == "  english/crawl  shard_finished  look 00000  seconds 2, records_in 3, cached no"
