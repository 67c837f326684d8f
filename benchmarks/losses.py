"""The losses of CSC: memory, time as a share of a training step, and beside peers: ``python -m benchmarks.losses``.

``memory``: peak of a forward and backward pass in a process of its own, the embeddings and their gradients within it, beside
a B × B matrix in single precision. ``time``: forward and backward from embeddings to their gradients, in turns in one process,
CPU time (by the clock on a GPU), medians; the peers know neither matches nor margins, so there are none, and all must give the
same value. ``step``: a training step of two Inception-ResNet-v2 towers (pictures of 299 px, MFCCs of 3 × 128 × 350; Adam), the
loss of as many pairs, and the loss over a batch that two processes share, beside open_clip's. One thread. The figures go to
``benchmarks/results/losses-<device>.json``.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import torch
from torch.nn import functional as F

from benchmarks.irv2 import hardware
from benchmarks.losses_ours import embeddings, open_clip, packages, step_of
from components.models.contrastive import LossSettings, contrastive_loss
from components.models.inception_resnet_v2 import InceptionResnetV2
from components.models.masked_margin_softmax import masked_margin_softmax
from components.models.matching import positives_mask

ROOT = Path(__file__).resolve().parents[1]
WIDTH = 1536
CHUNK = 256


def in_turns(runs: int, ways: dict[str, Callable[[], Any]], device: str) -> dict[str, list[float]]:
    """Seconds of each way, CPU time or on a GPU by the clock, one after another, after two turns that are not counted."""
    spent: dict[str, list[float]] = {name: [] for name in ways}
    clock = time.perf_counter if device == "cuda" else time.process_time
    for turn in range(-2, runs):
        for name in sorted(ways, reverse=turn % 2 == 1):
            if device == "cuda":
                torch.cuda.synchronize()
            begun = clock()
            ways[name]()
            if device == "cuda":
                torch.cuda.synchronize()
            if turn >= 0:
                spent[name].append(clock() - begun)
    return spent


def apart(*words: str) -> dict[str, Any]:
    """What :mod:`benchmarks.losses_ours` prints in a process of its own."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.losses_ours", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def memory(device: str, full: bool) -> list[dict[str, Any]]:
    """Dense where it fits, chunked there and at 32,768."""
    sizes = [(4096, 256, 0), (4096, 256, CHUNK), (8192, WIDTH, 0), (8192, WIDTH, CHUNK), (32768, 256, CHUNK)]
    sizes += [(32768, WIDTH, CHUNK)] if full else []
    words = ("--batch", "--width", "--chunk")
    return [
        apart("memory", "--device", device, *(str(word) for pair in zip(words, size, strict=True) for word in pair))
        for size in sizes
    ]


def compared(batch: int, runs: int, device: str) -> dict[str, Any]:
    """Ways to the same loss, and the triplet's, from embeddings of one batch."""
    sides, numbers = embeddings(batch, WIDTH, device), torch.arange(batch, device=device)
    clip, temperature = open_clip().ClipLoss(), torch.ones((), device=device)

    def stepping(loss: Callable[[], torch.Tensor]) -> Callable[[], float]:
        def step() -> float:
            for side in sides:
                side.grad = None
            value = loss()
            value.backward()
            return value.detach().item()

        return step

    plain = LossSettings(margin=0.0)
    ways: dict[str, Callable[[], Any]] = {
        "ours": step_of(plain, sides, numbers),
        f"ours, chunks of {CHUNK}": step_of(LossSettings(margin=0.0, chunk=CHUNK), sides, numbers),
        "ours, of a matrix of scores": stepping(
            lambda: masked_margin_softmax(sides[0] @ sides[1].T, positives_mask(numbers, numbers), 0.0)
        ),
        "ours, triplet": step_of(LossSettings(loss="triplet"), sides, numbers),
        "open_clip": stepping(lambda: clip(sides[0], sides[1], temperature)),
    }
    same = [way() for name, way in ways.items() if name.startswith("ours") and "triplet" not in name]
    assert max(abs(value - 2 * ways["open_clip"]()) for value in same) < 1e-4 * abs(same[0]), "the two are not the same loss"
    if batch <= 256:
        # It lists every positive pair with every negative: B² (B - 1) numbers, 4.3 GB at 1,024.
        sys.path.append(str(packages("pytorch_metric_learning")))
        from pytorch_metric_learning.distances import DotProductSimilarity
        from pytorch_metric_learning.losses import NTXentLoss
        from pytorch_metric_learning.reducers import MeanReducer

        # Its default leaves pairs of no loss out of the mean.
        metric = NTXentLoss(1.0, distance=DotProductSimilarity(normalize_embeddings=False), reducer=MeanReducer())

        # The very same labels twice would mean a set beside itself, where an item is no match of its own.
        others = numbers.clone()

        def both() -> torch.Tensor:
            one: torch.Tensor = metric(sides[0], numbers, ref_emb=sides[1], ref_labels=others)
            return one + metric(sides[1], numbers, ref_emb=sides[0], ref_labels=others)

        ways["pytorch-metric-learning"] = stepping(both)
        assert abs(same[0] - ways["pytorch-metric-learning"]()) < 1e-4 * abs(same[0]), "the two are not the same loss"
    spent = in_turns(runs, ways, device)
    median = {name: statistics.median(times) for name, times in spent.items()}
    line: dict[str, Any] = {"batch": batch, "width": WIDTH, "ms": {name: round(value * 1e3, 3) for name, value in median.items()}}
    for peer in ("open_clip", "pytorch-metric-learning"):
        if peer in spent:
            pairs = [other / mine for mine, other in zip(spent["ours"], spent[peer], strict=True)]
            line[f"{peer} / ours"] = round(median[peer] / median["ours"], 2)
            line[f"{peer} / ours, pairs"] = [round(min(pairs), 2), round(max(pairs), 2)]
    return line


