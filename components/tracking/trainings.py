"""Trainings in MLflow while they run: one run for each model, from the files that training writes (``training.progress``).

A training's files are in ``.hearsight/runs/<dataset>.<stage>.progress``: ``about.json``, a record of the stage that has begun,
``stage.lock``, which the stage's process locks, and for each model ``<model>-<identity>.jsonl`` and, once it is sent,
``<…>.sent`` with the run's id and what was sent. A killed training appends to its file and so continues its run. The run is
completed when the stage is logged (:mod:`components.tracking.model_runs`).
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.core.addresses import lock_path
from components.core.digests import canonical_json
from components.core.files import publish_bytes
from components.tracking import model_runs
from components.tracking.record import TAG, Record
from components.training.progress import ENDS, is_running, open_locked, parse_events, progress_folder

if TYPE_CHECKING:
    from mlflow import MlflowClient

ABOUT, STAGE_LOCK = "about.json", "stage.lock"
RUNNING = "RUNNING"
FIGURES = {
    "step": ("loss", "learning_rate", "items_per_second", "gradient_norm"),
    "epoch": ("epoch", "loss", "validation", "reward"),
}
"""Event → its figures that are metrics; those of an epoch have the optimiser's step on their axis, too."""
NAMES = {("epoch", "loss"): "epoch_loss"}


_locked: dict[Path, int] = {}
"""Folder → descriptor of its locked ``stage.lock``, of the stages that run in this process."""


def announce(root: Path, record: Record) -> None:
    """Make the folder in which a stage's trainings write their progress, and lock it until :func:`retire` or the process's end.

    The lock keeps the logger waiting while the stage reads its data, before any training has begun.
    """
    folder = progress_folder(root, record.dataset, record.stage)
    folder.mkdir(parents=True, exist_ok=True)
    publish_bytes(folder / ABOUT, canonical_json(asdict(record)).encode())
    retire(root, record.dataset, record.stage)
    if (lock := open_locked(folder / STAGE_LOCK)) is not None:
        _locked[folder] = lock


def retire(root: Path, dataset: str, stage: str) -> None:
    """Unlock the folder: the stage has ended."""
    lock = _locked.pop(progress_folder(root, dataset, stage), None)
    if lock is not None:
        fcntl.flock(lock, fcntl.LOCK_UN)  # worker processes have copies of the descriptor
        os.close(lock)


def withdraw(root: Path, dataset: str, stage: str) -> None:
    """Remove the folder, so that trainings write no progress."""
    shutil.rmtree(progress_folder(root, dataset, stage), ignore_errors=True)


def progress_files(root: Path, dataset: str, stage: str) -> list[str]:
    """Return the names of the stage's progress files."""
    return sorted(path.name for path in progress_folder(root, dataset, stage).glob("*.jsonl"))


def is_any_running(root: Path, tracker: str) -> bool:
    """Return whether a stage that trains, or a training, of this tracker runs."""
    return any(is_running(path) for pattern in (STAGE_LOCK, "*.jsonl") for _, path in _files(root, tracker, pattern))


def waiting(root: Path, tracker: str = "") -> list[Path]:
    """Return the progress files with something that is not in MLflow; with ``tracker`` only those of that tracker."""
    return [path for about, path in _files(root, tracker) if _is_waiting(about, path)]


def send(client: MlflowClient, root: Path, tracker: str = "") -> None:
    """Send the progress that MLflow does not have."""
    for about, path in _files(root, tracker):
        if _is_waiting(about, path):
            _send(client, root, about, path)


def remove(root: Path, record: Record) -> None:
    """Remove the files of a finished stage's trainings, whose runs are complete."""
    folder = progress_folder(root, record.dataset, record.stage)
    if not folder.exists():
        return
    for name in record.trainings:
        path = folder / name
        if path.exists() and not is_running(path):
            path.unlink()
            _sent(path).unlink(missing_ok=True)
    # The stage's writer holds the lock while its trainings need the folder.
    with lock_path(root, record.dataset, record.stage).open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        if not any(folder.glob("*.jsonl")):
            shutil.rmtree(folder, ignore_errors=True)


