"""Run ``dvc repro`` as a child that never outlives this process; its output goes to a log."""

from __future__ import annotations

import os
import re
import selectors
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from components.core.process import die_with_parent
from components.demo.progress import Progress

LOG = Path(".hearsight") / "logs" / "repro.log"
"""Below the project's root: the output of the last run."""
GRACE = 10.0
"""Seconds between SIGTERM and SIGKILL."""
_TICK = 1.0
_CHUNK = 1 << 16
_KEPT_LINES = 12


def reproduce(root: Path, progress: Progress) -> tuple[int, list[str]]:
    """Run ``dvc repro`` in ``root`` and report its stages to ``progress``.

    SIGTERM and SIGINT to this process end dvc and its children first; if this process is killed outright, the kernel kills dvc,
    and the stages notice that dvc is gone.

    Returns:
        dvc's exit code (128 + N after signal N), and the last lines of its output.

    Raises:
        KeyboardInterrupt: SIGINT came; dvc has ended.
        SystemExit: SIGTERM came; dvc has ended.
    """
    log = root / LOG
    log.parent.mkdir(parents=True, exist_ok=True)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    environment = {**os.environ, "PATH": path, "DVC_NO_ANALYTICS": "1", "PYTHONUNBUFFERED": "1"}
    last: deque[str] = deque(maxlen=_KEPT_LINES)
    with log.open("wb") as sink, _terminated_as_exit():
        # A session of its own, so that one signal reaches every process of the run and Ctrl-C comes here first.
        child = subprocess.Popen(
            [sys.executable, "-m", "dvc", "repro"],
            cwd=root, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True, preexec_fn=die_with_parent,
        )  # fmt: skip
        try:
            for line in _lines(child, sink, progress):
                progress.hear(line)
                if line:
                    last.append(line)
            code = child.wait()
        finally:
            _end(child)
            progress.close()
    return (code if code >= 0 else 128 - code), list(last)


def reason(lines: list[str]) -> str:
    """Return the line that says why a run failed: a stage's own error, else dvc's, else the last one."""
    for pattern in (r"^hearsight: (?!warning)", r"^ERROR: "):
        for line in reversed(lines):
            if re.search(pattern, line):
                return line
    return lines[-1] if lines else "no output"


def _lines(child: subprocess.Popen[bytes], sink: object, progress: Progress) -> Iterator[str]:
    """Yield dvc's lines as they come; of a line that is a redrawn bar, its last state."""
    assert child.stdout is not None
    rest = b""
    with selectors.DefaultSelector() as selector:
        selector.register(child.stdout, selectors.EVENT_READ)
        while True:
            if not selector.select(_TICK):
                progress.tick()
                # A background process of a stage may keep the pipe open after dvc has ended.
                if child.poll() is not None:
                    break
                continue
            chunk = os.read(child.stdout.fileno(), _CHUNK)
            if not chunk:
                break
            sink.write(chunk)  # type: ignore[attr-defined]
            sink.flush()  # type: ignore[attr-defined]
            *whole, rest = (rest + chunk).split(b"\n")
            yield from (_plain(line) for line in whole)
    if rest:
        yield _plain(rest)


def _plain(line: bytes) -> str:
    return line.decode(errors="replace").rstrip().rpartition("\r")[2]


def _end(child: subprocess.Popen[bytes]) -> None:
    """End the run's processes: SIGTERM to all, SIGKILL to what is left."""
    if child.poll() is None:
        _signal(child, signal.SIGTERM)
        try:
            child.wait(GRACE)
        except subprocess.TimeoutExpired:
            pass
        _signal(child, signal.SIGKILL)
        child.wait()
    if child.stdout is not None:
        child.stdout.close()


def _signal(child: subprocess.Popen[bytes], number: int) -> None:
    try:
        os.killpg(child.pid, number)
    except ProcessLookupError:
        pass


@contextmanager
def _terminated_as_exit() -> Iterator[None]:
    """Turn SIGTERM and SIGHUP into an exception, so that the clean-up runs."""

    def leave(number: int, _frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    earlier = {number: signal.signal(number, leave) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)
