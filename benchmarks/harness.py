"""What all benchmarks share: runs in turns, medians, ratios, environments of peers, and figures as a Markdown table.

A benchmark prints its figures with :func:`show`. ``python -m benchmarks NAME --before DIR`` runs it over the code of another
checkout as well (:mod:`benchmarks.__main__`), so no benchmark needs to know of two.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

ROOT = Path(__file__).resolve().parents[1]
PEERS = ROOT / "benchmarks" / "peers"
WORK = ROOT / "data" / "benchmarks"
PACKAGES = ROOT / "data" / "packages" / "unpacked"
"""The sample's packages: ``hearsight data --benchmarks``."""
AS_JSON = "HEARSIGHT_BENCHMARK_JSON"
"""Set in the environment of a benchmark whose figures a program reads."""
SPREAD = "least and greatest"
"""Begins the name of a figure that has the range of a ratio over turns."""
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
Result = TypeVar("Result")


def project() -> Path:
    """Return the checkout whose code and settings are measured: the folder that the benchmark was started in."""
    return Path.cwd()


# -- processes -------------------------------------------------------------------------------------------------------------


def environment(peer: str) -> Path:
    """Return the Python of the peer's own environment, which is made from its requirements the first time."""
    folder = WORK / "environments" / peer
    python, stamp, requirements = folder / "bin" / "python", folder / "requirements.txt", PEERS / peer / "requirements.txt"
    wanted = requirements.read_text(encoding="utf-8")
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != wanted:
        print(f"making the environment of {peer}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "-qq", "-r", requirements], check=True)
        stamp.write_text(wanted, encoding="utf-8")
    return python


def measured(*command: Any, env: Mapping[str, str] | None = None, stdin: str | None = None) -> dict[str, Any]:
    """Run a process of its own and return the JSON object that its last line is; what failed is printed and ends this one."""
    # Bytecode is kept on either side, else the start is a compiler's time.
    surroundings = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | dict(env or {})
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=project(), env=surroundings, input=stdin, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)}\n{done.stderr[-4000:]}")
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))


def ours(module: str) -> list[str]:
    """Return the start of a command that runs a module of this package in a process of its own."""
    return [sys.executable, "-m", f"benchmarks.{module}"]


# -- time and memory -------------------------------------------------------------------------------------------------------


def children_cpu() -> float:
    """Return the CPU seconds, user and system, of all ended processes that this one waited for, and of theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def cpu_and_wall(*command: Any, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> tuple[float, float, int]:
    """Run a command with its output in the null device; return CPU seconds of its processes, wall seconds and exit code."""
    words, before, start = [str(word) for word in command], children_cpu(), time.perf_counter()
    null = subprocess.DEVNULL
    code = subprocess.run(words, cwd=cwd, env=env, stdin=null, stdout=null, stderr=null, check=False).returncode
    return children_cpu() - before, time.perf_counter() - start, code


def peak_bytes() -> int:
    """Return the most resident bytes of this process (``ru_maxrss`` also counts the process that it was forked from)."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return 1024 * int(status.partition("VmHWM:")[2].split()[0])


def seconds(work: Callable[[], Any], clock: Callable[[], float] = time.process_time) -> float:
    """Return what one call takes, in CPU seconds of this process unless another clock is given."""
    start = clock()
    work()
    return clock() - start


def in_turns(ways: Mapping[str, Callable[[], Result]], runs: int, warm: int = 0) -> dict[str, list[Result]]:
    """Call every way ``runs`` times, one after the other, after ``warm`` rounds whose results are dropped."""
    results: dict[str, list[Result]] = {name: [] for name in ways}
    for number in range(-warm, runs):
        for name, way in ways.items():
            result = way()
            if number >= 0:
                results[name].append(result)
    return results


def beside(spent: Mapping[str, Sequence[float]], own: str = "ours", digits: int = 2) -> dict[str, float | str]:
    """Return how many times as long each other way took as ``own``: ratio of medians, with the least and greatest turn."""
    row: dict[str, float | str] = {}
    for name, times in spent.items():
        if name != own:
            turns = [other / one for one, other in zip(spent[own], times, strict=True) if one]
            ratio = statistics.median(times) / (statistics.median(spent[own]) or float("nan"))
            row[f"{name} / {own}"] = round(ratio, digits)
            row[f"{SPREAD} of {name}"] = f"{min(turns):.{digits}f}, {max(turns):.{digits}f}" if turns else ""
    return row


def medians(spent: Mapping[str, Sequence[float]], unit: str, factor: float = 1.0, digits: int = 3) -> dict[str, float]:
    """Return the median of each way, times ``factor``, as figures named with their unit."""
    return {f"{name}, {unit}": round(statistics.median(times) * factor, digits) for name, times in spent.items()}


def column(rows: Iterable[Mapping[str, Any]], name: str) -> list[float]:
    """Return one figure of each row."""
    return [float(row[name]) for row in rows]


# -- tables ----------------------------------------------------------------------------------------------------------------


def flat(row: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the figures of a row; those of a mapping within it with both names."""
    for name, value in row.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{prefix}{name}: ")
        else:
            yield f"{prefix}{name}", value


def cell(value: Any) -> str:
    """Return a figure as it stands in a table."""
    if isinstance(value, list | tuple):
        return ", ".join(map(cell, value))
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"
    return str(value).replace("|", "/")


_columns: list[str] = []


def show(row: Mapping[str, Any]) -> None:
    """Print a row of figures as Markdown, below a head if its columns differ from those of the row before."""
    figures = dict(flat(row))
    if os.environ.get(AS_JSON):
        print(json.dumps(figures, ensure_ascii=False, default=str), flush=True)
        return
    if list(figures) != _columns:
        print("\n| " + " | ".join(figures) + " |\n" + "|---" * len(figures) + "|")
        _columns[:] = figures
    print("| " + " | ".join(map(cell, figures.values())) + " |", flush=True)
