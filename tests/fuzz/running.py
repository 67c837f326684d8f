"""Targets run one after the other in forks of one process, which has imported everything; and what each run came to."""

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
"""Seconds of CPU above which an input is written down."""
KEPT_BYTES = 6000
"""Of a target's inputs that a run adds to the corpus."""
RESTARTS = 20
"""Times that a run goes on after an input that ended its process."""


@dataclass(frozen=True)
class Settings:
    """How targets are run."""

    runs: int
    """Inputs of each; 0 for those of the run in `make test`."""
    found: Path
    """The folder for inputs at fault, with one of its own for each target."""
    timeout: int = 20
    """Seconds after which an input counts as endless."""
    memory: int = 3072
    """MiB of the process."""
    seed: int = 0
    """libFuzzer's; 0 for another each time."""
    kept: Path | None = None
    """A folder whose folders hold each target's inputs of earlier runs, and get those of this one."""
    slow: float = SLOW
    """CPU seconds above which an input is written down."""
    loud: bool = False
    """Show libFuzzer's own words."""


@dataclass(frozen=True)
class Result:
    """One run of one target."""

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
    """The files of inputs at fault, slow, or deadly that this run wrote."""

    @property
    def plain(self) -> dict[str, Any]:
        """As one line of JSON has it."""
        return asdict(self)


def run_all(atheris: ModuleType, names: list[str], settings: Settings) -> Iterator[Result]:
    """Run each target; Atheris has to be loaded for all of them."""
    for name in names:
        yield run(atheris, name, settings)


def run(atheris: ModuleType, name: str, settings: Settings) -> Result:
    """Run one target to its number of inputs, going on behind inputs that end its process."""
    found = settings.found / inputs_of(name)
    found.mkdir(parents=True, exist_ok=True)
    before, total, begin = set(found.iterdir()), Counts(), time.monotonic()
    wanted = settings.runs or TARGETS[name].quick
    with tempfile.TemporaryDirectory() as scratch:
        grown = settings.kept / inputs_of(name) if settings.kept else Path(scratch) / "grown"
        grown.mkdir(parents=True, exist_ok=True)
        for _ in range(RESTARTS):
            shared = Shared()
            options = _options(name, settings, wanted - total.runs, Path(scratch), grown, found)
            code = _forked(atheris, name, options, found, shared, settings)
            total = _added(total, shared.read())
            if code == 0 or total.runs >= wanted:
                break
    took = time.monotonic() - begin
    files = sorted(str(path) for path in set(found.iterdir()) - before)
    if not any(found.iterdir()):
        found.rmdir()
    numbers = {**vars(total), "slowest": round(total.slowest, 4)}
    return Result(name, seconds=round(took, 1), a_second=round(total.runs / max(took, 1e-9)), inputs=files, **numbers)


def _added(one: Counts, other: Counts) -> Counts:
    worst = max(one, other, key=lambda counts: counts.slowest)
    return Counts(one.runs + other.runs, one.faults + other.faults, one.slow + other.slow, worst.slowest, worst.slowest_bytes)


def _options(name: str, settings: Settings, runs: int, scratch: Path, grown: Path, found: Path) -> list[str]:
    words = scratch / "words"
    words.write_text("".join(f'"{_escaped(token)}"\n' for token in TARGETS[name].tokens))
    seeds = [str(folder / inputs_of(name)) for folder in (CORPUS, FOUND) if (folder / inputs_of(name)).is_dir()]
    return [
        f"-runs={runs}",
        f"-max_len={TARGETS[name].longest}",
        f"-timeout={settings.timeout}",
        f"-rss_limit_mb={settings.memory}",
        f"-artifact_prefix={found}/",
        f"-dict={words}",
        "-len_control=20",
        "-verbosity=1" if settings.loud else "-verbosity=0",
        *([f"-seed={settings.seed}"] if settings.seed else []),
        str(grown),
        *seeds,
    ]


def _escaped(token: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in token)


def _forked(atheris: ModuleType, name: str, options: list[str], found: Path, shared: Shared, settings: Settings) -> int:
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
    """Copy the smallest inputs of ``grown``, up to ``most`` bytes in all, into ``into``; returns how many are new there.

    Each reached something that none before it did, and libFuzzer has put smaller ones that reach as much in the place of larger.
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
