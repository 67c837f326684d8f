"""CPU time of stages on Ray with two workers against one: ``python -m benchmarks.ray_scaling [STAGE ...]``.

Run in a project that has run: the demo's, or one with more data. Each stage runs anew in a copy, with empty caches, on a cluster
of this machine with one worker and with two. Whatever two workers compute beyond what one computes is lost to distribution, so

    share of linear = CPU seconds with one worker / CPU seconds of both workers together

is 1 when the second worker halves the work of each. CPU time, since other programs on the machine change wall time. "items"
counts the work on shards and jobs; "processes" also the start of each worker process and its imports, which a second worker
repeats, so it nears "items" as the input grows. "driver" is the CPU time of the run itself, which is not divided. Outputs must be
equal.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from components.core.graph import find_root, load_graph
from components.execution import runner
from components.execution.ray_engine import RayEngine
from components.execution.resources import CORE, Resources

STAGES = ("crawl", "filter", "synthesize")
LINKED = ("components", "dvc.yaml", "expectations", "params.yaml", "experiments.yaml", "takedown.jsonl")


def cpu() -> float:
    """Return the CPU seconds of this process since its start and of its children that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def measured(work: Callable[[Any], Any], folder: Path, item: Any) -> Any:
    """Return ``work(item)``; append its CPU time, and that of the process so far, to the process's file."""
    before = cpu()
    result = work(item)
    with (folder / f"{os.uname().nodename}-{os.getpid()}.jsonl").open("a") as log:
        log.write(json.dumps([cpu() - before, cpu()]) + "\n")
    return result


class Measured(RayEngine):
    """The engine, measured."""

    def __init__(self, workers: int, folder: Path) -> None:
        super().__init__("local", workers)
        self.folder = folder

    def run(self, work: Callable[[Any], Any], items: Sequence[Any], resources: Resources = CORE) -> Iterator[tuple[int, Any]]:
        return super().run(partial(measured, work, self.folder), items, resources)


def run(root: Path, stage: str, dataset: str, workers: int, work: Path) -> dict[str, Any]:
    """Run a stage in a copy of the project; return CPU seconds and the output's digest."""
    copy = work / f"{stage}-{workers}"
    times = copy / "times"
    times.mkdir(parents=True)
    for name in LINKED:
        if (root / name).exists():
            (copy / name).symlink_to(root / name)
    # No stage changes another's output; the fetch store is completed by a crawl, and gates are files of the reports.
    for folder in (root / "data").iterdir():
        if folder.name == "store":
            shutil.copytree(folder, copy / "data" / "store")
        elif folder.name != dataset.partition("/")[0]:
            (copy / "data").mkdir(exist_ok=True)
            (copy / "data" / folder.name).symlink_to(folder)
    (copy / "data" / dataset).mkdir(parents=True)
    for folder in (root / "data" / dataset).iterdir():
        if folder.name != stage:
            (copy / "data" / dataset / folder.name).symlink_to(folder)
    shutil.copytree(root / "reports", copy / "reports")
    runner.make_engine = lambda path, content: Measured(workers, times)  # type: ignore[assignment]
    before = time.process_time()
    digest = runner.run_stage(copy, stage, dataset).manifest.digest
    driver = time.process_time() - before
    logs = [[json.loads(line) for line in path.read_text().splitlines()] for path in times.glob("*.jsonl")]
    items = [sum(item for item, _ in log) for log in logs]
    shutil.rmtree(copy)
    return {
        "digest": digest,
        "items": sum(items),
        "processes": sum(max(total for _, total in log) for log in logs),
        "busiest": max(items) / sum(items),
        "driver": driver,
    }


def main() -> None:
    """Measure the stages and print a line for each."""
    parser = argparse.ArgumentParser(description="CPU time of stages on Ray with two workers against one.")
    parser.add_argument("stages", nargs="*", default=list(STAGES))
    parser.add_argument("--dataset", default="english")
    chosen = parser.parse_args()
    root = find_root()
    load_graph(root)
    print(
        "| stage | items, one worker | two | share of linear | processes, one | two | share | driver, one | two | busier of two |"
    )
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    for stage in chosen.stages:
        with tempfile.TemporaryDirectory() as work:
            one, two = (run(root, stage, chosen.dataset, workers, Path(work)) for workers in (1, 2))
        assert one["digest"] == two["digest"], "the outputs differ"
        cells = [f"{each[kind]:.1f}" for kind in ("items", "processes") for each in (one, two)]
        shares = [f"{one[kind] / two[kind]:.3f}" for kind in ("items", "processes")]
        print(
            f"| {stage} | {cells[0]} | {cells[1]} | {shares[0]} | {cells[2]} | {cells[3]} | {shares[1]}"
            f" | {one['driver']:.1f} | {two['driver']:.1f} | {two['busiest']:.0%} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
