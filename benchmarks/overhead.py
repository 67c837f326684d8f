"""``python -m benchmarks.overhead``: CPU seconds of what every stage run, check and `dvc repro` costs beside its work.

Run in a project that has run, at least in part. Measures user and system time of whole process trees, the check server's share
included, so a busy machine changes little. The stage run is that of the smallest output of the stage ``split``.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

from components.core.graph import find_root, load_graph

ENTRY = [sys.executable, "-m", "components.cli.entry"]
QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def cpu_of(*command: str, **environment: str) -> float:
    """CPU seconds of a command and its children that it waited for."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, env={**os.environ, "DVC_NO_ANALYTICS": "1", **environment}, **QUIET)  # type: ignore[call-overload]
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def cpu_of_servers(root: Path) -> float:
    """CPU seconds so far of this project's check servers and of the forks they waited for."""
    total, ticks = 0.0, os.sysconf("SC_CLK_TCK")
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes()
            mine = b"components.cli.check_server" in words and (process / "cwd").resolve() == root / ".hearsight" / "warm"
            if mine:
                fields = (process / "stat").read_text().rpartition(")")[2].split()
                total += sum(map(int, fields[11:15])) / ticks
        except OSError:
            continue
    return total


def main() -> None:
    """Print one JSON line a figure."""
    root = find_root()
    os.chdir(root)
    graph = load_graph(root)
    finished = [
        (dataset, stage)
        for dataset in graph.datasets
        for stage in graph.stages_of(dataset)
        if (graph.output(stage, dataset) / "manifest.json").exists() and (root / "expectations" / f"{stage}.json").exists()
    ]
    tell("a command that does nothing (s)", cpu_of(*ENTRY, "--help"))
    tell("an import of the runner (s)", cpu_of(sys.executable, "-c", "import components.execution.runner"))
    for dataset in [dataset for dataset, stage in finished if stage == "split"][:1]:
        command = [*ENTRY, "run", "split", "--dataset", dataset]
        tell(
            f"run split of {dataset}, its work included (s)", min(cpu_of(*command, HEARSIGHT_TRACKING="queue") for _ in range(3))
        )
    started, clients = cpu_of_servers(root), 0.0
    cpu_of(*ENTRY, "check", finished[0][1], "--dataset", finished[0][0])  # starts the server
    time.sleep(1.5)  # the server takes leave of its last fork when it next looks
    before = cpu_of_servers(root)
    tell("the first check's server and fork (s)", before - started)
    for dataset, stage in finished:
        clients += cpu_of(*ENTRY, "check", stage, "--dataset", dataset)
    time.sleep(1.5)
    tell(
        f"a check, mean of {len(finished)}, the server being there (s)", (clients + cpu_of_servers(root) - before) / len(finished)
    )
    tell_repro(2 * len([*graph.outputs()]))


def tell_repro(stages: int) -> None:
    """Print the cost of `dvc repro` with nothing to do, beside that of as many stages with one file in and one out."""
    repro = (sys.executable, "-m", "dvc", "repro")
    try:
        tell("dvc repro with nothing to do (s)", min(cpu_of(*repro) for _ in range(3)))
    except subprocess.CalledProcessError:
        print(json.dumps({"figure": "dvc repro with nothing to do", "missing": "run `dvc repro` to its end first"}))
    back = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        subprocess.run([sys.executable, "-m", "dvc", "init", "-q", "--no-scm"], check=True)
        Path("in").write_text("1")
        bare = {f"s{n}": {"cmd": f"cp in out{n}", "deps": ["in"], "outs": [f"out{n}"]} for n in range(stages)}
        Path("dvc.yaml").write_text(yaml.safe_dump({"stages": bare}))
        cpu_of(*repro)
        tell(f"the same with {stages} stages of one small file each (s)", min(cpu_of(*repro) for _ in range(3)))
        os.chdir(back)


def tell(figure: str, value: float) -> None:
    """Print one figure."""
    print(json.dumps({"figure": figure, "value": round(value, 3)}), flush=True)


if __name__ == "__main__":
    main()
