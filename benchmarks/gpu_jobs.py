"""Trainings of three seeds get GPUs of their own: ``python -m benchmarks.gpu_jobs``, on a machine with at least one GPU.

On one GPU the three run one after the other, on three at once. Each engine trains a small captioner for three seeds on GPUs and,
for comparison, on the processor. Prints a line a training: GPUs seen, memory used, times, final loss and its difference from
the processor's. Exit code 1 when two trainings used one GPU at the same time, one saw another number of GPUs than one, did not
compute on it, or its first losses differ by more than 2 %.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from components.core.errors import HearsightError
from components.execution.engine import Engine, LocalEngine
from components.execution.ray_engine import RayEngine
from components.execution.resources import Resources, local_gpus
from components.execution.stage import Job
from components.training.settings import Hardware
from tests.support import make_stage
from tests.support.execution.gpu_shares import shared_at_once
from tests.support.train_captioner.project import prepared, spec_of

SEEDS = (0, 1, 2)
LARGEST, COMPARED = 0.02, 3
"""Largest relative difference of an epoch's loss on a GPU from the processor's, and the first epochs that are compared: rounding
differs, and this small training enlarges the difference from step to step."""
ABOUT = "about.json"


def train(spec: dict[str, Any], task: Any, folder: Path) -> None:
    """Train one captioner and write what it ran on."""
    import torch  # here: CUDA starts in the workers only

    from components.stages.train_captioner.jobs import train_captioner

    begun = time.time()
    train_captioner(spec, task, folder)
    on_gpu = task.params.device() == "gpu"
    about = {
        "gpus": f"{os.uname().nodename}:{os.environ['CUDA_VISIBLE_DEVICES']}",
        "seen": torch.cuda.device_count(),
        "name": torch.cuda.get_device_name() if on_gpu else "processor",
        "bytes": torch.cuda.max_memory_allocated() if on_gpu else 0,
        "begun": begun,
        "ended": time.time(),
    }
    (folder / ABOUT).write_text(json.dumps(about))


def run(engine: Engine, root: Path, accelerator: Any) -> list[dict[str, Any]]:
    """Train all seeds; return what each ran on and its losses."""
    hardware = Hardware(accelerator=accelerator)
    stage = make_stage(root, "train_captioner", inputs={"input": prepared(root, training=64)}, engine=engine)
    changes: dict[str, Any] = {"dropout": 0.0, "epochs": 20, "batch": 16, "width": 64}
    changes["self_critical"] = {"epochs": 0, "batch": 4, "samples": 2, "baseline": "mean", "learning_rate": 0.001}
    spec = spec_of(**changes)
    with engine.open(root, root / "lock", [root]):
        folders = stage.jobs(
            train,
            [Job(f"t2t8x8-{seed}", spec | {"seed": seed}) for seed in SEEDS],
            step="models",
            params=hardware,
            version=1,
            resources=hardware.resources(engine),
        )
    found = []
    for folder in folders:
        lines = (folder / "history.csv").read_text().splitlines()[1:]
        found.append(json.loads((folder / ABOUT).read_text()) | {"losses": [float(line.split(",")[2]) for line in lines]})
    return found


def main() -> int:
    """Run both engines and print the table."""
    if not local_gpus():
        print("this machine has no GPU", file=sys.stderr)
        return 2
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        reference = run(LocalEngine(0), Path(folder) / "cpu", "cpu")
        for engine in (LocalEngine(0), RayEngine("local")):
            results = run(engine, Path(folder) / engine.name, "gpu")
            start = min(one["begun"] for one in results)
            print(f"engine {engine.name}, {len(local_gpus())} GPU(s):")
            for seed, one, other in zip(SEEDS, results, reference, strict=True):
                pairs = zip(one["losses"][:COMPARED], other["losses"][:COMPARED], strict=True)
                difference = max(abs(ours - theirs) / theirs for ours, theirs in pairs)
                times = f"{one['begun'] - start:.1f} to {one['ended'] - start:.1f} s"
                print(
                    f"  seed {seed}: {one['gpus']} ({one['name']}), sees {one['seen']}, {one['bytes'] / 2**20:.1f} MiB, {times},"
                    f" last loss {one['losses'][-1]:.4f}, first {COMPARED} at most {difference:.2%} from the processor's"
                )
                failed |= one["seen"] != 1 or not one["bytes"] or difference > LARGEST
            shared = shared_at_once([(one["gpus"], one["begun"], one["ended"]) for one in results])
            print(f"  trainings on one GPU at the same time: {len(shared)}")
            failed |= bool(shared)
    many = Resources(gpus=len(local_gpus()) + 1)
    try:
        list(LocalEngine(0).run(len, [""], many))
        failed = True
    except HearsightError as error:
        print(f"one GPU too many: {error}")
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main())
