"""What whole runs cost in two checkouts, and whether two finished demos are equal.

python -m benchmarks.runs time BEFORE NOW [--steps repro flow]   # CPU and wall of each step in both folders, in turns
python -m benchmarks.runs compare BEFORE NOW                     # counts, captions, splits and scores; exit 1 where they differ

Each folder is a checkout with its own environment (``make setup`` there; ``make .venv/.ready-dev`` for tests). ``demo`` begins
with ``make clean``, which removes what earlier runs made; ``repro`` and ``flow`` need a finished demo and do nothing then. CPU
time is that of all processes, servers that a step leaves behind included: they are ended after their time was read.
"""

from __future__ import annotations

import argparse
import csv
import ctypes
import json
import os
import shlex
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.harness import children_cpu, in_turns, show

STEPS = {
    "demo": "make demo",
    "repro": "dvc repro",
    "flow": "python -m flows.pipeline",
    "test": "make test",
    "test-long": "make test-long",
}
"""Step → its command, with the folder's environment first in ``PATH``."""
NOT_OUTPUTS = ("packages", "store", "benchmarks", "none")
NOT_COMPARED = frozenset({"time", "wall_seconds", "cpu_seconds"})
"""Columns of the clock."""
TOLERANCE = 1e-6
PR_SET_CHILD_SUBREAPER = 36
TICK = os.sysconf("SC_CLK_TCK")


# -- time ------------------------------------------------------------------------------------------------------------------


def descendants() -> dict[int, float]:
    """Return the CPU seconds, with those of ended children, of each process below this one."""
    parents: dict[int, tuple[int, float]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(path.parent.name)] = int(fields[1]), sum(map(int, fields[11:15])) / TICK
    found: dict[int, float] = {}
    frontier = {os.getpid()}
    while frontier:
        frontier = {process for process, (parent, _) in parents.items() if parent in frontier}
        found |= {process: parents[process][1] for process in frontier}
    return found


def end_left_behind(known: Iterable[int]) -> float:
    """End every process below this one but the ``known``; return the CPU seconds that no wait for them told."""
    reap()
    left = {process: spent for process, spent in descendants().items() if process not in known}
    before = children_cpu()
    for sign in (signal.SIGTERM, signal.SIGKILL):
        for process in left.keys() & descendants().keys():
            os.kill(process, sign)
        deadline = time.monotonic() + 10
        while left.keys() & descendants().keys() and time.monotonic() < deadline:
            reap()
            time.sleep(0.05)
    return max(0.0, sum(left.values()) - (children_cpu() - before))


def reap() -> None:
    """Wait for every child that has ended, so that its time is counted."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def cost(command: str, folder: Path, log: Path) -> dict[str, float]:
    """Run a command in a folder with that folder's environment; return its CPU and wall seconds, its output goes to ``log``."""
    others = [place for place in os.environ["PATH"].split(os.pathsep) if not place.endswith("/.venv/bin")]
    env = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "PYTHONPATH", "MAKEFLAGS")}
    env |= {"PATH": os.pathsep.join([str(folder / ".venv" / "bin"), *others]), "DVC_NO_ANALYTICS": "1"}
    known = descendants().keys()
    used, start = children_cpu(), time.perf_counter()
    with log.open("ab") as file:
        done = subprocess.run(
            shlex.split(command), cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=file, stderr=file, check=False
        )
    wall = time.perf_counter() - start
    left = end_left_behind(known)
    if done.returncode:
        raise SystemExit(f"{command} failed in {folder}: {log} has its output")
    return {"cpu": children_cpu() - used + left, "wall": wall}


def run_step(step: str, command: str, folder: Path, logs: Path) -> dict[str, float]:
    """Prepare and measure one step in one folder."""
    log = logs / f"{step}.{folder.name}.log"
    if step == "demo":
        cost("make clean", folder, log)
    print(f"{step} in {folder}", file=sys.stderr, flush=True)
    return cost(command, folder, log)


