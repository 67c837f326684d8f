"""The queue between stages and MLflow: records and the files to log, under ``.hearsight/runs``.

A record is one JSON file, written durably under a name that sorts by time. ``<name>.files`` beside it holds hard links to the
output's files, so that a later run of the stage does not remove them. A record is removed once MLflow has it.
"""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path

from components.core.addresses import main_project
from components.core.digests import canonical_json
from components.core.files import link, publish_bytes, remove_abandoned
from components.tracking import trainings
from components.tracking.record import Record, connect, tracking_uri
from components.tracking.runs import log_record

ORPHANED = 24 * 3600.0
"""Seconds after which files without a record are removed."""


def put(root: Path, record: Record, files: Sequence[tuple[str, Path]] = ()) -> None:
    """Append a record, with the files to log as (path in the output, path); the caller is the only writer of its stage.

    Raises:
        HearsightError: the disk is full or not writable.
    """
    run = f"{record.dataset.replace('/', '-')}-{record.stage}.json"
    remove_abandoned(_folder(root), f"*-{run}")
    path = _folder(root) / f"{record.ended:017.6f}-{run}"
    record = replace(record, tracker=tracker_key(root), files=_link_files(root, files, path.with_suffix(".files")))
    publish_bytes(path, canonical_json(asdict(record)).encode())


def _link_files(root: Path, files: Sequence[tuple[str, Path]], folder: Path) -> str:
    for name, path in files:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        link(path, target)
    return folder.relative_to(root).as_posix() if files else ""


def waiting(root: Path, tracker: str = "") -> list[Path]:
    """Return the paths of the queued records, oldest first; with ``tracker`` only those of that tracker."""
    return [path for path in sorted(_folder(root).glob("*.json")) if not tracker or _is_of(path, tracker)]


def is_waiting(root: Path, tracker: str = "") -> bool:
    """Return whether a record or a training's progress is not in MLflow; with ``tracker`` only of that tracker."""
    return bool(waiting(root, tracker) or trainings.waiting(root, tracker))


def _is_of(path: Path, tracker: str) -> bool:
    try:
        return _read(path).tracker in ("", tracker)
    except FileNotFoundError:  # logged meanwhile
        return False


def flush(root: Path, tracker: str = "") -> list[str]:
    """Log the progress of trainings and all queued records, and return the ids of the records' runs, oldest first.

    Waits while another process logs.

    Args:
        tracker: only records of this tracker; empty for all.

    Raises:
        Exception: any error of MLflow; records that were not logged are kept.
    """
    if not is_waiting(root, tracker):
        return []
    logged: list[str] = []
    with sole_client(root):
        paths = waiting(root, tracker)
        if paths or trainings.waiting(root, tracker):
            client = connect(root)
            trainings.send(client, root, tracker)
            for path in paths:
                record = _read(path)
                logged.append(log_record(client, root, record))
                trainings.remove(root, record)
                path.unlink(missing_ok=True)
                shutil.rmtree(path.with_suffix(".files"), ignore_errors=True)
    for folder in _folder(root).glob("*.files"):
        if not folder.with_suffix(".json").exists() and time.time() - folder.stat().st_mtime > ORPHANED:
            shutil.rmtree(folder, ignore_errors=True)
    _failure(root).unlink(missing_ok=True)
    return logged


@contextmanager
def sole_client(root: Path) -> Iterator[None]:
    """Hold the lock of the project's MLflow client: SQLite takes one writer, and search and insert must be one step."""
    lock = root / ".hearsight" / "locks" / "mlflow.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("a+") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def tracker_key(root: Path) -> str:
    """Return a short digest of the tracker's address, which may hold a password; a moved project keeps it."""
    return hashlib.sha256(tracking_uri(root).replace(str(main_project(root).resolve()), "").encode()).hexdigest()[:12]


def note_failure(root: Path, error: BaseException) -> None:
    """Write the background process's error, which the next command prints."""
    publish_bytes(_failure(root), one_line(error).encode())


def last_failure(root: Path) -> str:
    """Return the background process's last error in one line; empty when it has logged something since."""
    try:
        return _failure(root).read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""


def one_line(error: BaseException) -> str:
    """Return an error's class and message in one line of at most 300 characters."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]


def _folder(root: Path) -> Path:
    return root / ".hearsight" / "runs"


def _failure(root: Path) -> Path:
    return _folder(root) / "failure.txt"


def _read(path: Path) -> Record:
    return Record.parse(path.read_text(encoding="utf-8"))
