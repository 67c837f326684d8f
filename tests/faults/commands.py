"""``dvc repro`` and ``hearsight`` in forks of this process: the real programs without the seconds of their imports.

DVC starts each stage's command in a fork as well. A fork of DVC carries the name ``dvc``, by which a runner notices when it ends.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import logging
import os
import re
import shlex
import signal
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from tests.faults.moments import Strike
from tests.faults.project import STAGES
from tests.support import HANG, alive, until
from tests.support.pipeline.harness import ENVIRONMENT

SETTINGS = {
    "DVC_NO_ANALYTICS": "1",
    "HEARSIGHT_TRACKING": "queue",
    "HEARSIGHT_WARM": "off",
    "HEARSIGHT_WORDNET": ENVIRONMENT["HEARSIGHT_WORDNET"],
}
PR_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True)
class Done:
    """A command that ended."""

    words: tuple[str, ...]
    code: int
    """Exit code; negative: the signal that ended it."""
    output: str

    @property
    def error_lines(self) -> list[str]:
        """The lines in which the product says what failed."""
        return [line for line in self.output.splitlines() if re.match(r"hearsight: (?!warning)", line)]

    @property
    def dvc_errors(self) -> list[str]:
        """The same of DVC."""
        return [line for line in self.output.splitlines() if line.startswith("ERROR: ") or "validation failed" in line]


USED = (
    *("dvc.cli", "dvc.commands.repro", "dvc.repo", "dvc.repo.reproduce", "networkx", "dvc_http", "dvc_objects.fs"),
    *("components.cli.entry", "components.tracking.recorder", "components.tools.cache", "components.stages.check.suites"),
    *("components.stages.check.tables", "components.stages.check.pages"),
    *(f"components.stages.{stage}.run" for stage in STAGES),
)
"""Modules that take long to import; the others are those that the first commands have loaded."""
LISTING = "HEARSIGHT_FAULTS_MODULES"
"""Environment variable: the file to which commands append the names of the modules that they have loaded."""


def load(names: Sequence[str] = ()) -> None:
    """Import what commands need, once for all forks."""
    for name in (*USED, *names):
        try:
            importlib.import_module(name)
        except Exception:  # parts of a package that only its own code can import
            continue
    if not names:
        importlib.import_module("components.stages.check").warm()
    gc.collect()
    gc.freeze()  # keeps the memory shared with the forks


def dvc(root: Path, *words: str, strikes: Sequence[Strike] = (), **environment: str) -> Done:
    """Run ``dvc words`` in the project; a strike is armed in the process of its command."""

    def command() -> int:
        name_process("dvc")
        import dvc.stage.run as stage_run
        from dvc.cli import main
        from dvc.logger import setup

        for name in ("dvc", "dvc_objects", "dvc_data"):
            logging.getLogger(name).handlers.clear()
        setup()  # to this process's own streams, not to those at the time of the import

        stage_run._run = lambda _shell, line, **options: _run_stage(root, line, strikes, **options)  # type: ignore[assignment]
        return int(main(list(words)))

    return run_forked(("dvc", *words), command, root, environment)


def hearsight(root: Path, *words: str, **environment: str) -> Done:
    """Run ``hearsight words`` in the project."""
    return run_forked(("hearsight", *words), lambda: _entry(words), root, environment)


def _entry(words: Sequence[str]) -> int:
    from components.cli.entry import main

    sys.argv = ["hearsight", *words]
    try:
        main()
    except SystemExit as left:
        return left.code if isinstance(left.code, int) else int(left.code is not None)
    return 0


def _run_stage(root: Path, line: str, strikes: Sequence[Strike], env: Mapping[str, str], **_: Any) -> None:
    """Stand in for DVC's start of a shell."""
    from dvc.stage.exceptions import StageCmdFailedError

    words = shlex.split(line)[1:]

    def command() -> int:
        for strike in strikes:
            if words[:2] == strike.command.split():
                strike.arm(root)
        return _entry(words)

    if code := _wait(_fork(command, env)):
        raise StageCmdFailedError(line, code)


def run_forked(words: tuple[str, ...], command: Callable[[], int], root: Path, environment: Mapping[str, str]) -> Done:
    """Run ``command`` in a fork with its own output."""
    with os.fdopen(os.memfd_create("output"), "w+b") as out:  # not on the disk, which may be full

        def redirected() -> int:
            for number in (1, 2):
                os.dup2(out.fileno(), number)
            os.chdir(root)
            return command()

        own = {"HEARSIGHT_ROOT": str(root), "DVC_SITE_CACHE_DIR": str(root.parent / "site")}
        code = _wait(_fork(redirected, {**os.environ, **SETTINGS, **own, **environment}))
        out.seek(0)
        return Done(words, code, out.read().decode(errors="replace"))


def _fork(command: Callable[[], int], environment: Mapping[str, str]) -> int:
    sys.stdout.flush()
    sys.stderr.flush()
    if child := os.fork():
        return child
    code = 1
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        os.environ.clear()
        os.environ.update(environment)
        sys.stdin, sys.stdout, sys.stderr = (os.fdopen(number, mode, closefd=False) for number, mode in enumerate("rww"))
        code = command()
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        if listing := environment.get(LISTING):
            with Path(listing).open("a") as file:
                file.write("\n".join(sys.modules) + "\n")
        os._exit(code)


def _wait(child: int) -> int:
    """Wait for a child and return its exit code; one that hangs is killed."""
    deadline = time.monotonic() + HANG
    while not (ended := os.waitpid(child, os.WNOHANG))[0]:
        if time.monotonic() > deadline:
            os.kill(child, 9)
            os.waitpid(child, 0)
            return 99
        time.sleep(0.005)
    return os.waitstatus_to_exitcode(ended[1])


def name_process(name: str) -> None:
    """Set the command line that other processes see, by writing over the arguments in memory."""
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    start, end = int(fields[45]), int(fields[46])
    ctypes.memmove(start, name.encode().ljust(end - start, b"\0"), end - start)


def adopt_orphans() -> None:
    """Make this process the parent of every descendant whose own parent ends."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)


def leftover_processes(within: float = 20.0) -> list[str]:
    """Return the descendants that still run after ``within`` seconds; reaps those that ended."""

    def living() -> list[psutil.Process]:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass
        return [child for child in psutil.Process().children(recursive=True) if alive(child.pid)]

    try:
        until(lambda: not living(), within)
    except AssertionError:
        return [f"{child.pid} {' '.join(child.cmdline())[:100]}" for child in living()]
    return []
