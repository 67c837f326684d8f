"""The log of runs of stages: JSON lines under ``.hearsight/logs/stages``, one file for each of them.

Each line has time, level, run, flow run, dataset, stage and event. ``<output>.runs.jsonl`` beside it has the end of each run
alone, so that the history outlives the events of single shards. Files are replaced at :data:`LIMIT` bytes. Logs are no part of
an output, and nothing reads them to make one.
"""

from __future__ import annotations

import logging
import os
import re
import sys
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any

from components.core.printing import json_line
from components.execution.measure import Measured

LIMIT, KEPT = 1_000_000, 2
"""Bytes of one file, and the number of earlier files that are kept."""
FOLDER = Path("logs") / "stages"
ITEM = "shard_finished"
STARTED, CHECKED, FINISHED, FAILED = "run_started", "checked", "run_finished", "run_failed"
ENDS = (FINISHED, FAILED)
MAX_ERROR = 2000
_SECRETS = re.compile(
    r"(?P<user>(?<=://)[^/@\s]+(?=@))|(?P<name>\b(?:access_|api_?|auth_?)?(?:token|key|secret|password|signature|authorization)\b"
    r"[\"']?\s*[=:]\s*[\"']?(?:bearer\s+)?)[^\s\"'&,;]+",
    re.IGNORECASE,
)
"""The user of an address, and the value after a name of a secret."""


def log_file(state: Path, dataset: str, stage: str) -> Path:
    """Return the log of a stage's runs; ``state`` is the project's folder ``.hearsight``."""
    return state / FOLDER / f"{dataset.replace('/', '.')}.{stage}.jsonl"


def runs_file(state: Path, dataset: str, stage: str) -> Path:
    """Return the file with the ends of the runs."""
    return log_file(state, dataset, stage).with_suffix(".runs.jsonl")


def without_secrets(text: str) -> str:
    """Return a text with the users and passwords of addresses, and the values of tokens and keys, as ``***``."""
    return _SECRETS.sub(lambda match: f"{match['name'] or ''}***", text)


class RunLog:
    """Writes the events of one run of one stage. A log that cannot be written costs no run.

    Args:
        state: the project's folder ``.hearsight``.
    """

    broken: str = ""
    """The file that could not be written, and why; nothing is written after it."""

    def __init__(self, state: Path, dataset: str, stage: str) -> None:
        self.common = {"run": uuid.uuid4().hex[:12], "flow_run": os.environ.get("HEARSIGHT_FLOW_RUN", "")}
        self.common |= {"dataset": dataset, "stage": stage}
        self._files = {False: log_file(state, dataset, stage), True: runs_file(state, dataset, stage)}
        self._handlers: dict[bool, RotatingFileHandler] = {}

    def write(self, event: str, *, level: str = "info", **fields: Any) -> None:
        """Append an event."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        line = json_line({"time": now, "level": level, "event": event, **_filled(self.common), **_filled(fields)})
        for summary in (False, True) if event in ENDS else (False,):
            self._append(summary, line)

    def item(self, step: str, spec: Any, item: Measured) -> None:
        """Append the end of one shard or job."""
        hit = item.result[1] if item.counts else None
        name = getattr(spec, "shard", "") or getattr(spec, "name", "")
        costs: dict[str, Any] = {
            "seconds": round(item.seconds, 3),
            "cpu_seconds": round(item.cpu_seconds, 3),
            "peak_bytes": item.peak_bytes,
        }
        self.write(ITEM, step=step, shard=name, **{**costs, **item.counts}, cached=hit)

    def fail(self, error: BaseException, seconds: float) -> None:
        """Append the end of a run that failed, with its error as one line."""
        name = "" if type(error).__name__ == "HearsightError" else f"{type(error).__name__}: "
        text = without_secrets(f"{name}{' '.join(str(error).split())}")[:MAX_ERROR]
        self.write(FAILED, level="error", seconds=round(seconds, 3), error=text)

    def close(self) -> None:
        """Close the files."""
        for handler in self._handlers.values():
            handler.close()

    def _append(self, summary: bool, line: str) -> None:
        if self.broken:
            return
        try:
            if summary not in self._handlers:
                self._handlers[summary] = _open(self._files[summary])
            self._handlers[summary].handle(logging.makeLogRecord({"msg": line}))
        except OSError as error:
            self.broken = f"{self._files[summary].name} cannot be written ({error.strerror})"


@contextmanager
def logged_run(state: Path, dataset: str, stage: str) -> Iterator[RunLog]:
    """Open the log of a run; an error of the block is logged as its end, also one before the run has started."""
    log, began = RunLog(state, dataset, stage), time.monotonic()
    try:
        yield log
    except BaseException as error:
        log.fail(error, time.monotonic() - began)
        raise
    else:
        if log.broken:  # otherwise the run's own error says it
            print(f"hearsight: warning: {log.broken}", file=sys.stderr)
    finally:
        log.close()


class _Handler(RotatingFileHandler):
    def handleError(self, record: logging.LogRecord) -> None:
        raise  # logging calls it while the error is handled


def _open(path: Path) -> RotatingFileHandler:
    path.parent.mkdir(parents=True, exist_ok=True)
    return _Handler(path, maxBytes=LIMIT, backupCount=KEPT, encoding="utf-8")


def _filled(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value not in (None, "")}
