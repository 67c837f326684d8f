"""A training is in MLflow while it runs, and is one run however often it is killed."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from components.core.errors import HearsightError
from components.tracking import trainings
from components.tracking.queue import is_waiting, sole_client, tracker_key
from components.tracking.record import RETRIEVAL, connect
from components.tracking.recorder import flush, record_failure, record_run, record_start
from components.training import reporting
from components.training.progress import ProgressLog, open_progress
from tests.support import until
from tests.support.tracking.project import finish, train_rows, weights
from tests.tracking.training import IDENTITY, MODEL, STAGE, STEPS_OF_EPOCHS, progress_file, start_training, train, work_of


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A project in which the stage has begun, whose records wait for a flush."""
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.setenv("HEARSIGHT_TRACKING", "queue")
    monkeypatch.setattr(reporting, "EVERY", reporting.EVERY)
    record_start(tmp_path, "english", STAGE, {"rows": ["mms-4"]})
    yield tmp_path
    trainings.retire(tmp_path, "english", STAGE)


def training_runs(root: Path) -> list[Any]:
    with sole_client(root):  # the background process may be making the database
        client = connect(root)
    if (experiment := client.get_experiment_by_name(RETRIEVAL)) is None:
        return []
    return list(client.search_runs([experiment.experiment_id], f"tags.`hearsight.stage` = '{STAGE}'"))


def status(root: Path) -> str:
    (run,) = training_runs(root)
    return str(run.info.status)


def steps(root: Path, metric: str) -> list[int]:
    """The steps of a metric's values in the order of their times."""
    (run,) = training_runs(root)
    return [one.step for one in connect(root).get_metric_history(run.info.run_id, metric)]


def events(root: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in progress_file(root).read_text().splitlines()]


