"""The queue between stages and MLflow: records and the files to log, under ``.hearsight/runs``.

A record is one JSON file, written durably under a name that sorts by time; ``<name>.files`` beside it keeps the output's files
by hard links, so that a later run of the stage cannot take them away. A record goes only once MLflow has it.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path

from components.core.digests import canonical_json
from components.core.files import publish_bytes
from components.tracking.record import Record, connect, tracking_uri
from components.tracking.runs import log_record

ORPHANED = 24 * 3600.0
"""Seconds after which files that were kept for a record that was never written are removed."""


def put(root: Path, record: Record, files: Sequence[tuple[str, Path]] = ()) -> None:
    """Append a record, with the files to log by their paths in the output.

    Raises:
        HearsightError: the disk is full or not writable.
    """
    path = _folder(root) / f"{record.ended:017.6f}-{record.dataset.replace('/', '-')}-{record.stage}.json"
    record = replace(record, tracker=tracker_key(root), files=_keep(root, files, path.with_suffix(".files")))
    publish_bytes(path, canonical_json(asdict(record)).encode())


def _keep(root: Path, files: Sequence[tuple[str, Path]], folder: Path) -> str:
    for name, path in files:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(path, target)
        except OSError:  # another file system, or one without links
            shutil.copyfile(path, target)
    return folder.relative_to(root).as_posix() if files else ""


def waiting(root: Path, tracker: str = "") -> list[Path]:
    """The records that wait to be logged, oldest first; with ``tracker`` those of that tracker alone."""
    return [path for path in sorted(_folder(root).glob("*.json")) if not tracker or _is_of(path, tracker)]


def _is_of(path: Path, tracker: str) -> bool:
    try:
        return _read(path).tracker in ("", tracker)
    except FileNotFoundError:  # logged meanwhile
        return False


def flush(root: Path, tracker: str = "") -> list[str]:
    """Log everything that waits, after whoever does so now; the ids of the runs, oldest first.

    Args:
        root: the project.
        tracker: only the records of stages that named this tracker; empty for all.

    Raises:
        Exception: whatever MLflow raises; what was not logged is still kept.
    """
    if not waiting(root, tracker):
        return []
    logged: list[str] = []
    with sole_client(root):
        kept = waiting(root, tracker)
        if kept:
            client = connect(root)
            for path in kept:
                logged.append(log_record(client, root, _read(path)))
                path.unlink(missing_ok=True)
                shutil.rmtree(path.with_suffix(".files"), ignore_errors=True)
    for folder in _folder(root).glob("*.files"):
        if not folder.with_suffix(".json").exists() and time.time() - folder.stat().st_mtime > ORPHANED:
            shutil.rmtree(folder, ignore_errors=True)
    _failure(root).unlink(missing_ok=True)
    return logged


@contextmanager
def sole_client(root: Path) -> Iterator[None]:
    """One client at a time a project: SQLite takes one writer, and looking before adding must be one step."""
    lock = root / ".hearsight" / "locks" / "mlflow.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("a+") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def tracker_key(root: Path) -> str:
    """A short digest that names the tracker of this environment; its address may hold a password."""
    return hashlib.sha256(tracking_uri(root).encode()).hexdigest()[:12]


def note_failure(root: Path, error: BaseException) -> None:
    """Keep the background process's error for the next command to print."""
    publish_bytes(_failure(root), one_line(error).encode())


def last_failure(root: Path) -> str:
    """The background process's last error in one line; empty when it has logged something since."""
    try:
        return _failure(root).read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""


def one_line(error: BaseException) -> str:
    """An error's kind and text in one line of at most 300 characters."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]


def _folder(root: Path) -> Path:
    return root / ".hearsight" / "runs"


def _failure(root: Path) -> Path:
    return _folder(root) / "failure.txt"


def _read(path: Path) -> Record:
    return Record(**json.loads(path.read_text(encoding="utf-8")))
