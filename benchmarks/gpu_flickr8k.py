"""Flickr8k on one GPU in minutes: five captioners with three seeds, trained end to end, retrieval, and images a second.

::

    python -m benchmarks.gpu_flickr8k pack --data FLICKR8K --out PACK       # here, with the project's environment
    python -m benchmarks.gpu_flickr8k run --pack PACK --out OUT             # on the GPU: torch, numpy and Pillow
    python -m benchmarks.gpu_flickr8k run --pack PACK --out OUT --tiny      # anywhere: all of it in seconds, figures of no use

A run first compares the device with the processor on 50 images. The minutes left are divided over networks, phases and seeds, so
that it ends in time on any GPU. What is finished is written after every model, and a model that fails costs itself only. The test
split is read once for each model.
"""

from __future__ import annotations

import argparse
import csv
import json
import platform
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.gpu_data import BEAM, TINY, Data, Plan, cores, scores_of, texts, write_captions
from benchmarks.gpu_networks import Captioner, lite0_encoder, whole_views
from benchmarks.gpu_pack import CHECKED, ENCODER_SIDE, LIMIT, SIDE, Pack, read_pack, write_pack
from benchmarks.gpu_retrieval import retrieve
from benchmarks.gpu_throughput import ENCODER_ALONE, from_files, measure
from benchmarks.gpu_training import Training
from benchmarks.harness import show
from components.core.errors import HearsightError
from components.execution.resources import forbid_tf32
from components.models.beam import generate

NETWORKS = {"t2t8x8": 0.3, "aoanet": 0.25, "rnn8x8": 0.16, "t2t1x1": 0.15, "rnn1x1": 0.14}
"""Network → its share of the time, in the order in which they are trained."""
KEPT = "t2t8x8"
"""The network whose best weights are written."""
RETRIEVAL, LAST = 0.12, 0.03
"""Shares of the whole time: of retrieval, and of what is left at the end."""
TRAINED = 0.88
"""Share of a model's time in which it is trained; then it writes captions."""
ROUNDED, CLOSE, EQUAL = 0.03, 2e-3, 0.96
"""Largest relative difference of features from the project's, whose weights are not rounded; of features and losses from the
processor's; least share of equal captions (near ties may end otherwise by rounding)."""


class Differs(HearsightError):
    """The device computes something else than the processor."""