@pytest.mark.long
def test_a_killed_training_continues_its_run_without_repeating_a_step(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    running = start_training(root, 2, 1)
    until(lambda: progress_file(root).exists() and any(one.get("step") == 5 for one in events(root)))
    flush(root)
    (run,) = training_runs(root)
    # It is visible while it runs, between two epochs.
    assert run.info.status == "RUNNING" and run.info.run_name == f"english-{MODEL}"
    assert run.data.params == {"set": "english", "model": "mms-4", "seed": "0"}
    assert {"loss", "learning_rate", "items_per_second", "gradient_norm", "epoch_loss", "validation"} <= set(run.data.metrics)
    (root / "kill").touch()
    running.join()
    assert running.exitcode == -signal.SIGKILL
    flush(root)
    assert status(root) == "KILLED" and not is_waiting(root)
    train(root)
    assert f"{MODEL} continues after step 4\n" in capsys.readouterr().err
    flush(root)
    assert [one.info.run_id for one in training_runs(root)] == [run.info.run_id]
    assert status(root) == "FINISHED"
    # The checkpoint is of step 4, so step 5 ran twice.
    assert steps(root, "loss") == steps(root, "gradient_norm") == list(range(1, 9))
    assert steps(root, "validation") == steps(root, "epoch_loss") == STEPS_OF_EPOCHS


@pytest.mark.long
def test_what_is_sent_twice_or_found_finished_changes_nothing(root: Path) -> None:
    train(root)
    flush(root)
    before, content = steps(root, "loss"), progress_file(root).read_bytes()
    progress_file(root).with_suffix(".sent").unlink()  # a logger was killed before it noted what it sent
    flush(root)
    train(root)  # the checkpoint is that of the end
    flush(root)
    assert steps(root, "loss") == before and status(root) == "FINISHED"
    assert progress_file(root).read_bytes() == content


@pytest.mark.long
def test_a_failed_training_runs_again_in_the_same_run(root: Path) -> None:
    with pytest.raises(HearsightError), open_progress(root, work_of(root), MODEL, IDENTITY) as log:
        log.start(step=0)
        log.write("step", step=1, loss=2.0)
        raise HearsightError("the loss is nan")
    flush(root)
    (run,) = training_runs(root)
    assert run.info.status == "FAILED" and "the loss is nan" in run.data.tags["hearsight.error"]
    with open_progress(root, work_of(root), MODEL, IDENTITY) as log:
        log.start(step=0)
        flush(root)
        assert status(root) == "RUNNING"
        log.write("step", step=1, loss=2.0)
        log.write("step", step=2, loss=1.0)
    flush(root)
    assert status(root) == "FINISHED" and steps(root, "loss") == [1, 2]


@pytest.mark.long
def test_an_unreachable_server_loses_and_delays_nothing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:9")
        patch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
        train(root)
        with pytest.raises(Exception, match="127"):
            flush(root)
    assert is_waiting(root)
    flush(root)
    assert steps(root, "validation") == STEPS_OF_EPOCHS and status(root) == "FINISHED"


@pytest.mark.long
def test_the_run_of_a_training_is_completed_by_its_stage(root: Path) -> None:
    train(root)
    files = weights(root / "made", 0)
    models = [one | {"key": MODEL} for one in train_rows(files)]
    result = finish(root, STAGE, {}, models, files=files)
    record_run(result)
    (stage_run,) = flush(root)
    (run,) = training_runs(root)
    assert run.data.tags["hearsight.stage_run"] == stage_run and run.info.status == "FINISHED"
    assert run.data.params["learning_rate"] == "0.001" and run.data.metrics["best_validation"] == models[0]["validation"]
    assert steps(root, "validation") == STEPS_OF_EPOCHS, "its own curve, not that of the output's history"
    assert not any((root / ".hearsight" / "runs").iterdir())
    # The stage again, all of it from the cache: nothing is trained, and nothing logged.
    record_start(root, "english", STAGE, {"rows": ["mms-4"]})
    record_run(result)
    assert flush(root) == [stage_run]
    assert len(training_runs(root)) == 1


def test_tracking_that_is_off_leaves_no_file(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEARSIGHT_TRACKING", "off")
    record_start(root, "english", STAGE, {})
    with open_progress(root, work_of(root), MODEL, IDENTITY) as log:
        log.start(step=0)
    assert not progress_file(root).parent.exists()


@pytest.mark.long
def test_a_line_that_a_kill_left_unfinished_is_cut_off_and_a_damaged_one_ignored(root: Path) -> None:
    with open_progress(root, work_of(root), MODEL, IDENTITY) as log:
        log.write("step", step=3, loss=1.0)
    with progress_file(root).open("a") as file:
        file.write('{"event": "st{"event": "step"}\n')
    with progress_file(root).open("a") as file:
        file.write('{"event": "step", "st')
    with open_progress(root, work_of(root), MODEL, IDENTITY) as log:
        log.write("step", step=2, loss=1.0)
        log.write("step", step=4, loss=1.0)
    flush(root)
    assert steps(root, "loss") == [3, 4] and status(root) == "FINISHED"


def test_a_stage_runs_from_its_start_to_its_end_or_failure_even_before_it_trains(root: Path) -> None:
    assert trainings.is_any_running(root, tracker_key(root)) and not trainings.is_any_running(root, "another tracker")
    record_failure(root, "english", STAGE, {}, "no pairs")
    assert not trainings.is_any_running(root, tracker_key(root))


def test_only_one_process_writes(root: Path) -> None:
    trainings.retire(root, "english", STAGE)
    opened = (root, work_of(root), MODEL, IDENTITY)
    with open_progress(*opened) as log, open_progress(*opened) as second:
        log.write("step", step=1, loss=1.0)
        second.write("step", step=7, loss=1.0)
        assert trainings.is_any_running(root, tracker_key(root))
    assert not trainings.is_any_running(root, tracker_key(root))
    assert [one["event"] for one in events(root)] == ["step", "finished"]


def test_a_training_prints_whole_lines_that_begin_with_its_name(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    train(root)
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith(MODEL)]
    assert sum("best validation" in line and " left" in line for line in lines) == 4
    inside = [line for line in lines if "step 1 of 2" in line]
    assert len(inside) == 4
    assert all(name in inside[0] for name in ("epoch 1 of 4", "items/s", "learning rate", "gradient norm", "loss"))


def test_a_log_without_a_file_writes_nothing(tmp_path: Path) -> None:
    log = ProgressLog("model")
    log.start()
    log.write("step", step=1)
    log.end()
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_the_background_process_logs_a_running_training(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEARSIGHT_TRACKING", "background")
    record_start(root, "english", STAGE, {})
    running = start_training(root, 2, 1)
    until(lambda: (root / "mlflow.db").exists() and [run for run in training_runs(root) if "validation" in run.data.metrics])
    assert status(root) == "RUNNING"
    (root / "kill").touch()
    running.join()
    until(lambda: status(root) == "KILLED")
    for process in psutil.process_iter(["cmdline"]):
        if str(root) in (process.info["cmdline"] or []):
            process.kill()
