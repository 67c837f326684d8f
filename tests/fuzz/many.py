"""All targets with many inputs, several at a time: `python -m tests.fuzz.many --runs 1000000`, which is `make fuzz`.

Results are written per target with a digest of the code. A further call skips targets already run with the same code and at
least as many inputs, so an interrupted run resumes. Inputs that reached new code are kept for the next run.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

from tests.fuzz.targets import TARGETS
from tests.support import PROJECT

HOME = PROJECT / "data" / "fuzz"
DONE = HOME / "done.jsonl"


@cache
def code_digest() -> str:
    """Return one digest of all code that a run executes."""
    digest = hashlib.sha256()
    for folder in ("components", "tests/fuzz"):
        for path in sorted((PROJECT / folder).rglob("*.py")):
            digest.update(path.relative_to(PROJECT).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    digest.update((PROJECT / "requirements-dev.lock").read_bytes())
    return digest.hexdigest()[:16]


def finished(done: Path, runs: int) -> dict[str, dict[str, Any]]:
    """Return target → result for targets run with this code and at least this many inputs."""
    rows = [json.loads(line) for line in done.read_text(encoding="utf-8").splitlines()] if done.exists() else []
    return {row["target"]: row for row in rows if row["code"] == code_digest() and row["runs"] >= runs}


def run_one(name: str, runs: int) -> dict[str, Any]:
    """Run one target in its own process and return its result, which is recorded unless the process was killed."""
    command = [sys.executable, "-m", "tests.fuzz", name, "--runs", str(runs), "--grown", str(HOME / "grown")]
    process = subprocess.run(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True, check=False)
    try:
        row = json.loads(process.stdout.splitlines()[-1])
    except (ValueError, IndexError):
        return {"target": name, "runs": 0, "faults": 1, "inputs": [], "problem": f"ended with {process.returncode}"}
    row["code"] = code_digest()
    with DONE.open("a", encoding="utf-8") as handle:
        handle.write(json.dumps(row) + "\n")
    return row


def main() -> int:
    """Run the remaining targets; the exit status is 1, with a list of inputs, if one failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.many", description=__doc__)
    parser.add_argument("--runs", type=int, default=1_000_000, help="inputs per target")
    parser.add_argument("--at-a-time", type=int, default=2, help="targets run concurrently")
    arguments = parser.parse_args()
    HOME.mkdir(parents=True, exist_ok=True)
    rows = finished(DONE, arguments.runs)
    with ThreadPoolExecutor(arguments.at_a_time) as pool:
        for row in pool.map(lambda name: run_one(name, arguments.runs), [name for name in TARGETS if name not in rows]):
            rows[row["target"]] = row
            print(json.dumps(row), flush=True)
    print(f"{len(rows)} targets, {sum(row['runs'] for row in rows.values())} inputs")
    failed = {name: row for name, row in rows.items() if row["faults"] or row["inputs"]}
    for name, row in failed.items():
        print(f"{name}: {row.get('problem') or ' '.join(row['inputs']) or 'a known fault'}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