def measure(folders: Mapping[str, Path], steps: Mapping[str, str], turns: int, logs: Path) -> None:
    """Print a row a step: medians of both folders and their ratio, now / before."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for step, command in steps.items():
        load = os.getloadavg()[0]
        ways = {side: partial(run_step, step, command, folder, logs) for side, folder in folders.items()}
        found = in_turns(ways, 1 if step == "demo" or step.startswith("test") else turns)
        row: dict[str, Any] = {"step": step}
        for clock in ("cpu", "wall"):
            middle = {side: statistics.median(run[clock] for run in runs) for side, runs in found.items()}
            row |= {f"{side}, {clock} s": round(value, 1) for side, value in middle.items()}
            row[f"now / before, {clock}"] = round(middle["now"] / middle["before"], 2)
        show(row | {"load at the start": round(load, 1)})


# -- equality --------------------------------------------------------------------------------------------------------------


def outputs(folder: Path) -> dict[str, Path]:
    """Return each finished output of a project by its address below ``data``."""
    found = sorted((folder / "data").rglob("manifest.json"))
    places = {path.parent.relative_to(folder / "data").as_posix(): path.parent for path in found}
    return {name: place for name, place in places.items() if name.split("/")[0] not in NOT_OUTPUTS}


def read_records(place: Path) -> pa.Table:
    """Return the records of all shards of an output, by key; an output without shards has none."""
    tables = [pq.read_table(path) for path in sorted((place / "shards").glob("*.parquet"))]
    table = pa.concat_tables(tables, promote_options="default") if tables else pa.table({"key": pa.array([], pa.string())})
    return table.sort_by("key")


def counts(place: Path) -> dict[str, Any]:
    """Return rows of records and ledgers, and what was kept and dropped, as the manifest states them."""
    manifest = json.loads((place / "manifest.json").read_text(encoding="utf-8"))
    shards = manifest["shards"]
    rows = {"records": sum(shard["rows"] for shard in shards)}
    rows["ledger rows"] = sum(shard["ledger"]["rows"] for shard in shards if shard.get("ledger"))
    return rows | {"counts": manifest["counts"]}


def differences(before: Path, now: Path) -> Iterator[str]:
    """Yield what differs between two outputs: counts, keys, and the number of records that differ in each column of both."""
    one, other = counts(before), counts(now)
    for name, value in one.items():
        if value != other[name]:
            yield f"{name}: {json.dumps(value)} and {json.dumps(other[name])}"
    tables = read_records(before), read_records(now)
    keys = [table["key"].to_pylist() for table in tables]
    if keys[0] != keys[1]:
        both = set(keys[0]) & set(keys[1])
        yield f"keys: {len(keys[0]) - len(both)} only before, {len(keys[1]) - len(both)} only now"
        return
    for name in tables[0].column_names:
        if name in tables[1].column_names and name not in NOT_COMPARED:
            pairs = zip(*(table[name].to_pylist() for table in tables), strict=True)
            if wrong := sum(not same(mine, theirs) for mine, theirs in pairs):
                yield f"{name}: {wrong} of {len(keys[0])} records"


def same(one: Any, other: Any) -> bool:
    """Return whether two values are equal; numbers may differ by a millionth of them."""
    if isinstance(one, float) and isinstance(other, float):
        return one == other or abs(one - other) <= TOLERANCE * max(abs(one), abs(other)) or (one != one and other != other)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(value, other[name]) for name, value in one.items())
    return bool(one == other)


def tables(folder: Path) -> dict[str, Path]:
    """Return the scores of stages and the tables below ``reports``."""
    found = [*(folder / "data").glob("**/evaluate_*/scores.json"), *(folder / "reports").rglob("*.csv")]
    return {path.relative_to(folder).as_posix(): path for path in sorted(found)}


def read_report(path: Path) -> Any:
    """Return the values of a report, with numbers as numbers."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        return json.loads(text)
    return [
        {name: number(value) for name, value in row.items() if name not in NOT_COMPARED}
        for row in csv.DictReader(text.splitlines())
    ]


def number(text: str | None) -> float | str | None:
    """Return a cell as a number if it is one."""
    try:
        return float(text or "")
    except ValueError:
        return text


def compare_reports(before: Path, now: Path) -> Iterator[str]:
    """Yield what differs between two reports."""
    one, other = read_report(before), read_report(now)
    if not same(one, other):
        if isinstance(one, list) and isinstance(other, list):
            equal = sum(map(same, one, other))
            yield f"{max(len(one), len(other)) - equal} of {len(one)} and {len(other)} rows"
        else:
            yield "scores"


def compare(before: Path, now: Path) -> int:
    """Print each output and report that differs; return how many do."""
    wrong = 0
    for kind, listed, compared in (("output", outputs, differences), ("report", tables, compare_reports)):
        sides = listed(before), listed(now)
        for name in sorted(sides[0].keys() | sides[1].keys()):
            if name in sides[0] and name in sides[1]:
                found: Iterable[str] = compared(sides[0][name], sides[1][name])
            else:
                found = [f"only {'before' if name in sides[0] else 'now'}"]
            for line in found:
                show({kind: name, "differs in": line})
                wrong += 1
        records = sum(counts(place)["records"] for place in sides[1].values()) if kind == "output" else ""
        show({"compared": f"{kind}s", "before": len(sides[0]), "now": len(sides[1]), "records": records})
    show({"verdict": "different" if wrong else "equal", "differences": wrong})
    return wrong


def main() -> None:
    """Measure or compare two folders."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("time", "compare"))
    parser.add_argument("before", type=Path, help="checkout of the commit before")
    parser.add_argument("now", type=Path)
    parser.add_argument("--steps", nargs="+", choices=STEPS, default=["demo", "repro", "flow", "test"])
    parser.add_argument("--turns", type=int, default=3, help="of steps that do nothing; the demo and the tests run once")
    parser.add_argument("--command", nargs="+", default=[], metavar="STEP=COMMAND", help="another command for a step")
    parser.add_argument("--logs", type=Path, default=Path("/tmp"), help="folder for the steps' output")
    options = parser.parse_args()
    folders = {"before": options.before.resolve(), "now": options.now.resolve()}
    if options.what == "compare":
        raise SystemExit(int(bool(compare(**folders))))
    commands = STEPS | dict(given.split("=", 1) for given in options.command)
    measure(folders, {step: commands[step] for step in options.steps}, options.turns, options.logs)


if __name__ == "__main__":
    main()
