"""Whether three of the paper's claims hold on a small made world: ``python -m benchmarks.learnability``.

1. At batch 48 the masked margin softmax finds the right one first 1.5 times as often as the triplet loss (CSC, table 1).
2. With the masked margin softmax R@10 rises from batch 12 over 24 to 48 (table 1).
3. Learning the other kind of the world from few pairs, both towers from a trained model reach at least the R@10 of either one,
   and either one at least that of neither (table 2).

The world is ``benchmarks.learnability_world``'s; the language, every draw and the first weights follow from the seed. Models are
trained by the project's own recipe and ``fit``, a thread each; the towers are the light ones, "convolutions" twice, compared by
their raw dot product. All batches take equally many steps, as in the paper (3 million): a larger one sees more pairs. Its
schedules of learning rate and margin are squeezed to that number. What the paper leaves open, and the learning rate, is chosen
on validation pairs of a seed that no figure is of, with as much care for the triplet loss and for cold starts (``--tune``). Test
pairs are looked at once, at the end. The towers are taken from the model of the masked margin softmax at batch 48.

A figure is the mean of both directions, over 256 test pairs whose combinations no training pair shows. Intervals are 95 %, of
Student's t over the seeds; those of the ratio over its logarithms.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import multiprocessing
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from scipy.stats import t as student

from benchmarks.learnability_world import HUMAN, SIDE, SPLITS, SYNTHETIC, Kind, Pair, pairs_of
from components.core.seeded_rng import seeded_rng
from components.models.contrastive import LossSettings
from components.models.dual_encoder import DualEncoder, DualEncoderConfig
from components.models.dual_encoder_files import LoadedDualEncoder, warm_start
from components.models.mfcc import MFCC, MfccSettings
from components.retrieval.items import Batch
from components.retrieval.recipe import DualEncoderTraining
from components.retrieval.settings import STARTS
from components.training.fit import fit
from components.training.recipe import reseed

FEATURES = MfccSettings(window=640, hop=320, filters=64, coefficients=40)
"""Half the paper's frames, of a third of its coefficients: words differ by more than that, and a step costs a third."""
FRAMES, MASKS, SHIFT = 100, (6, 10), 2
"""20 ms each, what a clip is cropped to; SpecAugment's F and T, about the paper's shares of coefficients and frames; px that a
picture is moved by at most."""
STEPS, FEW_STEPS = 960, 640
"""With all pairs, and with few."""
GROWTH, DECAY = 1.002**3000, 0.999**3000
"""Over a training: of the margin and of the learning rate, the paper's over its 3 million steps."""
TUNED_ON = (100,)
"""A seed that no figure is of."""


class Choice(NamedTuple):
    """What a model is trained with."""

    loss: str = "masked_margin_softmax"
    batch: int = 48
    rate: float = 1e-3
    margin: float = 1.0
    """Of the triplet loss."""
    scale: float = 0.0
    """0: the raw dot product."""


MMS = Choice(rate=1.5e-3)
"""The best of ``--tune``; as it turned out, for every start from few pairs, too."""
TRIPLET = Choice("triplet", rate=1.5e-3)
TRIPLET_MARGINS = (1.0, 5.0)
"""The best by R@1 and the best by R@10: both are run, and the better one on the test pairs is what the first claim is held to."""
BATCHES = (12, 24, 48)


