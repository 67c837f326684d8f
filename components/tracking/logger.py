"""The background process that logs the queue of stage runs (:mod:`components.tracking.queue`) and the progress of trainings.

A stage starts it when none runs, which a file lock tells. It ends after a minute without records, when MLflow cannot be reached,
or when the project's folder is deleted. While a training runs it stays, and tries to reach MLflow every minute.
"""

from __future__ import annotations

import fcntl
import os
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from components.execution import background
from components.tracking.queue import flush, is_waiting, note_failure, tracker_key
from components.tracking.trainings import is_any_running

IDLE = 60.0
"""Seconds without a record after which the process ends."""
RETRY_AFTER = (5.0, 20.0)
"""Seconds before each retry when MLflow fails; then the process ends, and the next stage starts another."""
RETRY_WHILE_TRAINING = 60.0
"""Seconds before each further retry while a training runs."""
POLL = 0.5
"""Seconds between two checks of the queue."""


def ensure_logger(root: Path) -> None:
    """Start the process unless one runs for this tracker.

    Raises:
        OSError: it cannot be started.
        subprocess.SubprocessError: it failed at once.
    """
    with _sole_logger(root) as alone:
        if not alone:
            return
    background.start("components.tracking.logger", [str(root)], folder=root, log=log_path(root), environment={})


def log_path(root: Path) -> Path:
    """Return the path of the process's log: one traceback for each failure."""
    return root / ".hearsight" / "tracking.log"


@contextmanager
def _sole_logger(root: Path) -> Iterator[bool]:
    """Hold the lock of this project and tracker; yields False when another process holds it."""
    path = root / ".hearsight" / "locks" / f"tracking-logger-{tracker_key(root)}.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True


def run(root: Path) -> None:
    """Log until idle; return at once when another process logs."""
    while (root / ".hearsight").is_dir():
        with _sole_logger(root) as alone:
            if not alone or not _log_until_idle(root):
                return
        if not is_waiting(root, tracker_key(root)):  # checked without the lock: see above
            return


def _log_until_idle(root: Path) -> bool:
    """Log records until idle; return False when MLflow keeps failing."""
    failures, until = 0, time.monotonic() + IDLE
    while (root / ".hearsight").is_dir() and time.monotonic() < until:
        try:
            if is_waiting(root, tracker_key(root)):
                flush(root, tracker_key(root))
                failures, until = 0, time.monotonic() + IDLE
            elif is_any_running(root, tracker_key(root)):
                until = time.monotonic() + IDLE
            time.sleep(POLL)
        except Exception as error:  # MLflow and its stores raise many kinds
            if not (root / ".hearsight").is_dir():
                return False
            note_failure(root, error)
            if failures < len(RETRY_AFTER):
                traceback.print_exc()
                pause = RETRY_AFTER[failures]
                failures += 1
            elif is_any_running(root, tracker_key(root)):
                pause = RETRY_WHILE_TRAINING
            else:
                return False
            time.sleep(pause)
            until = time.monotonic() + IDLE
    return True


if __name__ == "__main__":
    background.detach()
    os.nice(5)  # stages have priority
    run(Path(sys.argv[1]))
