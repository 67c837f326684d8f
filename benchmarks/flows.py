"""What a flow costs when nothing has changed, and whether stages that start at once fail on DVC's locks.

python -m benchmarks.flows noop          # in a finished project: seconds of a flow beyond the start of its server
python -m benchmarks.flows locks         # eight stages at once, 50 times, in a repository of their own
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import yaml

from components.core.graph import find_root
from flows.commands import BUSY
from flows.server import reach_server

STAGES = 8


def measure_noop(repeats: int) -> None:
    """Print the wall and processor seconds of flows in this process, the first of which starts a temporary server."""
    root = find_root()
    reach_server(root)
    os.environ.setdefault("PREFECT_LOGGING_LEVEL", "WARNING")
    started, ticks = time.perf_counter(), time.process_time()
    from flows.flow import pipeline

    tell("imports (s)", time.perf_counter() - started, time.process_time() - ticks)
    for number in range(repeats + 1):
        started, ticks = time.perf_counter(), time.process_time()
        stages = pipeline()
        what = f"flow {number} of {stages} stages (s)" if number else "first flow, with the start of its server (s)"
        tell(what, time.perf_counter() - started, time.process_time() - ticks)


def measure_locks(repeats: int) -> None:
    """Start eight independent stages at once, again and again, and print how many starts DVC's locks refused.

    Each is a fork of this process, which has imported DVC: a new interpreter's imports would keep the eight apart.
    """
    import dvc.cli
    import dvc.repo.reproduce  # noqa: F401

    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        subprocess.run(["git", "init", "-q"], check=True)
        subprocess.run([sys.executable, "-m", "dvc", "init", "-q"], check=True)
        stages = {f"s{n}": {"cmd": f"cp source s{n}", "deps": ["source"], "outs": [f"s{n}"]} for n in range(STAGES)}
        Path("dvc.yaml").write_text(yaml.safe_dump({"stages": stages}))
        refused: Counter[str] = Counter()
        took = []
        for number in range(repeats):
            Path("source").write_text(str(number))
            started = time.perf_counter()
            children = [(stage, fork_dvc(stage)) for stage in stages]
            codes = {stage: os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for stage, child in children}
            took.append(time.perf_counter() - started)
            print(f"round {number + 1}: {took[-1]:.1f} s", file=sys.stderr, flush=True)
            for stage in (stage for stage, code in codes.items() if code):
                line = BUSY.search(Path(f"{stage}.log").read_text())
                refused[line[0] if line else "another error"] += 1
            wrong = [stage for stage, code in codes.items() if not code and Path(stage).read_text() != str(number)]
            entries = yaml.safe_load(Path("dvc.lock").read_text())["stages"] if Path("dvc.lock").exists() else {}
            lost = [stage for stage, code in codes.items() if not code and stage not in entries]
            refused["a wrong output or a lost entry"] += len(wrong) + len(lost)
        print(json.dumps({"starts": repeats * STAGES, "refused": {k: v for k, v in refused.items() if v}}))
        tell("eight at once (s)", statistics.median(took))
        os.chdir("/")


def fork_dvc(stage: str) -> int:
    """Start ``dvc --wait-for-lock repro -s STAGE`` in a fork; return its process."""
    import dvc.cli

    child = os.fork()
    if child:
        return child
    log = os.open(f"{stage}.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(log, 1)
    os.dup2(log, 2)
    code = 255
    try:
        code = dvc.cli.main(["--wait-for-lock", "repro", "-s", stage])
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def tell(figure: str, wall: float, processor: float | None = None) -> None:
    """Print one figure."""
    more = {} if processor is None else {"processor": round(processor, 2)}
    print(json.dumps({"figure": figure, "value": round(wall, 2), **more}), flush=True)


def main() -> None:
    """Print one JSON line a figure."""
    parser = argparse.ArgumentParser(description=re.sub(r"\n.*", "", __doc__ or ""))
    parser.add_argument("what", choices=("noop", "locks"))
    parser.add_argument("--repeats", type=int, default=0, help="3 flows, or 50 rounds, unless given")
    chosen = parser.parse_args()
    if chosen.what == "noop":
        measure_noop(chosen.repeats or 3)
    else:
        measure_locks(chosen.repeats or 50)


if __name__ == "__main__":
    main()