class Items(torch.utils.data.Dataset[Any]):
    """Pairs whose coefficients are computed once; in training clips are cropped, pictures moved and their light changed."""

    by_epoch = True

    def __init__(self, pairs: Sequence[Pair], seed: int, *, training: bool) -> None:
        self.keys, self.seed, self.training = [pair.key for pair in pairs], seed, training
        transform = MFCC(FEATURES)
        self.clips = [transform(torch.from_numpy(pair.samples)[None])[0][0] for pair in pairs]
        around = ((0, 0), (SHIFT, SHIFT), (SHIFT, SHIFT))
        self.seen = [np.pad(pair.picture, around, "edge") for pair in pairs]

    def __len__(self) -> int:
        return len(self.keys)

    def key(self, item: int) -> str:
        """Of the pair."""
        return self.keys[item]

    def __getitems__(self, pairs: Sequence[tuple[int, int]]) -> Batch:
        clips, pictures, light = [], [], np.ones(len(pairs), dtype=np.float32)
        for place, (epoch, item) in enumerate(pairs):
            clip, left, top = self.clips[item], SHIFT, SHIFT
            if self.training:
                source = seeded_rng(self.seed, epoch, self.keys[item])
                clip = clip[:, source.randrange(max(1, clip.shape[1] - FRAMES + 1)) :]
                left, top = (source.randrange(2 * SHIFT + 1) for _ in range(2))
                light[place] = source.uniform(0.8, 1.2)
            clips.append(clip[:, :FRAMES])
            pictures.append(self.seen[item][:, top : top + SIDE, left : left + SIDE])
        lit = np.minimum(np.stack(pictures) * light[:, None, None, None], 255.0).astype(np.uint8)
        items, lengths = torch.tensor([item for _, item in pairs]), torch.tensor([clip.shape[1] for clip in clips])
        speech = torch.zeros(len(clips), clips[0].shape[0], int(lengths.max()))
        for row, clip in zip(speech, clips, strict=True):
            row[:, : clip.shape[1]] = clip
        return Batch(items, speech, lengths, torch.from_numpy(lit), items)

    def statistics(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Mean and deviation of each coefficient, as the speech tower keeps them."""
        every = torch.cat(self.clips, dim=1)
        return every.mean(1, keepdim=True), every.std(1, keepdim=True)


def items_of(seed: int, split: str, kind: Kind, limit: int | None = None) -> Items:
    """A split as data to learn from, or to be tested with."""
    return Items(pairs_of(seed, split, kind, limit), seed, training=split in ("train", "few"))


def build(seed: int, items: Items, choice: Choice, source: DualEncoder | None = None, start: str = "none") -> DualEncoder:
    """A network to train; ``start`` says which towers come from ``source``. Equal seeds begin from the same weights."""
    reseed(seed, "learnability", "weights")
    config = DualEncoderConfig(
        image="convolutions",
        side=SIDE,
        channels=64,
        layers=3,
        embedding=128,
        scale=choice.scale,
        coefficients=FEATURES.coefficients,
    )
    network = DualEncoder(config)
    mean, deviation = items.statistics()
    network.speech.mean.copy_(mean)
    network.speech.deviation.copy_(deviation)
    if source is not None:
        warm_start(network, LoadedDualEncoder(source, {}), STARTS[start])
    return network


def train(network: DualEncoder, items: Items, choice: Choice, steps: int, seed: int) -> DualEncoder:
    """The trained network, as the last step leaves it."""
    batches = len(items) // choice.batch
    settings = {
        "epochs": max(1, steps // batches),
        "batch": choice.batch,
        "optimiser": "adam",
        "learning_rate": choice.rate,
        "warm_up_steps": 0,
        "decay_per_1000": DECAY ** (1000 / steps),
        "weight_decay": 4e-5,
        "clip_gradient": 0.0,
    }
    loss = LossSettings(loss=choice.loss, margin_factor=GROWTH, margin_every=steps, triplet_margin=choice.margin)  # type: ignore[arg-type]
    nothing: Any = Items([], seed, training=False)
    training: Any = items
    recipe = DualEncoderTraining(network, settings, seed, loss=loss, masks=MASKS, training=training, validation=nothing)
    with tempfile.TemporaryDirectory() as folder:
        fit(recipe, items, Path(folder))
    return network


@torch.inference_mode()
def recall(network: DualEncoder, items: Items) -> dict[str, float]:
    """R@1 and R@10, the mean of both directions, of a set whose pairs are each other's only answers; ties are lost."""
    network.eval()
    batch = items.__getitems__([(0, item) for item in range(len(items))])
    scores = (network.embed_speech(batch.speech, batch.lengths) @ network.embed_images(batch.pictures).T).numpy()
    ranks = np.stack([(way >= way.diagonal()[:, None]).sum(1) for way in (scores, scores.T)])
    return {f"R@{depth}": float((ranks <= depth).mean()) for depth in (1, 10)}


def tune(seeds: Sequence[int]) -> None:
    """A JSON line a choice: recalls of validation pairs, means over seeds; the best has the highest mean of R@1 and R@10."""
    rates = (5e-4, 1.5e-3, 4.5e-3)
    sets = {seed: [items_of(seed, split, SYNTHETIC) for split in ("train", "validation")] for seed in seeds}
    models = {}
    choices = [MMS._replace(rate=rate) for rate in rates]
    choices += [TRIPLET._replace(margin=margin, rate=rate) for margin, rate in itertools.product((0.2, 1.0, 5.0, 20.0), rates)]
    for choice in choices:
        found = []
        for seed, (training, judging) in sets.items():
            models[choice, seed] = train(build(seed, training, choice), training, choice, STEPS, seed)
            found.append(recall(models[choice, seed], judging))
        print(json.dumps(choice._asdict() | means(found)), flush=True)
    few = {seed: [items_of(seed, split, HUMAN) for split in ("few", "validation")] for seed in seeds}
    for start, rate in itertools.product(STARTS, (1.5e-4, 5e-4, 1.5e-3)):
        found = []
        for seed, (training, judging) in few.items():
            network = build(seed, training, MMS, models[MMS, seed], start)
            found.append(recall(train(network, training, MMS._replace(rate=rate), FEW_STEPS, seed), judging))
        print(json.dumps({"start": start, "rate": rate} | means(found)), flush=True)


def means(found: Sequence[dict[str, float]]) -> dict[str, float]:
    """Of each figure."""
    return {name: round(statistics.fmean(one[name] for one in found), 4) for name in found[0]}


class Job(NamedTuple):
    """A seed, and how much of the whole is done: a smoke run is too short for its figures to mean anything."""

    seed: int
    scale: float
    quick: bool


def one_seed(job: Job) -> dict[str, dict[str, float]]:
    """Every model of a seed: its recalls of the test pairs."""
    torch.set_num_threads(1)
    seed, limit = job.seed, 96 if job.quick else None
    shorter = 16 if job.quick else 1
    training, testing = items_of(seed, "train", SYNTHETIC, limit), items_of(seed, "test", SYNTHETIC, limit)
    found = {}
    rows = {f"mms-{batch}": MMS._replace(batch=batch) for batch in BATCHES}
    rows |= {f"triplet-48, margin {margin:g}": TRIPLET._replace(margin=margin) for margin in TRIPLET_MARGINS}
    for name, choice in rows.items():
        chosen = choice._replace(scale=job.scale)
        source = train(build(seed, training, chosen), training, chosen, STEPS // shorter, seed)
        found[name] = recall(source, testing)
        if name == "mms-48":
            trained = source
    few, testing = items_of(seed, "few", HUMAN, limit), items_of(seed, "test", HUMAN, limit)
    for start in STARTS:
        chosen = MMS._replace(scale=job.scale)
        network = build(seed, few, chosen, trained, start)
        found[f"start {start}"] = recall(train(network, few, chosen, FEW_STEPS // shorter, seed), testing)
    return found


def interval(values: Sequence[float]) -> tuple[float, float, float]:
    """The mean and its 95 % interval by Student's t; of one value the interval is everything."""
    middle = statistics.fmean(values)
    if len(values) < 2:
        return middle, -math.inf, math.inf
    half = float(student.ppf(0.975, len(values) - 1)) * statistics.stdev(values) / math.sqrt(len(values))
    return middle, middle - half, middle + half


def report(seeds: Sequence[int], found: Sequence[dict[str, dict[str, float]]]) -> None:
    """The table, then the claims."""
    for figure in ("R@1", "R@10"):
        print(
            f"\n| {figure} | "
            + " | ".join(f"seed {seed}" for seed in seeds)
            + " | mean |\n|---"
            + "|--:" * (len(seeds) + 1)
            + "|"
        )
        for name in found[0]:
            values = [one[name][figure] for one in found]
            print(f"| {name} | " + " | ".join(f"{value:.3f}" for value in (*values, statistics.fmean(values))) + " |")

    def apart(one: str, other: str) -> tuple[float, str]:
        middle, low, high = interval([seed[one]["R@10"] - seed[other]["R@10"] for seed in found])
        return middle, f"{one} − {other}: {middle:+.3f} ({low:+.3f}, {high:+.3f})"

    triplet = max((name for name in found[0] if "triplet" in name), key=lambda name: sum(one[name]["R@1"] for one in found))
    # Half a hit more on both sides, so that a model without any hit has a logarithm.
    half = 0.25 / SPLITS["test"]
    ratios = [math.log((one["mms-48"]["R@1"] + half) / (one[triplet]["R@1"] + half)) for one in found]
    ratio, low, high = (math.exp(min(value, 700.0)) for value in interval(ratios))
    _say(
        "R@1 at batch 48 is 1.5 times the triplet loss's",
        ratio >= 1.5,
        [f"mms-48 / {triplet}: {ratio:.2f} ({low:.2f}, {high:.2f})"],
    )
    for claim, pairs in (
        ("R@10 rises with the batch", [("mms-24", "mms-12"), ("mms-48", "mms-24")]),
        (
            "both towers warm reach at least either one, and that at least neither",
            [("start both", f"start {one}") for one in ("audio", "image")]
            + [(f"start {one}", "start none") for one in ("audio", "image")],
        ),
    ):
        differences = [apart(*pair) for pair in pairs]
        rising = claim.startswith("R@10")
        _say(claim, all(middle > 0 if rising else middle >= 0 for middle, _ in differences), [text for _, text in differences])


def _say(claim: str, holds: bool, facts: Sequence[str]) -> None:
    print(f"\n{'holds' if holds else 'DOES NOT HOLD'}: {claim}\n  " + "\n  ".join(facts), flush=True)


def main() -> None:
    """Print the table, the verdicts and what they took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5, help="how many, from 0 on")
    parser.add_argument("--processes", type=int, default=2, help="seeds at a time")
    parser.add_argument("--scale", type=float, default=0.0, help="of cosine similarities, for both losses; 0: raw dot products")
    parser.add_argument("--quick", action="store_true", help="a smoke run; its verdicts mean nothing")
    parser.add_argument("--tune", action="store_true", help="only what is chosen beforehand, and by what")
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.tune:
        return tune(TUNED_ON)
    begun, seeds = time.perf_counter(), range(options.seeds)
    jobs = [Job(seed, options.scale, options.quick) for seed in seeds]
    with multiprocessing.get_context("spawn").Pool(min(options.processes, len(jobs))) as pool:
        found = []
        for seed, one in zip(seeds, pool.imap(one_seed, jobs), strict=True):
            found.append(one)
            print(json.dumps({"seed": seed} | one), flush=True)
    report(seeds, found)
    print(f"\n{time.perf_counter() - begun:.0f} s by the clock, {options.processes} processes of one thread")


if __name__ == "__main__":
    main()
