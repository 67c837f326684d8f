"""A frozen picture network folded and as it is loaded: ``python -m benchmarks.folding``.

CPU milliseconds of one thread for one picture of 256 px, in turns; medians over the turns, and their ratio. Inception-ResNet-v2
has random weights here, on which its time does not depend.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time

import torch

from components.models.encoders import ENCODERS, ImageEncoder
from components.vision.classifier import load_backbone
from components.vision.folding import fold_batch_norms


def encoder(name: str) -> ImageEncoder:
    """The encoder, in evaluation mode."""
    network = load_backbone() if name == "efficientnet_lite0" else None
    return ImageEncoder(name, network, side=256).eval().requires_grad_(False)


def milliseconds(network: ImageEncoder, pixels: torch.Tensor, pictures: int) -> float:
    """CPU time of one picture."""
    start = time.process_time()
    with torch.inference_mode():
        for _ in range(pictures):
            network.encode(pixels)
    return (time.process_time() - start) * 1000 / pictures


def main() -> None:
    """Print one JSON line an encoder."""
    parser = argparse.ArgumentParser(description="CPU time of folded picture networks.")
    parser.add_argument("--turns", type=int, default=11)
    parser.add_argument("--pictures", type=int, default=10, help="of one turn")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    pixels = torch.randint(0, 256, (1, 3, 256, 256), dtype=torch.uint8)
    for name in ENCODERS:
        plain, folded = encoder(name), encoder(name)
        fold_batch_norms(folded.network)
        times: dict[str, list[float]] = {"plain": [], "folded": []}
        for turn in range(chosen.turns + 1):
            for which, network in (("plain", plain), ("folded", folded)):
                took = milliseconds(network, pixels, chosen.pictures)
                if turn:  # the first warms up
                    times[which].append(took)
        row = {which: round(statistics.median(values), 1) for which, values in times.items()}
        ratios = [first / second for first, second in zip(times["plain"], times["folded"], strict=True)]
        row |= {"ratio": round(statistics.median(ratios), 2), "least": round(min(ratios), 2), "greatest": round(max(ratios), 2)}
        print(json.dumps({"encoder": name, "ms a picture": row}), flush=True)


if __name__ == "__main__":
    main()
