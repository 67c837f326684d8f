"""The file of a training's progress, which the tracker reads while the training runs.

One JSON object a line: ``start``, ``step``, ``epoch``, ``finished`` or ``failed``, each with its time. The tracker makes the
folder before a stage runs (:mod:`components.tracking.trainings`); without it nothing is written. Nothing waits for the tracker.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from components.core.addresses import STATE, parse_output_path

ENDS = ("finished", "failed")
"""The events after which a training does not run, unless it starts again."""


def progress_folder(project: Path, dataset: str, stage: str) -> Path:
    """Return the folder of the progress files of a stage's trainings."""
    return project / STATE / "runs" / f"{dataset.replace('/', '.')}.{stage}.progress"


class ProgressLog:
    """Appends the progress of one model's training to its file.

    A resumed training repeats the steps since its checkpoint. Steps and epochs that the file has are not written again, so both
    only grow.

    Args:
        model: the model's name, for the terminal.
        file: opened for reading and appending; None writes nothing.
        work: the stage's scratch folder; None outside of a stage.
    """

    def __init__(self, model: str, file: int | None = None, work: Path | None = None) -> None:
        self.model, self._file, self.work, self._started = model, file, work, False
        events = self._repair()
        self._last = {name: max((one[name] for one in events if one["event"] == name), default=-1) for name in ("step", "epoch")}

    def start(self, **about: Any) -> None:
        """Write that the training begins or continues in this process; a second call has no effect."""
        if not self._started:
            self._started = True
            self._write("start", about)

    def write(self, event: str, **figures: Any) -> None:
        """Write the figures of a ``step`` or an ``epoch``, with its number and time, unless the file has it."""
        if figures[event] > self._last[event]:
            self._last[event] = figures[event]
            self._write(event, figures)

    def end(self, error: str = "") -> None:
        """Write how the training ended, if it had begun; it may have run in a process that was forked from this one."""
        events = self._repair()
        if events and events[-1]["event"] not in ENDS:
            self._write(*(("failed", {"error": error}) if error else ("finished", {})))

    def _write(self, event: str, figures: dict[str, Any]) -> None:
        if self._file is not None:
            # A full disk must not end the training here: its next checkpoint says so.
            with suppress(OSError):
                os.write(self._file, (json.dumps({"event": event, "time": time.time(), **figures}) + "\n").encode())

    def _repair(self) -> list[dict[str, Any]]:
        """Cut off a line that a kill left unfinished; return the events."""
        if self._file is None:
            return []
        data = os.pread(self._file, os.fstat(self._file).st_size, 0)
        whole = data[: data.rfind(b"\n") + 1]
        os.ftruncate(self._file, len(whole))
        return parse_events(whole)


@contextmanager
def open_progress(project: Path, work: Path, model: str, identity: str, *, writes: bool = True) -> Iterator[ProgressLog]:
    """Open the progress of a training and write its end; a killed training writes none.

    The file is locked until the training's last process ends, by which the tracker knows that it runs.

    Args:
        work: the stage's scratch folder, named by dataset and stage.
        identity: digest of what the training depends on; with another one it has another file, and another run in MLflow.
        writes: whether this process writes; of several machines' processes one does.
    """
    file = open_locked(progress_folder(project, *parse_output_path(work)) / f"{model}-{identity[:12]}.jsonl") if writes else None
    log = ProgressLog(model, file, work)
    try:
        yield log
        log.end()
    except Exception as error:
        log.end(f"{type(error).__name__}: {error}"[:4000])
        raise
    finally:
        if file is not None:
            os.close(file)


def open_locked(path: Path) -> int | None:
    """Open a file for appending and lock it; None when its folder is missing or another process holds the lock."""
    try:
        file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
    except OSError:
        return None
    for _ in range(20):  # is_running holds the lock for a moment
        with suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return file
        time.sleep(0.1)
    os.close(file)
    return None


def parse_events(data: bytes) -> list[dict[str, Any]]:
    """Return the events of whole lines, without those that a full disk has damaged."""
    events = []
    for line in data.splitlines():
        with suppress(ValueError):
            events.append(json.loads(line))
    return events


def is_running(path: Path) -> bool:
    """Return whether a process holds the lock of a progress file."""
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False
