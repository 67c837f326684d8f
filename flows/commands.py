"""Commands of a flow: their environment, their error lines, and repeats while another process holds DVC's files.

Does not import Prefect.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from components.tracking import recorder
from flows.guard import TIMED_OUT, run_guarded

BUSY = re.compile(r"Unable to acquire lock|is busy, it is being blocked by")
"""DVC's messages for its own locks. ``--wait-for-lock`` waits for the repository's lock, but neither for the stages entered in
``.dvc/tmp/rwlock`` nor, after 3 s, for that file's own lock."""
BUSY_PATIENCE = 600.0
"""Seconds after which a busy DVC is an error."""


class StageFailed(Exception):
    """A stage failed; ``refused`` when a retry with the same input would fail too."""

    def __init__(self, address: str, line: str, *, refused: bool) -> None:
        super().__init__(f"{address}: {line}")
        self.refused = refused


def failure(address: str, code: int, lines: Sequence[str], limit: float) -> StageFailed:
    """Return the error of a stage whose command ended with ``code`` and printed ``lines``; ``limit`` is its time limit in s."""
    if code == TIMED_OUT:
        return StageFailed(address, f"ended after its time limit of {limit:g} s", refused=False)
    return StageFailed(address, error_line(lines), refused=any(re.search(r"exited with 2\b", line) for line in lines))


def environment(flow_run: str, pipeline_run: str) -> dict[str, str]:
    """Return the environment of a stage's process: the flow's ids, no telemetry, this environment's commands first in PATH."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    extra = {
        "HEARSIGHT_FLOW_RUN": flow_run,
        "HEARSIGHT_PIPELINE_RUN": pipeline_run,
        # The guard ends every process that a stage starts, so the flow starts the process that logs runs.
        recorder.SWITCH: os.environ.get(recorder.SWITCH, "queue"),
        "DVC_NO_ANALYTICS": "1",
        "PYTHONUNBUFFERED": "1",
    }
    return {**os.environ, "PATH": path, **{name: value for name, value in extra.items() if value}}


def run_dvc(
    words: Sequence[str], root: Path, env: Mapping[str, str], limit: float, on_line: Callable[[str], None] = lambda _: None
) -> tuple[int, list[str]]:
    """Run a command of DVC in ``root``, again while another process holds what it needs.

    Args:
        words: the command after ``dvc``.
        limit: time limit of one attempt in seconds.
        on_line: called with each line of output.

    Returns:
        The exit code, and the last 200 lines of the last attempt.
    """
    deadline, pause = time.monotonic() + BUSY_PATIENCE, 0.2
    while True:
        lines: list[str] = []

        def take(line: str, lines: list[str] = lines) -> None:
            on_line(line)
            lines.append(line)
            del lines[:-200]

        command = [sys.executable, "-m", "dvc", "--wait-for-lock", *words]
        code = run_guarded(command, cwd=root, env=env, limit=limit, on_line=take)
        if code == 0 or time.monotonic() > deadline or not BUSY.search(error_line(lines)):
            return code, lines
        time.sleep(pause)
        pause = min(2 * pause, 5.0)


def error_line(lines: Sequence[str]) -> str:
    """Return the line with the error: the stage's own, else DVC's, else the last line."""
    for pattern in (r"^hearsight: (?!warning)", r"^ERROR: "):
        for line in reversed(lines):
            if re.search(pattern, line):
                return re.sub(pattern, "", line)
    others = (line for line in reversed(lines) if line.strip() and not line.startswith("hearsight: warning"))
    return next(others, "ended without a line of error")
