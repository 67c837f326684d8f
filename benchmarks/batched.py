"""Inference in batches beside one item at a time, on one processor thread: ``python -m benchmarks.batched``.

``captions``: beam 4 over 64 images with every captioning network at the sample's size of Flickr8k (width 256, 3 layers, 3,000
words, 64 cells of 1280); weights are random, so all captions have the longest length of 15. ``speech``: both speech towers over
coefficients of 1.5 to 8 s that lie ready, in the given order and sorted by length as ``embed_speech`` sorts them. ``images``: the
image towers. Sizes take turns in one process, CPU time, after one run that is not counted; figures are medians of the runs, and
``ratio`` is the median of one at a time by the size, with the least and greatest pair. ``difference`` is the largest distance of
an embedding from that of one at a time, by its length; ``equal`` counts equal captions.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from benchmarks.harness import show, timed_in_turns
from components.models.beam import generate
from components.models.captioners import NETWORKS, build
from components.models.captioners.interface import CaptionerConfig
from components.models.dual_encoder import DualEncoder, DualEncoderConfig
from components.retrieval.embedding import empty_image_encoder

ALONE = "1"
COEFFICIENTS, SHORTEST, LONGEST, CLIP = 128, 150, 800, 350


def compare(
    what: str, ways: Mapping[str, Callable[[], Any]], items: int, runs: int, agreement: Callable[[Any, Any], Any]
) -> None:
    """Print a line: milliseconds an item of each way, ratios to one at a time, and how far the results agree."""
    results = {name: way() for name, way in ways.items()}
    spent = timed_in_turns(ways, runs, warm=0)
    for name, times in spent.items():
        row = {"what": what, "batch": name, "ms an item": round(statistics.median(times) / items * 1000, 2)}
        turns = [one / other for one, other in zip(spent[ALONE], times, strict=True)]
        row["alone / batch"] = round(statistics.median(spent[ALONE]) / statistics.median(times), 2)
        row["least and greatest"] = f"{min(turns):.2f}, {max(turns):.2f}"
        show(row | {"agreement": agreement(results[name], results[ALONE])})


def difference(embeddings: Tensor, reference: Tensor) -> float:
    """The largest distance of a row from the reference's, by the reference's length."""
    return float(f"{float(((embeddings - reference).norm(dim=1) / reference.norm(dim=1)).max()):.1e}")


def captions(runs: int, items: int = 64) -> None:
    """Decode with each network."""
    for name in NETWORKS:
        torch.manual_seed(0)
        config = CaptionerConfig(name, 3000, image_features=1280, width=256, layers=3, feedforward=1024)
        network = build(config).eval()
        features = torch.randn(items, 64 if config.grid else 1, 1280)

        def way(size: int, network: Any = network, features: Tensor = features) -> Callable[[], list[list[int]]]:
            return lambda: [one.words for (one, *_) in generate(network, features, batch=size)]

        ways = {str(size): way(size) for size in (1, 16, 32, 64)}
        compare(name, ways, items, runs, lambda one, other: sum(map(list.__eq__, one, other)))


def speech(runs: int) -> None:
    """Embed clips by both towers."""
    generator = torch.Generator().manual_seed(0)
    for name, items, sizes in (("convolutions", 256, (8, 16, 32, 64)), ("inception_resnet_v2", 8, (2, 4, 8))):
        torch.manual_seed(0)
        network = DualEncoder(DualEncoderConfig(speech=name, image="features", embedding=512)).eval()
        fixed = network.speech.padding_counts
        lengths = torch.randint(SHORTEST, LONGEST, (items,), generator=generator).clamp_max(CLIP if fixed else LONGEST)
        clips = [torch.randn(COEFFICIENTS, int(length), generator=generator) for length in lengths]
        given, ordered = torch.arange(items), lengths.argsort(stable=True)

        def way(
            order: Tensor, size: int, network: DualEncoder = network, lengths: Tensor = lengths, clips: list[Tensor] = clips
        ) -> Callable[[], Tensor]:
            @torch.inference_mode()
            def run() -> Tensor:
                embeddings = torch.zeros(len(clips), network.config.embedding)
                for part in order.split(size):
                    longest = CLIP if network.speech.padding_counts else int(lengths[part].max())
                    batch = torch.zeros(len(part), COEFFICIENTS, longest)
                    for row, number in zip(batch, part.tolist(), strict=True):
                        row[:, : clips[number].shape[1]] = clips[number]
                    embeddings[part] = network.embed_speech(batch, lengths[part])
                return embeddings

            return run

        ways = {ALONE: way(given, 1)} | {f"{size}, sorted" if not fixed else str(size): way(ordered, size) for size in sizes}
        if not fixed:
            ways["32, as given"] = way(given, 32)
        compare(f"speech: {name}", ways, items, runs, difference)


def images(runs: int) -> None:
    """Embed images by the four towers."""
    for name, items, sizes in (
        ("features", 256, (16, 64, 256)),
        ("convolutions", 256, (8, 16, 32, 64)),
        ("efficientnet_lite0", 16, (2, 4, 8, 16)),
        ("inception_resnet_v2", 8, (2, 4, 8)),
    ):
        torch.manual_seed(0)
        config = DualEncoderConfig(image=name, embedding=512)
        network, side = DualEncoder(config, empty_image_encoder(config)).eval(), config.image_side
        shown = torch.randint(256, (items, 3, side, side), dtype=torch.uint8) if side else torch.randn(items, 1280).half()

        def way(size: int, network: DualEncoder = network, shown: Tensor = shown) -> Callable[[], Tensor]:
            @torch.inference_mode()
            def run() -> Tensor:
                return torch.cat([network.embed_images(part) for part in shown.split(size)])

            return run

        compare(f"images: {name}", {str(size): way(size) for size in (1, *sizes)}, items, runs, difference)


def main() -> None:
    """Print a line a network."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="*", default=["captions", "speech", "images"], help="captions, speech, images")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    for what in options.what:
        {"captions": captions, "speech": speech, "images": images}[what](options.runs)


if __name__ == "__main__":
    main()
