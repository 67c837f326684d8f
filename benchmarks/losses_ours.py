"""What :mod:`benchmarks.losses` measures in processes of their own: peak memory, and a batch that two processes share."""

from __future__ import annotations

import argparse
import importlib.util
import json
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from components.models.contrastive import LossSettings, contrastive_loss

ROOT = Path(__file__).resolve().parents[1]
MIB = 2**20


def packages(peer: str) -> Path:
    """The folder of a peer's packages, made from its requirements the first time."""
    folder = ROOT / "data" / "benchmarks" / "environments" / peer
    wanted, stamp = ROOT / "benchmarks" / "peers" / peer / "requirements.txt", folder / "requirements.txt"
    if not stamp.exists() or stamp.read_bytes() != wanted.read_bytes():
        print(f"making the environment of {peer}", file=sys.stderr)
        shutil.rmtree(folder, ignore_errors=True)
        pip = [sys.executable, "-m", "pip", "install", "-qq", "--no-deps", "--target", folder, "-r", wanted]
        subprocess.run([str(word) for word in pip], check=True)
        shutil.copy(wanted, stamp)
    return folder


def open_clip() -> ModuleType:
    """open_clip's file of losses, by itself: the package would import torchvision."""
    spec = importlib.util.spec_from_file_location("open_clip_loss", packages("open_clip") / "open_clip" / "loss.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def embeddings(batch: int, width: int, device: str = "cpu") -> list[Tensor]:
    """Speech and images of a spread at which the softmax is neither flat nor decided, as leaves."""
    torch.manual_seed(0)
    return [(torch.randn(batch, width, device=device) * 1.5 / width**0.25).requires_grad_() for _ in range(2)]


def step_of(settings: LossSettings, sides: list[Tensor], identities: Tensor) -> Callable[[], float]:
    """Forward and backward of our loss; gives the loss."""

    def step() -> float:
        for side in sides:
            side.grad = None
        value = contrastive_loss(sides[0], sides[1], identities, settings, 0)
        value.backward()
        return value.detach().item()

    return step


def _resident(field: str) -> int:
    rows = Path("/proc/self/status").read_text().splitlines()
    return next(int(row.split()[1]) * 1024 for row in rows if row.startswith(field))


def memory(batch: int, width: int, chunk: int, device: str) -> dict[str, Any]:
    """Peak memory of a forward and backward pass, the embeddings and their gradients within it."""
    torch.set_num_threads(1)
    # Whatever a first call loads is not the loss's.
    step_of(LossSettings(chunk=min(chunk, 8)), embeddings(16, width, device), torch.arange(16, device=device))()
    if device == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
    else:
        before = _resident("VmRSS")
    begun = time.process_time()
    sides = embeddings(batch, width, device)
    value = step_of(LossSettings(chunk=chunk), sides, torch.arange(batch, device=device) // 2)()
    peak = torch.cuda.max_memory_allocated() if device == "cuda" else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    assert all(side.grad is not None and bool(side.grad.isfinite().all()) for side in sides)
    return {
        "batch": batch,
        "width": width,
        "way": f"chunks of {chunk}" if chunk else "dense",
        "full matrix MiB": batch * batch * 4 / MIB,
        "embeddings and gradients MiB": 4 * batch * width * 4 / MIB,
        "peak MiB": round((peak - before) / MIB),
        "peak / matrix": round((peak - before) / (batch * batch * 4), 3),
        "CPU s": round(time.process_time() - begun, 1),
        "loss": round(value, 4),
    }


def _shares(number: int, world: int, folder: str, batch: int, width: int, runs: int, device: str) -> None:
    torch.set_num_threads(1)
    dist.init_process_group(
        "nccl" if device == "cuda" else "gloo", init_method=f"file://{folder}/store", rank=number, world_size=world
    )
    place = f"cuda:{number}" if device == "cuda" else "cpu"
    sides = [side.detach()[number::world].clone().requires_grad_() for side in embeddings(batch, width, place)]
    identities = torch.arange(batch, device=place)[number::world]
    clip = open_clip().ClipLoss(local_loss=True, gather_with_grad=True, rank=number, world_size=world)

    def theirs() -> float:
        for side in sides:
            side.grad = None
        value = clip(sides[0], sides[1], 1.0)
        value.backward()
        return value.detach().item()

    alone = LossSettings(scope="device", margin=0.0)
    ways = {
        "ours": step_of(LossSettings(margin=0.0), sides, identities),
        "open_clip": theirs,
        "ours, nothing gathered": step_of(alone, sides, identities),
    }
    spent: dict[str, list[float]] = {name: [] for name in ways}
    values: dict[str, float] = {}
    for turn in range(-10, runs):
        for name, way in ways.items():
            dist.barrier()
            begun = time.perf_counter()
            values[name] = way()
            if turn >= 0:
                spent[name].append(time.perf_counter() - begun)
    if number == 0:
        pairs = [other / mine for mine, other in zip(spent["ours"], spent["open_clip"], strict=True)]
        found = {
            "processes": world,
            "batch": batch,
            "width": width,
            "clock, ms": {name: round(statistics.median(times) * 1e3, 3) for name, times in spent.items()},
            "open_clip / ours": round(statistics.median(spent["open_clip"]) / statistics.median(spent["ours"]), 2),
            "middle half of pairs": [
                round(float(value), 2) for value in torch.tensor(pairs).quantile(torch.tensor([0.25, 0.75]))
            ],
        }
        (Path(folder) / "found.json").write_text(json.dumps(found), encoding="utf-8")
    dist.destroy_process_group()


def gathered(batch: int, width: int, runs: int, device: str) -> dict[str, Any]:
    """A loss over two processes' batch by the clock, forward and backward, beside open_clip's in the same processes."""
    open_clip()
    with tempfile.TemporaryDirectory() as folder:
        torch.multiprocessing.spawn(_shares, (2, folder, batch, width, runs, device), nprocs=2)
        return dict(json.loads((Path(folder) / "found.json").read_text(encoding="utf-8")))


def main() -> None:
    """Print what was asked for as a JSON line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", choices=("memory", "gathered"))
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--width", type=int, required=True)
    parser.add_argument("--chunk", type=int, default=0)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    options = parser.parse_args()
    if options.work == "memory":
        print(json.dumps(memory(options.batch, options.width, options.chunk, options.device)))
    else:
        print(json.dumps(gathered(options.batch, options.width, options.runs, options.device)))


if __name__ == "__main__":
    main()
