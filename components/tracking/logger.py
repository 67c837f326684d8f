"""The background process that logs what stages have left in the queue (:mod:`components.tracking.queue`).

A stage starts it when none runs. It logs the records in order, waits for more, and ends after a minute without any, when MLflow
cannot be reached, or when the project's folder is gone. A lock that the kernel frees says whether one runs; it is let go
before the last look at the queue, so a record is seen by the process that ends or by a stage that starts another.
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
from components.tracking.queue import flush, note_failure, tracker_key, waiting

IDLE = 60.0
"""Seconds without a record after which the process ends."""
RETRY_AFTER = (5.0, 20.0)
"""Seconds before another attempt when MLflow fails; after the last, the next stage starts another process."""
LOOK = 0.5
"""Seconds between two looks at the queue."""


def ensure_logger(root: Path) -> None:
    """Start the process unless one runs for this tracker.

    Raises:
        OSError: it cannot be started.
        subprocess.SubprocessError: it ended at once.
    """
    with _only_one(root) as alone:
        if not alone:
            return
    background.start("components.tracking.logger", [str(root)], folder=root, log=log_path(root), environment={})


def log_path(root: Path) -> Path:
    """What the process says: one traceback a failure."""
    return root / ".hearsight" / "tracking.log"


@contextmanager
def _only_one(root: Path) -> Iterator[bool]:
    """Hold the lock of this project's and tracker's process; False when another holds it."""
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
    """Log until idle; returns at once when another process does."""
    while (root / ".hearsight").is_dir():
        with _only_one(root) as alone:
            if not alone or not _log_until_idle(root):
                return
        if not waiting(root, tracker_key(root)):  # looked at without the lock: see above
            return


def _log_until_idle(root: Path) -> bool:
    """Log what comes; False when MLflow fails again and again."""
    failures, until = 0, time.monotonic() + IDLE
    while (root / ".hearsight").is_dir() and time.monotonic() < until:
        try:
            if waiting(root, tracker_key(root)):
                flush(root, tracker_key(root))
                failures, until = 0, time.monotonic() + IDLE
            time.sleep(LOOK)
        except Exception as error:  # MLflow's and its server's own kinds
            if not (root / ".hearsight").is_dir():
                return False
            traceback.print_exc()
            note_failure(root, error)
            if failures == len(RETRY_AFTER):
                return False
            time.sleep(RETRY_AFTER[failures])
            failures, until = failures + 1, time.monotonic() + IDLE
    return True


if __name__ == "__main__":
    background.detach()
    os.nice(5)  # stages come first
    run(Path(sys.argv[1]))
