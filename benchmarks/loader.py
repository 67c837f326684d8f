"""The loader's rate beside that of data that costs nothing: ``python -m benchmarks.loader`` (``--device cuda`` on a GPU).

Two sets are made on the disk: features as Inception-ResNet-v2 gives them (3 views × 65 × 1536, float16, two thirds of them zero,
packed as ``extract_features`` writes them) and JPEGs of 640 × 480.
A training step takes batches from the loader of ``train_captioner`` (views drawn, words padded; images decoded, cropped,
distorted, resized to 299 px) in turns with the same step on one batch that lies ready on the device. Features feed a projection
and one Transformer layer, images a stand-in of convolutions, lighter than any encoder one would train, or with ``--encoder
inception_resnet_v2`` the paper's own. Rates are items a second
by the clock; a figure is the ratio of medians over the runs. On the processor the step's and the reading's CPU time are told too,
which others' work on the same cores moves less: reading in the training process itself would give step / (step + reading).
"""

from __future__ import annotations

import argparse
import io
import itertools
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from benchmarks.harness import beside, in_turns, medians, seconds, show
from benchmarks.made_media import MadeMedia
from components.core.shards import write_tar
from components.core.view_arrays import SUFFIX, pack_views
from components.models.encoders import ImageEncoder
from components.stages.train_captioner.items import Batch, FeatureItems, ImageItems, Items
from components.training.batches import EpochBatches, loader
from components.training.members import Members
from components.training.settings import REFERENCE, Hardware

IMAGES, CAPTIONS, LONGEST, SIDE = 256, 5, 15, 299


def members(folder: Path, kind: str) -> Members:
    """A tar of ``IMAGES`` members, random but of natural size."""
    source = np.random.default_rng(1)
    content: dict[str, bytes] = {}
    for number in range(IMAGES):
        target = io.BytesIO()
        if kind == "npy":
            values = np.maximum(source.standard_normal((3, 65, 1536), dtype=np.float32) - 0.5, 0)
            target.write(pack_views(values.astype(np.float16)))
        else:
            from PIL import Image

            # Noise that was blurred: as much to decode as a photograph has.
            small = Image.fromarray(source.integers(0, 256, (60, 80, 3), dtype=np.uint8))
            small.resize((640, 480), Image.Resampling.BICUBIC).save(target, "JPEG", quality=90)
        content[f"{number:04d}{SUFFIX if kind == 'npy' else '.jpg'}"] = target.getvalue()
    write_tar(folder / "media" / f"{kind}.tar", content)
    return Members(MadeMedia(folder), [f"{kind}/{name}" for name in content])


def items_of(folder: Path, kind: str) -> Items:
    """Five captions an image."""
    source = np.random.default_rng(2)
    words = source.integers(4, 9000, (IMAGES * CAPTIONS, LONGEST + 2)).astype(np.int32)
    image = np.repeat(np.arange(IMAGES), CAPTIONS)
    keys = [f"k{number:06d}" for number in range(len(image))]
    if kind == "npy":
        return FeatureItems(members(folder, kind), image, words, keys, 0, grid=True)
    return ImageItems(members(folder, kind), image, words, keys, 0, side=SIDE)


class OnFeatures(nn.Module):
    """A projection to 512 and one Transformer layer."""

    def __init__(self) -> None:
        super().__init__()
        self.read = nn.Linear(1536, 512)
        self.layer = nn.TransformerEncoderLayer(512, 8, 2048, batch_first=True)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """A scalar."""
        return self.layer(self.read(features.float())).square().mean()


class OnImages(nn.Module):
    """Convolutions that halve an image five times."""

    def __init__(self) -> None:
        super().__init__()
        widths = (3, 32, 64, 128, 256, 512)
        pairs = itertools.pairwise(widths)
        layers = [[nn.Conv2d(a, b, 3, 2, 1), nn.BatchNorm2d(b), nn.ReLU(), nn.Conv2d(b, b, 3, 1, 1), nn.ReLU()] for a, b in pairs]
        self.layers = nn.Sequential(*(layer for group in layers for layer in group))

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """A scalar."""
        return self.layers(images.float() / 127.5 - 1.0).square().mean()


