"""A frozen image network folded, as it is loaded, and folded in batches: ``python -m benchmarks.folding``.

CPU milliseconds of one thread for one image of 256 px, in turns; medians over the turns, and the ratios to the folded network
on one image at a time. Inception-ResNet-v2 has random weights here, on which its time does not depend.
"""

from __future__ import annotations

import argparse
import time

import torch

from benchmarks.harness import beside, in_turns, medians, show
from components.execution.process import keep_freed_memory
from components.models.encoders import ENCODERS, ImageEncoder
from components.vision.classifier import load_backbone
from components.vision.folding import fold_batch_norms


def encoder(name: str) -> ImageEncoder:
    """The encoder, in evaluation mode."""
    network = load_backbone() if name == "efficientnet_lite0" else None
    return ImageEncoder(name, network, side=256).eval().requires_grad_(False)


BATCHES = (4, 16)


def milliseconds(network: ImageEncoder, pixels: torch.Tensor, images: int) -> float:
    """CPU time of one image, in batches of ``pixels``."""
    batches = max(1, images // len(pixels))
    start = time.process_time()
    with torch.inference_mode():
        for _ in range(batches):
            network.encode(pixels)
    return (time.process_time() - start) * 1000 / (batches * len(pixels))


def main() -> None:
    """Print one JSON line an encoder."""
    parser = argparse.ArgumentParser(description="CPU time of folded image networks.")
    parser.add_argument("--turns", type=int, default=11)
    parser.add_argument("--images", type=int, default=10, help="of one turn")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    keep_freed_memory()
    pixels = torch.randint(0, 256, (1, 3, 256, 256), dtype=torch.uint8)
    for name in ENCODERS:
        plain, folded = encoder(name), encoder(name)
        fold_batch_norms(folded.network)
        ways = {"folded": (folded, pixels), "plain": (plain, pixels)}
        ways |= {f"batches of {size}": (folded, pixels.expand(size, -1, -1, -1).contiguous()) for size in BATCHES}
        calls = {way: lambda given=given: milliseconds(*given, chosen.images) for way, given in ways.items()}
        times = in_turns(calls, chosen.turns, warm=1)
        show({"encoder": name, **medians(times, "ms an image", digits=1), **beside(times, "folded")})


if __name__ == "__main__":
    main()
