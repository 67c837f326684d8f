"""Training a dual encoder beside the bound that its towers set: ``python -m benchmarks.dual_encoder`` (``--device cuda``).

A set is written through the project's own writers: 16 kHz FLAC of 4 to 8 s in a made language, two utterances a picture; JPEGs of
640 × 480, or features as EfficientNet-lite0 gives them (3 views × 1280, float16). ``full`` is ``DualEncoderTraining`` as ``fit``
runs it: reading processes, crops, MFCCs, SpecAugment, both towers there and back, the masked margin softmax, Adam; pairs a
second by the clock between the steps that follow two of warming up. The bound is 1 / (1 / a + 1 / b) of the rates a and b that
each tower reaches alone on one synthetic batch of the same shape that lies ready: there, back, Adam. The three take turns;
figures are ratios of medians over the runs, and beside them the same ratio in CPU time of the training process, which others'
work on the cores moves less.

The parts of a step are measured one by one (CPU time; on a GPU by the clock, waited for): reading is what a reading process does.
``--gather`` measures the loss over two processes (gloo; NCCL where there are two GPUs), with what they exchange.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from benchmarks.learnability_world import SYNTHETIC, Language, source_of, utter
from components.core.addresses import PREPARED_FILE
from components.core.digests import sha256_bytes
from components.models.augment import spec_augment
from components.models.contrastive import LossSettings, contrastive_loss
from components.models.dual_encoder import DualEncoder, DualEncoderConfig
from components.retrieval.items import Batch, Coefficients, PairItems
from components.retrieval.pairs import Pairs, SpokenSet, read_pairs
from components.retrieval.recipe import DualEncoderTraining
from components.speech.audio.files import from_flac, to_flac
from components.training.fit import fit
from components.training.settings import REFERENCE, Hardware
from tests.support import row

PICTURES, VOICES, FRAMES, RATE_HZ = 96, 2, 350, 16_000
WARM = 2
"""Steps that are not timed."""
SETTINGS = {"optimiser": "adam", "learning_rate": 1e-4, "warm_up_steps": 0, "decay_per_1000": 0.999}
SETTINGS |= {"weight_decay": 4e-5, "clip_gradient": 0.0}


def made_set(root: Path, kind: str) -> Pairs:
    """A spoken set on the disk, as pairs."""
    from tests.support.retrieval.world import output

    language, rows, prepared = Language(0), [], []
    clips: dict[str, bytes] = {}
    files: dict[str, bytes] = {}
    ending = "npy" if kind == "features" else "jpg"
    for number in range(PICTURES):
        source = source_of("dual_encoder", number)
        data = _features(source) if kind == "features" else _photograph(source)
        sha = sha256_bytes(data)
        files[f"{sha}.{ending}"] = data
        told = {"split": "train", "group": f"g{number}", "caption": f"caption {number}", "language": "en", "image_sha256": sha}
        prepared.append(row("extract_features", key=f"{number:04d}", media=f"00000/{sha}.{ending}", **told))
        for voice in range(VOICES):
            key = f"{number:04d}.{voice}"
            names = list(language.words.values())
            words = [names[place] for place in source.integers(0, len(names), 30)]
            samples = np.resize(utter(words, SYNTHETIC, source), round(source.uniform(4.0, 8.0) * RATE_HZ))
            clips[f"{key}.flac"] = to_flac(samples)
            rows.append(row("synthesize", key=key, record=f"{number:04d}", media=f"00000/{key}.flac", **told))
    encoder = {"name": "efficientnet_lite0", "side": 256, "trained": kind != "features"}
    made = {PREPARED_FILE: json.dumps({"wording": "text", "encoder": encoder}).encode()}
    return read_pairs(
        [SpokenSet(output(root, "synthesize", kind, rows, clips), output(root, "extract_features", kind, prepared, files, made))],
        "train",
        ["picture"],
    )


def _features(source: np.random.Generator) -> bytes:
    target = io.BytesIO()
    np.save(target, source.standard_normal((3, 1, 1280), dtype=np.float32).astype(np.float16))
    return target.getvalue()


def _photograph(source: np.random.Generator) -> bytes:
    """Noise that was blurred: as much to decode as a photograph has."""
    from PIL import Image

    target = io.BytesIO()
    small = Image.fromarray(source.integers(0, 256, (60, 80, 3), dtype=np.uint8))
    small.resize((640, 480), Image.Resampling.BICUBIC).save(target, "JPEG", quality=90)
    return target.getvalue()


class Timed(DualEncoderTraining):
    """A recipe that notes when each step ends, by the clock and in CPU time of this process."""

    marks: list[tuple[float, float]]

    def on_train_batch_end(self, *_: Any) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize()
        self.marks.append((time.perf_counter(), time.process_time()))


class Bench:
    """One pair of towers over one set."""

    def __init__(
        self, options: argparse.Namespace, name: str, pairs: Pairs, config: DualEncoderConfig, batch: int, held: int
    ) -> None:
        self.options, self.name, self.pairs, self.config, self.batch, self.held = options, name, pairs, config, batch, held
        self.device = torch.device(options.device)
        on_gpu = self.device.type == "cuda"
        changes = {"workers": options.workers, "threads": options.threads, "accelerator": "gpu" if on_gpu else "cpu"}
        changes |= {"precision": options.precision, "channels_last": options.channels_last, "compile": options.compile}
        self.hardware: Hardware = REFERENCE.model_copy(update=changes)
        torch.manual_seed(0)
        self.network = DualEncoder(config)
        self.coefficients = Coefficients(pairs, held)
        mean, deviation = self.coefficients.statistics(0)
        self.network.speech.mean.copy_(mean)
        self.network.speech.deviation.copy_(deviation)
        self.items = self.items_of(np.arange(len(pairs)))
        self.ready = Batch(*(part.to(self.device) for part in self.items.__getitems__([(0, item) for item in range(batch)])))

    def items_of(self, rows: Any) -> PairItems:
        """Pairs as training reads them."""
        side = self.config.picture_side
        fixed = self.network.speech.padding_counts or self.options.compile
        return PairItems(self.pairs, self.coefficients, rows, seed=0, frames=FRAMES, side=side, training=True, fixed=fixed)

    def full(self, steps: int) -> tuple[float, float]:
        """Seconds a pair of training as ``fit`` runs it: by the clock, and CPU seconds of the training process."""
        # One epoch, so that neither its beginning nor the checkpoint at its end is timed: of a real one they are next to nothing.
        items = self.items_of(np.resize(np.arange(len(self.pairs)), self.batch * (steps + WARM)))
        nothing = self.items_of(np.arange(0))
        settings = SETTINGS | {"batch": self.batch, "epochs": 1}
        recipe = Timed(self.network, settings, 0, loss=LossSettings(), masks=(20, 40), training=items, validation=nothing)
        recipe.marks = []
        with tempfile.TemporaryDirectory() as folder:
            fit(recipe, items, Path(folder), self.hardware)
        self.network.to(self.device)
        first, last = recipe.marks[WARM - 1], recipe.marks[-1]
        return (last[0] - first[0]) / (steps * self.batch), (last[1] - first[1]) / (steps * self.batch)

    def tower(self, which: str, steps: int) -> tuple[float, float]:
        """Seconds a pair of one tower alone, there, back and Adam: by the clock and in CPU time."""
        network = self.network.to(self.device).train()
        tower: nn.Module = getattr(network, which)
        optimiser = torch.optim.Adam(tower.parameters(), lr=0.0)
        given = (self.ready.speech, self.ready.lengths) if which == "speech" else (self.ready.pictures,)
        for number in range(-1, steps):
            if number == 0:
                begun = self._now()
            with torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=self.hardware.precision == "bf16"):
                found = tower(*given)
            found.float().square().mean().backward()
            optimiser.step()
            optimiser.zero_grad()
        ended = self._now()
        return (ended[0] - begun[0]) / (steps * self.batch), (ended[1] - begun[1]) / (steps * self.batch)

    def _now(self) -> tuple[float, float]:
        if self.device.type == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter(), time.process_time()

    def compare(self) -> None:
        """A JSON line: rates, the bound, and what share of it training reaches."""
        torch.set_num_threads(self.options.threads)
        runs: dict[str, list[tuple[float, float]]] = {"full": [], "speech": [], "image": []}
        for number in range(self.options.runs):
            for name in ("speech", "full", "image") if number % 2 else ("image", "full", "speech"):
                steps = self.options.steps
                runs[name].append(self.full(steps) if name == "full" else self.tower(name, steps))
        line: dict[str, Any] = {"what": self.name, "batch": self.batch, "held": self.held, "device": self._device()}
        for which, unit in enumerate(("by the clock", "in CPU time")):
            median = {name: statistics.median(run[which] for run in found) for name, found in runs.items()}
            each = [
                (speech[which] + image[which]) / full[which]
                for full, speech, image in zip(runs["full"], runs["speech"], runs["image"], strict=True)
            ]
            bound = median["speech"] + median["image"]
            line[unit] = {
                "speech tower alone, pairs/s": round(1 / median["speech"], 2),
                "image tower alone, pairs/s": round(1 / median["image"], 2),
                "bound, pairs/s": round(1 / bound, 2),
                "training, pairs/s": round(1 / median["full"], 2),
                "training / bound": round(bound / median["full"], 3),
                "runs": [round(min(each), 3), round(max(each), 3)],
            }
        print(json.dumps(line), flush=True)
        print(json.dumps({"what": self.name, "held": self.held, "parts, ms a pair": self.parts()}), flush=True)

    def _device(self) -> str:
        if self.device.type == "cuda":
            return f"{torch.cuda.get_device_name()}, {self.hardware.precision}"
        return f"cpu, {os.cpu_count()} cores, {self.options.threads} thread, {self.options.workers} reading"

    def parts(self) -> dict[str, float]:
        """Milliseconds a pair of each part of a step, and the share of the loss."""
        network, ready, pairs = self.network.to(self.device).train(), self.ready, self.pairs
        some = list(range(self.batch))
        optimiser = torch.optim.Adam(network.parameters(), lr=0.0)
        sounds = [torch.from_numpy(from_flac(pairs.audio.read(item)))[: FRAMES * RATE_HZ // 100] for item in some]
        wanted = [(1, self.items.key(item), int(pairs.picture[item])) for item in some]
        transform = self.coefficients.transform
        vectors = [torch.randn(self.batch, self.config.embedding, device=self.device, requires_grad=True) for _ in range(2)]

        def masks() -> Any:
            normal = network.speech.normalise(ready.speech, ready.lengths)
            return spec_augment(normal, ready.lengths, frequency=20, time=40)

        def towers() -> None:
            with torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=self.hardware.precision == "bf16"):
                found = network.speech(ready.speech, ready.lengths), network.image(ready.pictures)
            (found[0].float().square().mean() + found[1].float().square().mean()).backward()

        ways: dict[str, Callable[[], Any]] = {
            "reading: FLAC, whole": lambda: [from_flac(pairs.audio.read(item)) for item in some],
            "reading: MFCC of what is seen": lambda: [transform(sound[None]) for sound in sounds],
            "reading: pictures": lambda: self.items.pictures(wanted),
            "reading: all": lambda: self.items.__getitems__([(1, item) for item in some]),
            "masks": masks,
            "towers": towers,
            "loss": lambda: contrastive_loss(vectors[0], vectors[1], ready.identities, LossSettings(), 0).backward(),
            "optimiser": optimiser.step,
        }
        spent: dict[str, list[float]] = {name: [] for name in ways}
        which = 0 if self.device.type == "cuda" else 1
        for number in range(-1, self.options.runs):
            for name, way in ways.items():
                begun = self._now()[which]
                way()
                if number >= 0:
                    spent[name].append((self._now()[which] - begun) / self.batch)
        found = {name: round(statistics.median(times) * 1000, 4) for name, times in spent.items()}
        step = sum(found[name] for name in ("masks", "towers", "loss", "optimiser"))
        return found | {"loss / step": round(found["loss"] / step, 5), "reading / step": round(found["reading: all"] / step, 4)}


def gathered(rank: int, processes: int, batch: int, embedding: int, runs: int, folder: str, cuda: bool) -> None:
    """Milliseconds of the loss of ``batch`` pairs that several processes share, there and back: clock, CPU time of one."""
    torch.set_num_threads(1)
    device = torch.device("cuda", rank) if cuda else torch.device("cpu")
    if cuda:
        torch.cuda.set_device(device)
    torch.distributed.init_process_group(
        "nccl" if cuda else "gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=processes
    )
    own = batch // processes
    vectors = [torch.randn(own, embedding, device=device, requires_grad=True) for _ in range(2)]
    identities = torch.arange(rank, batch, processes, device=device)
    spent: dict[str, list[tuple[float, float]]] = {"global": [], "device": []}
    for number in range(-3, runs):
        for scope, times in spent.items():
            torch.distributed.barrier()
            begun, cpu = time.perf_counter(), time.process_time()
            contrastive_loss(vectors[0], vectors[1], identities, LossSettings(scope=scope), 0).backward()  # type: ignore[arg-type]
            if cuda:
                torch.cuda.synchronize()
            if number >= 0:
                times.append(((time.perf_counter() - begun) * 1000, (time.process_time() - cpu) * 1000))
    if rank == 0:
        median = {
            f"{scope}, ms a step": [round(statistics.median(way), 3) for way in zip(*times, strict=True)]
            for scope, times in spent.items()
        }
        print(
            json.dumps({"what": f"loss over {processes} processes", "batch": batch, "embedding": embedding} | median), flush=True
        )
    torch.distributed.destroy_process_group()


def main() -> None:
    """Print two lines a pair of towers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--towers", choices=("light", "inception", "both"), default="both")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--steps", type=int, default=0, help="timed, of each run; 0: 12, and 2 of Inception-ResNet-v2")
    parser.add_argument("--batch", type=int, default=0, help="0: 48, and 4 of Inception-ResNet-v2 on the processor")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--precision", choices=("32", "bf16"), default="32")
    parser.add_argument("--channels-last", action="store_true")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--gather", action="store_true", help="only the loss over two processes")
    options = parser.parse_args()
    cuda = options.device.startswith("cuda")
    with tempfile.TemporaryDirectory() as folder:
        if options.gather:
            for batch, embedding in ((48, 256), (48, 1536), (1024, 1536)):
                place = tempfile.mkdtemp(dir=folder)
                torch.multiprocessing.spawn(gathered, (2, batch, embedding, 50, place, cuda), nprocs=2)
            return
        if options.towers != "inception":
            pairs = made_set(Path(folder) / "features", "features")
            light = DualEncoderConfig(embedding=256, scale=16.0, dropout=0.2)
            chosen = argparse.Namespace(**vars(options) | {"steps": options.steps or 12})
            for held in (2000, 0):
                Bench(chosen, "light towers over features", pairs, light, options.batch or 48, held).compare()
        if options.towers != "light":
            pairs = made_set(Path(folder) / "pictures", "pictures")
            paper = DualEncoderConfig(speech="inception_resnet_v2", image="inception_resnet_v2")
            chosen = argparse.Namespace(**vars(options) | {"steps": options.steps or (24 if cuda else 2)})
            Bench(chosen, "Inception-ResNet-v2 towers", pairs, paper, options.batch or (48 if cuda else 4), 0).compare()


if __name__ == "__main__":
    main()