def step(batch: int, runs: int, device: str) -> dict[str, Any]:
    """A training step of two towers, whole, and of it the loss; and the loss of 48 that two processes share."""
    torch.manual_seed(0)
    towers = [InceptionResnetV2(classes=0).to(device) for _ in range(2)]
    pixels = torch.randn(batch, 3, 299, 299, device=device)
    mfcc = torch.randn(batch, 1, 128, 350, device=device).expand(-1, 3, -1, -1).contiguous()
    numbers, settings = torch.arange(batch, device=device), LossSettings()
    optimiser = torch.optim.Adam([weight for tower in towers for weight in tower.parameters()], lr=1e-3, fused=True)

    def whole() -> None:
        optimiser.zero_grad(set_to_none=True)
        with torch.autocast(device, torch.bfloat16) if device == "cuda" else nullcontext():
            found = [F.normalize(tower(inputs), dim=1) * 4 for tower, inputs in zip(towers, (mfcc, pixels), strict=True)]
            contrastive_loss(found[0], found[1], numbers, settings, 0).backward()
        optimiser.step()

    wholes = in_turns(runs, {"step": whole}, device)["step"]
    losses = {
        f"loss of {size}": step_of(settings, embeddings(size, WIDTH, device), torch.arange(size, device=device))
        for size in (batch, 48)
    }
    spent = {name: statistics.median(times) for name, times in in_turns(50, losses, device).items()}
    median = statistics.median(wholes)
    line: dict[str, Any] = {
        "batch": batch,
        "step, s": round(median, 4),
        "least and greatest": [round(f(wholes), 4) for f in (min, max)],
    }
    line["ms"] = {name: round(value * 1e3, 3) for name, value in spent.items()}
    line["loss, share of the step"] = float(f"{spent[f'loss of {batch}'] / median:.2g}")
    line["loss of 48, share of 48 pairs' steps"] = float(f"{spent['loss of 48'] / (median * 48 / batch):.2g}")
    if device == "cpu" or torch.cuda.device_count() > 1:
        shared = apart("gathered", "--batch", "48", "--width", str(WIDTH), "--device", device)
        line["shared by two processes"] = shared
        # Each process takes 24 pairs through the towers.
        line["loss and gather, share of 24 pairs' steps"] = float(
            f"{shared['clock, ms']['ours'] / 1e3 / (median * 24 / batch):.2g}"
        )
    return line


def main() -> None:
    """Print a line a measurement, and write them all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--only", choices=("memory", "time", "step"))
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--batch", type=int, help="pairs a step of the towers (8; on a GPU 48)")
    parser.add_argument("--short", action="store_true", help="without the 32,768 of width 1536, two minutes on one core")
    options = parser.parse_args()
    if options.device == "cuda" and not torch.cuda.is_available():
        raise SystemExit("no GPU that torch can use")
    torch.set_num_threads(1)
    found: dict[str, Any] = {"hardware": hardware(options.device)}
    if options.only in (None, "memory"):
        found["memory"] = memory(options.device, not options.short)
    if options.only in (None, "time"):
        sizes = ((48, 20), (256, 5), (1024, 1), (4096, 1))
        found["time"] = [compared(batch, options.runs * more, options.device) for batch, more in sizes]
    if options.only in (None, "step"):
        found["step"] = [step(options.batch or {"cpu": 8, "cuda": 48}[options.device], options.runs, options.device)]
    for name, lines in found.items():
        for line in lines if isinstance(lines, list) else [lines]:
            print(json.dumps({name: line}, ensure_ascii=False), flush=True)
    path = ROOT / "benchmarks" / "results" / f"losses-{options.device}.json"
    if options.only and path.exists():
        found = json.loads(path.read_text(encoding="utf-8")) | found
    path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
