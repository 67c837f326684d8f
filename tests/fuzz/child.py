"""One target in its own process under libFuzzer (Atheris): failing inputs are written to files and the run continues.

libFuzzer alone stops at the first exception. It still ends the process for a crash, an endless input or too much memory, and
writes those inputs itself. Counts are in shared memory, because the process may end at any time.
"""

from __future__ import annotations

import hashlib
import io
import mmap
import os
import pkgutil
import re
import struct
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from tests.fuzz.targets import COMPILED, PACKAGES, TARGETS

_COUNTS = struct.Struct("<QQQdQ")
MAX_FAULTS = 50
"""Maximum number of distinct faults that are written to files."""
_OWN = re.compile(r"/(?:components|tests/fuzz)/")


@dataclass(frozen=True)
class Counts:
    """Progress of a run."""

    runs: int = 0
    faults: int = 0
    """Failing inputs, every occurrence."""
    slow: int = 0
    slowest: float = 0.0
    """CPU seconds of the slowest input."""
    slowest_bytes: int = 0


class Shared:
    """Counts in memory that outlives the counting process."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, _COUNTS.size)

    def write(self, counts: Counts) -> None:
        _COUNTS.pack_into(self._memory, 0, *vars(counts).values())

    def read(self) -> Counts:
        return Counts(*_COUNTS.unpack_from(self._memory, 0))


def load(names: Sequence[str]) -> ModuleType:
    """Import Atheris and, instrumented, the modules that these targets' checks import on their first run; return Atheris."""
    # Lazy: an optional dependency.
    import atheris

    quiet = redirect_stderr(io.StringIO())  # Atheris logs every module
    with quiet, atheris.instrument_imports(include=list(PACKAGES), exclude=list(COMPILED)):
        for name in names:
            for data in (b"", *TARGETS[name].tokens):
                try:
                    TARGETS[name].check(data)
                except Exception:
                    continue
    return atheris


def fault_name(error: BaseException) -> str:
    """Return a name that distinguishes faults: the error type and the function of this project that raised it."""
    project_frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _OWN.search(frame.filename)]
    location = f"{Path(project_frames[-1].filename).stem}-{project_frames[-1].name}" if project_frames else "nowhere"
    message = f"-{error}" if isinstance(error, AssertionError) else ""
    return re.sub(r"[^A-Za-z0-9]+", "-", f"{type(error).__name__}-{location}{message}")[:80].strip("-")


def fuzz(
    atheris: ModuleType, name: str, options: Sequence[str], found: Path, shared: Shared, slow: float, log: Path | None
) -> None:
    """Run a target; libFuzzer ends the process when it is done.

    Args:
        atheris: the module that :func:`load` returned.
        name: name of the target.
        options: libFuzzer options.
        found: folder for failing and slow inputs.
        shared: counts.
        slow: CPU seconds above which an input is slow.
        log: file for libFuzzer's output; None for standard error.
    """
    check: Callable[[bytes], None] = pkgutil.resolve_name(f"tests.fuzz.checks.{TARGETS[name].name}")
    runs = faults = slows = slowest_bytes = 0
    slowest = 0.0
    seen: set[str] = set()
    stderr = os.fdopen(os.dup(2), "w", buffering=1)
    if log is not None:
        os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)

    def write(kind: str, data: bytes) -> None:
        (found / f"{kind}.{hashlib.sha256(data).hexdigest()[:8]}").write_bytes(data)

    def run_input(data: bytes) -> None:
        nonlocal runs, faults, slows, slowest, slowest_bytes
        begin = time.process_time()
        try:
            check(data)
        except Exception as error:
            faults += 1
            kind = fault_name(error)
            if kind not in seen and len(seen) < MAX_FAULTS:
                seen.add(kind)
                write(kind, data)
                print(f"FAULT {name} {kind}: {str(error)[:200]}", file=stderr)
        seconds = time.process_time() - begin
        runs += 1
        if seconds > slowest:
            slowest, slowest_bytes = seconds, len(data)
        if seconds > slow:
            slows += 1
            if slows <= MAX_FAULTS:
                write("slow", data)
        shared.write(Counts(runs, faults, slows, slowest, slowest_bytes))

    atheris.Setup([sys.argv[0], *options], run_input)
    atheris.Fuzz()
