"""Beam search beside transformers' generate, on shared weights: ``python -m benchmarks.decoding``.

``same``: small networks in double precision, trained a little on captions drawn by chance and then shaken, so that captions
have all lengths; every caption of both is compared, with beams of 1 and 4 and four length penalties.
``speed``: the network of CC (6 + 6 layers, width 512, 25,000 words, 64 cells), beam 4, 15 words, END forbidden on both
sides so that all are written. The peer forbids by its ``final_logits_bias``, at no cost to it. In turns in one process,
CPU time, after one run that is not counted; a figure is the ratio of medians. Ours lays its weights out within the time. With
``--device cuda`` times are by the clock.

Runs in the peer's environment, which is made when it is first needed.
"""

from __future__ import annotations

import argparse
import copy
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.harness import beside, environment, in_turns, medians, seconds, show

LONGEST, CELLS, FEATURES = 15, 64, 1536


def trained_networks(count: int) -> Any:
    """Small networks whose captions have all lengths."""
    import torch

    from components.models.captioners.interface import CaptionerConfig
    from components.models.captioners.transformer import TransformerCaptioner
    from components.models.vocabulary import END, PAD, START

    torch.manual_seed(0)
    sizes = {"image_features": 24, "width": 48, "heads": 4, "layers": 3, "feedforward": 96, "longest": LONGEST, "dropout": 0.0}
    network = TransformerCaptioner(CaptionerConfig("t2t8x8", 200, **sizes)).double()
    features, words = torch.randn(200, 9, 24, dtype=torch.float64), torch.randint(4, 200, (200, LONGEST + 2))
    ends = torch.randint(1, LONGEST + 2, (200, 1))
    words[:, 0] = START
    words.scatter_(1, ends, END).masked_fill_(torch.arange(LONGEST + 2) > ends, PAD)
    optimiser = torch.optim.Adam(network.parameters(), lr=3e-3)
    for _ in range(150):
        optimiser.zero_grad()
        network.loss(features, words).backward()
        optimiser.step()
    for seed in range(count):
        shaken, generator = copy.deepcopy(network).eval(), torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for weight in shaken.parameters():
                weight += 0.05 * torch.randn(weight.shape, generator=generator, dtype=weight.dtype)
            end = shaken.embedding.weight[END]
            shaken.decoder[-1].norms[-1].bias += (seed % 4 - 1) * end / end.norm() ** 2
        yield shaken, torch.randn(8, 9, 24, generator=generator, dtype=torch.float64)


def same(networks: int) -> None:
    """Print how many captions of how many are equal; fail where one is not."""
    import torch

    from benchmarks.peers.transformers.marian import same_network, write
    from components.models.beam import generate
    from components.models.vocabulary import NEVER_WRITTEN

    equal, lengths, counts = 0, dict.fromkeys(range(LONGEST + 1), 0), 0
    for network, features in trained_networks(networks):
        theirs = same_network(network)
        with torch.no_grad():
            embeddings = network.read(features)
            for beam, power in ((1, 0.0), (4, 0.0), (4, 0.5), (4, 1.0), (4, 2.0)):
                mine = [one.words for (one,) in generate(network, features, beam=beam, length_power=power)]
                other = write(theirs, embeddings, beam, LONGEST, power=power, never=NEVER_WRITTEN)
                equal += sum(one == two for one, two in zip(mine, other, strict=True))
                counts += len(mine)
                for words in mine:
                    lengths[len(words)] += 1
    show({"captions": counts, "equal": equal, "of each length, 0 to 15": list(lengths.values())})
    if equal != counts:
        raise SystemExit("the two do not write the same")


def both(device: str, batch: int, kind: Any) -> dict[str, Callable[[], list[list[int]]]]:
    """Ways to write captions for the same images with the same weights."""
    import torch

    from benchmarks.peers.transformers.marian import same_network, write
    from components.models.beam import generate
    from components.models.captioners.interface import CaptionerConfig
    from components.models.captioners.transformer import TransformerCaptioner
    from components.models.vocabulary import END, NEVER_WRITTEN

    torch.manual_seed(0)
    never = [*NEVER_WRITTEN, END]
    network = TransformerCaptioner(CaptionerConfig("t2t8x8", 25_000, image_features=FEATURES, longest=LONGEST))
    network = network.to(device, kind).eval()
    theirs = same_network(network)
    theirs.final_logits_bias[:, never] = float("-inf")
    features = torch.randn(batch, CELLS, FEATURES).to(device, kind)

    def peer() -> list[list[int]]:
        with torch.inference_mode():
            return write(theirs, network.read(features), 4, LONGEST)

    def ours(pack: bool = True) -> list[list[int]]:
        return [one.words for (one,) in generate(network, features, beam=4, never=never, pack=pack)]

    ways = {"ours": ours, "transformers": peer}
    return ways if device != "cpu" else ways | {"ours, not packed": lambda: ours(pack=False)}


def processor() -> str:
    """The processor's name and its widest vectors."""
    import torch

    names = [line.partition(":")[2].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line]
    return f"{names[0] if names else 'unknown'}, {torch.backends.cpu.get_cpu_capability()}"


def speed(device: str, batch: int, kind_name: str, runs: int) -> None:
    """One line: seconds of each, their ratio, the least and greatest of the pairs."""
    import torch
    import transformers

    ways = both(device, batch, getattr(torch, kind_name))
    gpu = device != "cpu"
    texts = {name: way() for name, way in ways.items()}
    assert all(len(words) == LONGEST for found in texts.values() for words in found), "not all words were written"
    equal = sum(one == two for one, two in zip(texts["ours"], texts["transformers"], strict=True))

    def spent_by(way: Callable[[], Any]) -> float:
        if not gpu:
            return seconds(way)
        torch.cuda.synchronize()
        return seconds(lambda: (way(), torch.cuda.synchronize()), time.perf_counter)

    spent = in_turns({name: lambda way=way: spent_by(way) for name, way in ways.items()}, runs)
    show(
        {
            "device": torch.cuda.get_device_name() if gpu else f"CPU, {torch.get_num_threads()} thread(s), {processor()}",
            "torch": torch.__version__,
            "transformers": transformers.__version__,
            "precision": kind_name,
            "images": batch,
            "equal captions": equal,
            **medians(spent, "s", digits=4),
            **beside(spent),
        }
    )


def main() -> None:
    """Print a line a comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="*", default=["same", "speed"], help="same, speed")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--networks", type=int, default=40)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--batch", type=int, help="images; 16, on a GPU 256")
    parser.add_argument("--precision", default="float32", choices=("float32", "bfloat16"))
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    try:
        import transformers  # noqa: F401
    except ModuleNotFoundError:
        command = [environment("transformers"), "-m", "benchmarks.decoding", *sys.argv[1:]]
        raise SystemExit(subprocess.run(command, check=False).returncode) from None
    import torch

    torch.set_num_threads(options.threads)
    batch = options.batch or (16 if options.device == "cpu" else 256)
    for what in options.what:
        if what == "same":
            same(options.networks)
        else:
            speed(options.device, batch, options.precision, options.runs)


if __name__ == "__main__":
    main()