def _send(client: MlflowClient, root: Path, about: Record, path: Path) -> None:
    running, state = is_running(path), _state(about, path)  # in this order: a training writes its end before it unlocks the file
    data = path.read_bytes()
    if state["run_id"] and not _exists(client, state["run_id"]):
        state = _new_state(about)
    lines = data[state["offset"] : data.rfind(b"\n") + 1]
    events = parse_events(lines)
    if events and not state["run_id"]:
        state["run_id"] = _find_or_create(client, root, about, path.stem, _ms(events[0]["time"]))
    _log_figures(client, state["run_id"], events)
    for event in events:
        state["last"] = event["time"]
        if event["event"] in ENDS:
            _set_status(client, state, event["event"].upper())
            if state["error"] != event.get("error", ""):
                state["error"] = event.get("error", "")
                client.set_tag(state["run_id"], f"{TAG}error", state["error"])
        else:
            _set_status(client, state, RUNNING)
    if state["status"] == RUNNING and not running:
        _set_status(client, state, "KILLED")
    state |= {"offset": state["offset"] + len(lines), "size": len(data)}
    publish_bytes(_sent(path), canonical_json(state).encode(), durable=False)


def _log_figures(client: MlflowClient, run_id: str, events: Sequence[dict[str, Any]]) -> None:
    """Log the events' figures. MLflow keeps one of equal values of a step and time, so a repetition has no effect."""
    from mlflow.entities import Metric  # here: takes seconds

    metrics = [
        Metric(NAMES.get((event["event"], name), name), float(event[name]), _ms(event["time"]), event["step"])
        for event in events
        for name in FIGURES.get(event["event"], ())
        if name in event
    ]
    for start in range(0, len(metrics), 1000):  # MLflow's limit for a request
        client.log_batch(run_id, metrics=metrics[start : start + 1000])


def _set_status(client: MlflowClient, state: dict[str, Any], status: str) -> None:
    if state["status"] == status:
        return
    if status == RUNNING:
        client.update_run(state["run_id"], RUNNING)
    else:
        client.set_terminated(state["run_id"], status, _ms(state["last"]))
    state["status"] = status


def _exists(client: MlflowClient, run_id: str) -> bool:
    """Return whether a run is there and was not deleted by hand; no figure could be logged to it otherwise."""
    from mlflow.exceptions import MlflowException  # here: takes seconds

    try:
        return str(client.get_run(run_id).info.lifecycle_stage) == "active"
    except MlflowException as error:
        if error.error_code != "RESOURCE_DOES_NOT_EXIST":
            raise
        return False


def _find_or_create(client: MlflowClient, root: Path, about: Record, name: str, started: int) -> str:
    """Return the id of the run of a training; one whose id was not stored is found by its tag."""
    identity = f"{about.dataset}/{about.stage}/{name}"
    experiments = [experiment.experiment_id for experiment in client.search_experiments()]
    for run in client.search_runs(experiments, f"tags.`{model_runs.TRAINING}` = '{identity}'"):
        return str(run.info.run_id)
    return model_runs.start(client, root, about, name.rpartition("-")[0], {model_runs.TRAINING: identity}, started)


def _files(root: Path, tracker: str, pattern: str = "*.jsonl") -> Iterator[tuple[Record, Path]]:
    for folder in sorted((root / ".hearsight" / "runs").glob("*.progress")):
        try:
            about = Record.parse((folder / ABOUT).read_text(encoding="utf-8"))
        except FileNotFoundError:  # removed meanwhile
            continue
        if not tracker or about.tracker == tracker:
            for path in sorted(folder.glob(pattern)):
                yield about, path


def _is_waiting(about: Record, path: Path) -> bool:
    try:
        state = _state(about, path)
        return path.stat().st_size != state["size"] or (state["status"] == RUNNING and not is_running(path))
    except FileNotFoundError:  # removed meanwhile
        return False


def _state(about: Record, path: Path) -> dict[str, Any]:
    """Return what of a file was sent to this tracker."""
    try:
        stored: dict[str, Any] = json.loads(_sent(path).read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return _new_state(about)
    return stored if stored["tracker"] == about.tracker else _new_state(about)


def _new_state(about: Record) -> dict[str, Any]:
    return {"tracker": about.tracker, "run_id": "", "status": "", "error": "", "offset": 0, "size": 0, "last": 0.0}


def _sent(path: Path) -> Path:
    return path.with_suffix(".sent")


def _ms(seconds: float) -> int:
    return int(seconds * 1000)
