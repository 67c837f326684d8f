"""Sequential runs of targets in forks of one process that has imported everything, and the result of each run."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.fuzz.child import Counts, Shared, fuzz
from tests.fuzz.targets import CORPUS, FOUND, TARGETS, inputs_of

SLOW = 1.0
"""CPU seconds above which an input is written to a file."""
KEPT_BYTES = 6000
"""Maximum bytes of inputs that a run adds to a target's corpus."""
RESTARTS = 20
"""Restarts of a run after inputs that ended its process."""


@dataclass(frozen=True)
class Settings:
    """Options of a run."""

    runs: int
    """Inputs per target; 0 for the number used by `make test-long`."""
    found: Path
    """Folder for failing inputs, with a subfolder per target."""
    timeout: int = 20
    """Seconds after which an input counts as endless."""
    memory: int = 3072
    """Memory limit of the process in MiB."""
    seed: int = 0
    """libFuzzer's seed; 0 for a different one each time."""
    kept: Path | None = None
    """Folder with a subfolder per target for inputs of earlier runs; receives those of this run."""
    slow: float = SLOW
    """CPU seconds above which an input is written to a file."""
    loud: bool = False
    """Whether to show libFuzzer's output."""


@dataclass(frozen=True)
class Result:
    """Result of one run of one target."""

    target: str
    runs: int
    seconds: float
    a_second: float
    faults: int
    slow: int
    slowest: float
    """CPU seconds of the slowest input."""
    slowest_bytes: int
    inputs: list[str] = field(default_factory=list)
    """Files of failing, slow or process-ending inputs that this run wrote."""

    @property
    def plain(self) -> dict[str, Any]:
        """The result as a JSON-serialisable mapping."""
        return asdict(self)


def run_all(atheris: ModuleType, names: list[str], settings: Settings) -> Iterator[Result]:
    """Yield the result of each target; Atheris must be loaded for all of them."""
    for name in names:
        yield run(atheris, name, settings)


def run(atheris: ModuleType, name: str, settings: Settings) -> Result:
    """Run one target with its number of inputs, restarting after inputs that end its process."""
    result = settings.found / inputs_of(name)
    result.mkdir(parents=True, exist_ok=True)
    before, total, begin = set(result.iterdir()), Counts(), time.monotonic()
    target_runs = settings.runs or TARGETS[name].quick
    with tempfile.TemporaryDirectory() as scratch:
        grown = settings.kept / inputs_of(name) if settings.kept else Path(scratch) / "grown"
        grown.mkdir(parents=True, exist_ok=True)
        for _ in range(RESTARTS):
            shared = Shared()
            options = _options(name, settings, target_runs - total.runs, Path(scratch), grown, result)
            code = _run_in_fork(atheris, name, options, result, shared, settings)
            total = _add_counts(total, shared.read())
            if code == 0 or total.runs >= target_runs:
                break
    seconds = time.monotonic() - begin
    files = sorted(str(path) for path in set(result.iterdir()) - before)
    if not any(result.iterdir()):
        result.rmdir()
    numbers = {**vars(total), "slowest": round(total.slowest, 4)}
    return Result(name, seconds=round(seconds, 1), a_second=round(total.runs / max(seconds, 1e-9)), inputs=files, **numbers)


def _add_counts(one: Counts, other: Counts) -> Counts:
    worst = max(one, other, key=lambda counts: counts.slowest)
    return Counts(one.runs + other.runs, one.faults + other.faults, one.slow + other.slow, worst.slowest, worst.slowest_bytes)


def _options(name: str, settings: Settings, runs: int, scratch: Path, grown: Path, found: Path) -> list[str]:
    dictionary = scratch / "words"
    dictionary.write_text("".join(f'"{_escaped(token)}"\n' for token in TARGETS[name].tokens))
    seeds = [str(folder / inputs_of(name)) for folder in (CORPUS, FOUND) if (folder / inputs_of(name)).is_dir()]
    return [
        f"-runs={runs}",
        f"-max_len={TARGETS[name].longest}",
        f"-timeout={settings.timeout}",
        f"-rss_limit_mb={settings.memory}",
        f"-artifact_prefix={found}/",
        f"-dict={dictionary}",
        "-len_control=20",
        "-verbosity=1" if settings.loud else "-verbosity=0",
        *([f"-seed={settings.seed}"] if settings.seed else []),
        str(grown),
        *seeds,
    ]


def _escaped(token: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in token)


def _run_in_fork(atheris: ModuleType, name: str, options: list[str], found: Path, shared: Shared, settings: Settings) -> int:
    log = None if settings.loud else found / ".log"
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        try:
            fuzz(atheris, name, options, found, shared, settings.slow, log)
            os._exit(0)
        finally:
            os._exit(70)
    try:
        _, status = os.waitpid(child, 0)
    except BaseException:
        os.kill(child, 9)
        os.waitpid(child, 0)
        raise
    code = os.waitstatus_to_exitcode(status)
    if log is not None:
        if code:
            print(f"{name} ended with {code}:\n{log.read_text(errors='replace')[-2000:]}", file=sys.stderr)
        log.unlink(missing_ok=True)
    return code


def keep(grown: Path, into: Path, most: int = KEPT_BYTES) -> int:
    """Copy the smallest inputs of ``grown``, up to ``most`` bytes in total, to ``into``; return the number of new files.

    Each reached code that no input before it did, and libFuzzer has replaced larger inputs by smaller equivalent ones.
    """
    into.mkdir(parents=True, exist_ok=True)
    added = 0
    for path in sorted(grown.iterdir(), key=lambda path: (path.stat().st_size, path.name)):
        most -= path.stat().st_size
        if most < 0:
            break
        if not (into / path.name).exists():
            shutil.copyfile(path, into / path.name)
            added += 1
    return added
