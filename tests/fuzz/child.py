"""One target in a process of its own, under libFuzzer (Atheris): what does not hold is written down, and it goes on.

libFuzzer alone would stop at the first fault. It still ends the process for what no exception tells: a crash, an endless input,
too much memory; those it writes down itself. What the process did is in shared memory, since it leaves without a word.
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
MOST_FAULTS = 50
"""Different faults that are written down."""
_OWN = re.compile(r"/(?:components|tests/fuzz)/")


@dataclass(frozen=True)
class Counts:
    """What a run did so far."""

    runs: int = 0
    faults: int = 0
    """Inputs of which something did not hold, each time it happened."""
    slow: int = 0
    slowest: float = 0.0
    """CPU seconds of the slowest input."""
    slowest_bytes: int = 0


class Shared:
    """Counts that outlive the process that counts."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, _COUNTS.size)

    def write(self, counts: Counts) -> None:
        _COUNTS.pack_into(self._memory, 0, *vars(counts).values())

    def read(self) -> Counts:
        return Counts(*_COUNTS.unpack_from(self._memory, 0))


def load(names: Sequence[str]) -> ModuleType:
    """Import Atheris, and instrumented what the checks of these targets import when they first run; returns Atheris."""
    import atheris

    quiet = redirect_stderr(io.StringIO())  # it names every module
    with quiet, atheris.instrument_imports(include=list(PACKAGES), exclude=list(COMPILED)):
        for name in names:
            for data in (b"", *TARGETS[name].tokens):
                try:
                    TARGETS[name].check(data)
                except Exception:
                    continue
    return atheris


def fault_name(error: BaseException) -> str:
    """What tells one fault from another: the kind of error, and the function of ours it came from."""
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if _OWN.search(frame.filename)]
    place = f"{Path(own[-1].filename).stem}-{own[-1].name}" if own else "nowhere"
    said = f"-{error}" if isinstance(error, AssertionError) else ""
    return re.sub(r"[^A-Za-z0-9]+", "-", f"{type(error).__name__}-{place}{said}")[:80].strip("-")


def fuzz(
    atheris: ModuleType, name: str, options: Sequence[str], found: Path, shared: Shared, slow: float, log: Path | None
) -> None:
    """Run a target; libFuzzer ends the process when it is done.

    Args:
        atheris: as :func:`load` gives it.
        name: the target's.
        options: libFuzzer's.
        found: the folder for inputs that are at fault or slow.
        shared: where to count.
        slow: CPU seconds above which an input is slow.
        log: the file for what libFuzzer says; None for standard error.
    """
    check: Callable[[bytes], None] = pkgutil.resolve_name(f"tests.fuzz.checks.{TARGETS[name].name}")
    runs = faults = slows = slowest_bytes = 0
    slowest = 0.0
    known: set[str] = set()
    told = os.fdopen(os.dup(2), "w", buffering=1)
    if log is not None:
        os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)

    def write(kind: str, data: bytes) -> None:
        (found / f"{kind}.{hashlib.sha256(data).hexdigest()[:8]}").write_bytes(data)

    def one(data: bytes) -> None:
        nonlocal runs, faults, slows, slowest, slowest_bytes
        begin = time.process_time()
        try:
            check(data)
        except Exception as error:
            faults += 1
            kind = fault_name(error)
            if kind not in known and len(known) < MOST_FAULTS:
                known.add(kind)
                write(kind, data)
                print(f"FAULT {name} {kind}: {str(error)[:200]}", file=told)
        took = time.process_time() - begin
        runs += 1
        if took > slowest:
            slowest, slowest_bytes = took, len(data)
        if took > slow:
            slows += 1
            if slows <= MOST_FAULTS:
                write("slow", data)
        shared.write(Counts(runs, faults, slows, slowest, slowest_bytes))

    atheris.Setup([sys.argv[0], *options], one)
    atheris.Fuzz()