class OnEncoder(nn.Module):
    """An encoder that is trained."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.encoder = ImageEncoder(name)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """A scalar."""
        return self.encoder.encode(images).square().mean()


def network_of(kind: str, encoder: str) -> nn.Module:
    """What the items feed."""
    if kind == "npy":
        return OnFeatures()
    return OnEncoder(encoder) if encoder else OnImages()


def rate(device: torch.device, network: nn.Module, batches: Iterator[Batch], steps: int) -> float:
    """Items a second of ``steps`` training steps."""
    optimiser = torch.optim.SGD(network.parameters(), lr=1e-4)
    waited: Callable[[], Any] = torch.cuda.synchronize if device.type == "cuda" else lambda: None
    waited()
    start, seen = time.perf_counter(), 0
    for _, batch in zip(range(steps), batches, strict=False):
        network(batch.features.to(device, non_blocking=True)).backward()
        optimiser.step()
        optimiser.zero_grad()
        seen += len(batch.items)
    waited()
    return seen / (time.perf_counter() - start)


def cpu(work: Callable[[], Any], count: int) -> float:
    """CPU seconds an item of this process."""
    return seconds(work) / count


def forever(items: Items, batch: int, hardware: Hardware) -> Iterator[Batch]:
    """Epoch after epoch."""
    order = EpochBatches(len(items), batch, 0, by_epoch=True)
    reading, epoch = loader(items, order, hardware), 0
    while True:
        order.set_epoch(epoch)
        yield from reading
        epoch += 1


def compare(kind: str, options: argparse.Namespace, folder: Path) -> None:
    """Print both rates and their ratio."""
    device = torch.device(options.device)
    hardware = REFERENCE.model_copy(update={"workers": options.workers, "accelerator": "gpu" if device.type == "cuda" else "cpu"})
    items = items_of(folder, kind)
    network = network_of(kind, options.encoder).to(device).train()
    real = forever(items, options.batch, hardware)
    ready = next(real)
    held = Batch(*(tensor.to(device) for tensor in ready))
    free = iter(lambda: held, None)
    sides = {"ready": free, "read": real}
    ways = {side: lambda batches=batches: rate(device, network, batches, options.steps) for side, batches in sides.items()}
    rates = in_turns(ways, options.runs, warm=1)
    spent = {"step": cpu(lambda: rate(device, network, free, options.steps), options.batch * options.steps)}
    pairs_of = [[(0, batch * options.batch + item) for item in range(options.batch)] for batch in range(8)]
    spent["reading"] = cpu(lambda: [items.__getitems__(some) for some in pairs_of], options.batch * 8)
    show(
        {
            "what": "features" if kind == "npy" else f"images, {SIDE} px, {options.encoder or 'a stand-in'}",
            "device": torch.cuda.get_device_name() if device.type == "cuda" else f"cpu, {os.cpu_count()} cores",
            "batch": options.batch,
            "workers": options.workers,
            **medians(rates, "items/s", digits=1),
            **beside(rates, "ready", 3),
            **{f"{name}, CPU ms an item": round(value * 1000, 3) for name, value in spent.items()},
        }
    )


def main() -> None:
    """Print a line a comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--batch", type=int, default=25)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--encoder", default="", choices=("", "inception_resnet_v2"))
    parser.add_argument("--kind", choices=("npy", "jpg", "both"), default="both")
    options = parser.parse_args()
    torch.set_num_threads(1 if options.device == "cpu" else 4)
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("npy", "jpg") if options.kind == "both" else (options.kind,):
            compare(kind, options, Path(folder))


if __name__ == "__main__":
    main()
