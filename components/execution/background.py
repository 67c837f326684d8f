"""Start a process in the background: without a terminal, in its own session, detached from its parent."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path


def start(module: str, arguments: Sequence[str], *, folder: Path, log: Path, environment: Mapping[str, str]) -> None:
    """Run ``python -m module`` in ``folder``; returns once :func:`detach` has been reached there.

    Raises:
        OSError: it cannot be started.
        subprocess.SubprocessError: it ended badly before.
    """
    code = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join(filter(None, [code, os.environ.get("PYTHONPATH", "")]))
    with log.open("ab") as lines:
        subprocess.run(
            [sys.executable, "-m", module, *arguments],
            cwd=folder,
            env={**os.environ, **environment, "PYTHONPATH": path},
            stdin=subprocess.DEVNULL,
            stdout=lines,
            stderr=lines,
            start_new_session=True,
            check=True,
        )


def detach() -> None:
    """Go on in a child; the process that :func:`start` waits for ends."""
    if os.fork():
        os._exit(0)