@dataclass
class Results:
    """What a run has found, in files."""

    folder: Path
    found: dict[str, Any]
    curve: list[dict[str, Any]] = field(default_factory=list)
    captions: dict[str, list[str]] = field(default_factory=dict)

    def add(self, kind: str, row: dict[str, Any]) -> None:
        """Add a row, print it, and write everything."""
        self.found.setdefault(kind, []).append(row)
        show(row)
        self.write()

    def write(self) -> None:
        """Write ``scores.json``, ``curves.csv`` and ``captions.json``."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "scores.json").write_text(json.dumps(self.found, indent=1), encoding="utf-8")
        (self.folder / "captions.json").write_text(json.dumps(self.captions), encoding="utf-8")
        if self.curve:
            with (self.folder / "curves.csv").open("w", encoding="utf-8", newline="") as file:
                writer = csv.DictWriter(file, list(self.curve[0]))
                writer.writeheader()
                writer.writerows(self.curve)

    def attempt(self, what: str, work: Callable[[], None]) -> None:
        """Do one part of the run; one that fails is noted and costs no other."""
        try:
            work()
        except Exception as error:  # whatever it is, the minutes left belong to the other parts
            traceback.print_exc()
            self.add("failed", {"failed": what, "error": f"{type(error).__name__}: {error}"[:300]})
            if torch.cuda.is_available():
                torch.cuda.empty_cache()


@dataclass
class Clock:
    """The time of a run."""

    minutes: float
    begin: float

    def left(self, reserve: float = 0.0) -> float:
        """Return the seconds left, but for a share of the whole that is reserved; at least 1."""
        return max(1.0, self.begin + 60 * self.minutes * (1 - reserve) - time.perf_counter())


def environment(device: torch.device) -> dict[str, Any]:
    """Return the hardware and the versions."""
    about = {"python": platform.python_version(), "torch": torch.__version__, "numpy": np.__version__, "cores": cores()}
    if device.type != "cuda":
        return about | {"device": "processor"}
    memory = f"{torch.cuda.get_device_properties(0).total_memory / 2**30:.0f} GiB"
    return about | {"device": torch.cuda.get_device_name(), "memory": memory, "cuda": torch.version.cuda}


def check(data: Data, seconds: float) -> dict[str, Any]:
    """Compare the device with the processor in float32 on 50 images: features, a loss, and captions of a network trained briefly.

    Raises:
        Differs: they are not the same up to rounding.
    """
    pack, device = data.pack, data.device
    pixels, words = data.pixels["train"][:CHECKED].cpu(), data.captions[:CHECKED].flatten(0, 1)
    encoder, views = lite0_encoder(pack.weights, ENCODER_SIDE), whole_views(pixels, ENCODER_SIDE)
    with torch.inference_mode():
        features = torch.cat([encoder.encode(view[None]) for view in views])
        theirs = encoder.to(device).encode(views.to(device)).cpu()
    expected = torch.from_numpy(pack.expected[: len(views)]).float()
    network = Training(data, KEPT, 0, seconds, phases=data.plan.phases[:1]).run().network
    twin = type(network)(network.config).eval()
    twin.load_state_dict({name: value.cpu() for name, value in network.state_dict().items()})
    cells, both = features[:, 1:], ((twin, torch.device("cpu")), (network, device))
    with torch.inference_mode():
        losses = [float(one.loss(cells.to(where), words.to(where))) for one, where in both]
    captions = [texts(pack, [best.words for best, *_ in generate(one, cells.to(where), beam=BEAM)]) for one, where in both]
    found = {
        "features, from the project's": difference(features[: len(expected), 0], expected),
        "features, from the processor's": difference(theirs, features),
        "loss, from the processor's": abs(losses[0] - losses[1]) / losses[0],
        "equal captions": sum(one == other for one, other in zip(*captions, strict=True)) / len(cells),
    }
    limits = (ROUNDED, CLOSE, CLOSE)
    wrong = [name for (name, value), limit in zip(found.items(), limits, strict=False) if not value <= limit]
    wrong += ["equal captions"] * (not found["equal captions"] >= EQUAL)
    if wrong:
        values = ", ".join(f"{name} {found[name]:.3g}" for name in wrong)
        raise Differs(f"results differ from the processor's: {values}", where=str(data.device), hint="nothing was trained")
    return {name: round(value, 6) for name, value in found.items()}


def difference(found: torch.Tensor, right: torch.Tensor) -> float:
    """Return the length of the difference relative to what is right."""
    return float((found - right).norm() / right.norm())


def train_network(data: Data, name: str, seconds: float, results: Results) -> None:
    """Train all seeds of a network, score each and their ensemble, and add their rows."""
    models: list[Captioner] = []
    best = -1.0
    for seed in data.plan.seeds:

        def one(seed: int = seed) -> None:
            nonlocal best
            training = Training(data, name, seed, TRAINED * seconds / (len(data.plan.seeds) + 0.5))
            try:
                model = training.run()
            finally:
                results.curve += training.curve
            models.append(model)
            speed: dict[str, Any] = {f"{phase}, images/s": round(rate) for phase, rate in training.rates.items()}
            for measured in results.found.get("throughput", ()):
                speed["share of the encoder's floor"] = round(training.rates["fine"] / measured[ENCODER_ALONE], 3)
            score(data, [model], f"{name}-{seed}", results, speed)
            if name == KEPT and training.best_score > best:
                best = training.best_score
                save(model, results.folder)

        results.attempt(f"{name}-{seed}", one)
    if len(models) > 1:
        results.attempt(f"{name}, ensemble", lambda: score(data, models, f"{name}, {len(models)} seeds", results, {}))


def score(data: Data, models: list[Captioner], name: str, results: Results, more: dict[str, Any]) -> None:
    """Write captions of validation and test images and add their scores."""
    row: dict[str, Any] = {"model": name}
    for split in ("validation", "test"):
        captions = write_captions(data, models, split)
        row |= {f"{split} {metric}": value for metric, value in scores_of(data, captions, split).items()}
        results.captions[f"{name} {split}"] = captions
    results.add("captioners" if more else "ensembles", row | more)


def save(model: Captioner, folder: Path) -> None:
    """Write the weights in half precision, the encoder's and the captioner's in a file each."""
    for name, part in (("encoder", model.encoder), ("captioner", model.network)):
        np.savez(folder / f"weights-{name}.npz", **{key: value.half().cpu().numpy() for key, value in part.state_dict().items()})
    (folder / "weights.json").write_text(json.dumps(model.network.config.plain()), encoding="utf-8")


def run(pack: Pack, out: Path, minutes: float, plan: Plan, device: torch.device) -> Results:
    """Do the whole run on a device.

    Raises:
        Differs: its results are not the processor's.
    """
    clock = Clock(minutes, time.perf_counter())
    forbid_tf32()
    torch.backends.cudnn.benchmark = True
    tiny = plan is TINY
    data = Data(pack, plan, device)
    data.features  # noqa: B018 - computed before a phase's clock runs
    results = Results(out, {"environment": environment(device), "plan": asdict(plan), "minutes": minutes})
    results.write()
    results.add("check", check(data, 25.0))
    results.attempt("throughput", lambda: results.add("throughput", measure(data, 1 if tiny else 10)))
    results.attempt("reading", lambda: results.add("reading", from_files(data, 64 if tiny else 12_000)))
    names = list(NETWORKS)
    for at, name in enumerate(names):
        share = NETWORKS[name] / sum(NETWORKS[later] for later in names[at:])
        train_network(data, name, share * clock.left(RETRIEVAL + LAST), results)
    rows = [(row, seed) for row in ("speech", "text") if row == "text" or len(pack.states) for seed in plan.seeds]
    for at, (row, seed) in enumerate(rows):
        given = row, seed, clock.left(LAST) / (len(rows) - at)
        results.attempt(f"retrieval {row}-{seed}", lambda given=given: results.add("retrieval", retrieve(data, *given)))
    results.found["seconds"] = round(time.perf_counter() - clock.begin, 1)
    results.write()
    return results


def main(words: list[str] | None = None) -> int:
    """Pack or run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    packing = commands.add_parser("pack", help="make the pack of a folder of Flickr8k")
    packing.add_argument("--data", type=Path, required=True, help="images/, Flickr8k.token.txt and the lists of splits")
    packing.add_argument("--out", type=Path, required=True, help=f"the pack, at most {LIMIT / 1e6:.0f} MB; keep it out of git")
    packing.add_argument("--states", type=Path, help="pooled states of utterances, for retrieval by speech")
    packing.add_argument("--side", type=int, default=SIDE, help="of the images, px")
    running = commands.add_parser("run", help="train and measure")
    running.add_argument("--pack", type=Path, required=True)
    running.add_argument("--out", type=Path, required=True, help="a folder for the results")
    running.add_argument("--minutes", type=float, default=8.0, help="for everything but the start of Python")
    running.add_argument("--tiny", action="store_true", help="few images and steps, on the processor if there is no GPU")
    chosen = parser.parse_args(words)
    try:
        if chosen.command == "pack":
            show(write_pack(chosen.data, chosen.out, chosen.states, chosen.side))
            return 0
        if not chosen.tiny and not torch.cuda.is_available():
            raise HearsightError("this machine has no GPU", hint="--tiny runs everything small on the processor")
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        results = run(read_pack(chosen.pack), chosen.out, chosen.minutes, TINY if chosen.tiny else Plan(), device)
    except HearsightError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return int("failed" in results.found)


if __name__ == "__main__":
    raise SystemExit(main())
