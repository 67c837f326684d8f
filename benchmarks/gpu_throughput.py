"""Images a second of EfficientNet-lite0 on the device: encoding, training, and reading as ``extract_features`` does."""

from __future__ import annotations

import io
import itertools
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

from benchmarks.gpu_data import Data, autocast, cores
from benchmarks.gpu_networks import lite0_encoder, whole_views
from components.models.encoders import ImageEncoder
from components.vision.features import flatten

TARGET = 1500
"""Images a second of encoding as ``extract_features`` does, in float32, on an H100."""
ENCODER_ALONE = "training the encoder alone, bfloat16"
"""The floor of a captioner's training: images a second with nothing but the encoder."""
JPEG = {"side": 224, "quality": 85}
"""Files as the data set has them."""


class Files(Dataset[NDArray[np.uint8]]):
    """JPEG files that are read as ``extract_features`` reads an image: decoded, padded to a square, resized."""

    def __init__(self, files: list[bytes], side: int, count: int) -> None:
        self.files, self.side, self.count = files, side, count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, item: int) -> NDArray[np.uint8]:
        image = flatten(self.files[item % len(self.files)])
        return np.array(image.resize((self.side, self.side), Image.Resampling.BICUBIC))


def wait(device: torch.device) -> None:
    """Wait for the device."""
    if device.type == "cuda":
        torch.cuda.synchronize()


def rate(work: Callable[[], Any], images: int, device: torch.device, turns: int) -> float:
    """Return images a second of the median turn, after three that do not count (one on a processor)."""
    for _ in range(3 if device.type == "cuda" else 1):
        work()
    times = []
    for _ in range(turns):
        wait(device)
        begin = time.perf_counter()
        work()
        wait(device)
        times.append(time.perf_counter() - begin)
    return round(images / float(np.median(times)), 1)


def train_step(encoder: ImageEncoder, pixels: Tensor) -> None:
    """Compute the encoder's gradients for a batch, as captioners need them."""
    with autocast(pixels.device):
        encoder.encode(pixels).float().square().mean().backward()
    encoder.zero_grad()


def choose_memory_format(data: Data, turns: int) -> dict[str, float]:
    """Set the memory format in which the encoder trains faster; return images a second of each."""
    pixels = whole_views(data.pixels["train"][: data.plan.batch], data.plan.side)
    found = {}
    for form in (torch.contiguous_format, torch.channels_last):
        encoder = lite0_encoder(data.pack.weights, data.plan.side).to(data.device).to(memory_format=form)
        found[form] = rate(lambda encoder=encoder: train_step(encoder, pixels), len(pixels), data.device, turns)
    data.memory_format = max(found, key=found.__getitem__)
    return {str(form).removeprefix("torch."): value for form, value in found.items()}


def bytes_an_image(encoder: ImageEncoder, side: int, size: int = 2) -> int:
    """Return the bytes of one image's inputs and outputs of all convolutions, each read or written once, ``size`` a number."""
    moved = 0

    def count(_: nn.Module, given: tuple[Tensor, ...], out: Tensor) -> None:
        nonlocal moved
        moved += (given[0].numel() + out.numel()) * size

    handles = [module.register_forward_hook(count) for module in encoder.modules() if isinstance(module, nn.Conv2d)]
    device = next(encoder.parameters()).device
    with torch.inference_mode():
        encoder.encode(torch.zeros(1, 3, side, side, device=device))
    for handle in handles:
        handle.remove()
    return moved


def bandwidth(device: torch.device, turns: int) -> float:
    """Return bytes a second of a copy on the device, read and written."""
    source = torch.empty(1 << (30 if device.type == "cuda" else 24), dtype=torch.uint8, device=device)
    target = torch.empty_like(source)
    return rate(lambda: target.copy_(source), 2 * len(source), device, turns)


def measure(data: Data, turns: int) -> dict[str, Any]:
    """Return images a second of batches that lie on the device."""
    device, side, size = data.device, data.plan.side, 2 * data.plan.batch
    found: dict[str, Any] = {"training by memory format": choose_memory_format(data, turns)}
    encoder = data.encoder()
    pixels = whole_views(data.pixels["train"][:size], side)
    with torch.inference_mode():
        found["encoding, float32, resident"] = rate(lambda: encoder.encode(pixels), len(pixels), device, turns)
        with autocast(device):
            found["encoding, bfloat16, resident"] = rate(lambda: encoder.encode(pixels), len(pixels), device, turns)
    found[ENCODER_ALONE] = max(found["training by memory format"].values())
    floor = bandwidth(device, turns) / bytes_an_image(encoder, side)
    found["encoding, bfloat16, if memory alone limits"] = round(floor)
    found["share of that"] = round(found["encoding, bfloat16, resident"] / floor, 3)
    return found


def from_files(data: Data, count: int) -> dict[str, Any]:
    """Return images a second from ``count`` JPEG files, in float32, and what limits them.

    One process that reads and encodes, as ``extract_features`` does; processes that only read; and these with the encoder.
    """
    device, side, batch, workers = data.device, data.plan.side, data.plan.batch // 4, max(1, min(cores() - 1, 15))
    encoder = data.encoder()
    stored = Files([jpeg(pixels) for pixels in data.pixels["train"][:512].cpu()], side, count)

    def encode(pixels: Tensor) -> None:
        with torch.inference_mode():
            encoder.encode(pixels.to(device, non_blocking=True).permute(0, 3, 1, 2))

    begin, alone = time.perf_counter(), count // 8
    for first in range(0, alone, batch):
        encode(torch.from_numpy(np.stack([stored[item] for item in range(first, min(first + batch, alone))])))
    wait(device)
    found = {"from files, one process": round(alone / (time.perf_counter() - begin), 1)}
    for name, work in ((f"from files, read by {workers} processes, not encoded", None), ("and encoded", encode)):
        batches = iter(DataLoader(stored, batch, num_workers=workers, pin_memory=device.type == "cuda", prefetch_factor=2))
        # What the processes read in advance does not count.
        for pixels in itertools.islice(batches, 2 * workers):
            encode(pixels)
        wait(device)
        begin, images = time.perf_counter(), 0
        for pixels in batches:
            images += len(pixels)
            if work:
                work(pixels)
        wait(device)
        found[name] = round(images / (time.perf_counter() - begin), 1)
    reading, together = list(found.values())[1:]
    limits = "reading" if reading < 1.3 * together else "encoding or the copy to the device"
    return found | {"what limits": limits, f"target of {TARGET} images a second": "met" if together >= TARGET else "missed"}


def jpeg(pixels: Tensor) -> bytes:
    """Return an image as a JPEG file of the data set's size and quality."""
    stream = io.BytesIO()
    image = Image.fromarray(pixels.permute(1, 2, 0).numpy())
    image.resize((JPEG["side"], JPEG["side"]), Image.Resampling.BICUBIC).save(stream, "JPEG", quality=JPEG["quality"])
    return stream.getvalue()
