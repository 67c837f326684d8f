"""Starting background processes: no terminal, a session of their own, detached from the parent."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from components.core.addresses import code_path

MARK = "HEARSIGHT_BACKGROUND"
"""Variable in the environment of background processes, which a flow's guard lets live: they end by themselves when idle."""


def start(module: str, arguments: Sequence[str], *, folder: Path, log: Path, environment: Mapping[str, str]) -> None:
    """Run ``python -m module`` in ``folder``; returns when the module calls :func:`detach`.

    Raises:
        OSError: the process cannot be started.
        subprocess.SubprocessError: it failed before it detached.
    """
    with log.open("ab") as output:
        subprocess.run(
            [sys.executable, "-m", module, *arguments],
            cwd=folder,
            env={**os.environ, **environment, "PYTHONPATH": code_path(os.environ), MARK: module},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            check=True,
        )


def detach() -> None:
    """Continue in a child and end the process that :func:`start` waits for."""
    if os.fork():
        os._exit(0)
