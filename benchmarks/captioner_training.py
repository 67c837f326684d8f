"""Training steps of each captioning network beside a plain PyTorch loop: ``python -m benchmarks.captioner_training``.

Both sides train the same network from the same weights, one thread. Ours is the stage's own: ``fit`` (Lightning, seeding,
checks of the loss) over ``FeatureItems``, which draw and decompress views from a tar on the disk. The plain loop repeats forward,
backward, clipping and Adam on batches that lie in memory. CPU milliseconds a caption, in turns; the figure is the ratio of
medians, plain / ours, so 1 means that reading and Lightning cost nothing.
"""

from __future__ import annotations

import argparse
import copy
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.harness import beside, in_turns, medians, show
from benchmarks.made_media import MadeMedia
from components.core.shards import write_tar
from components.core.view_arrays import pack_views
from components.models.captioners import NETWORKS, build
from components.models.captioners.interface import CaptionerConfig, reads_grid
from components.models.trained_captioner import ImageCaptioner
from components.stages.train_captioner import CaptionerSettings
from components.stages.train_captioner.items import FeatureItems
from components.stages.train_captioner.recipe import CaptionerTraining
from components.training.fit import fit
from components.training.members import Members

IMAGES, CAPTIONS, BATCH, LONGEST, VOCABULARY, FEATURES = 96, 5, 80, 12, 2600, 1280
ZEROS = 0.89
"""Share of zeros among EfficientNet-lite0's outputs on photographs of Flickr8k."""


class Timed(CaptionerTraining):
    """Takes the CPU time from the end of the first step to that of the last."""

    def __init__(self, *given: Any, **settings: Any) -> None:
        super().__init__(*given, **settings)
        self.ends: list[float] = []

    def on_train_batch_end(self, *given: Any) -> None:
        """Note the time."""
        self.ends.append(time.process_time())


def items_of(folder: Path, network: str) -> FeatureItems:
    """Random features of two views an image, with photographs' share of zeros."""
    source = np.random.default_rng(0)
    content = {}
    for number in range(IMAGES):
        array = source.random((2, 65, FEATURES), dtype=np.float32) * 4
        array[source.random(array.shape) < ZEROS] = 0
        content[f"{number:04d}.npy.zst"] = pack_views(array.astype(np.float16))
    write_tar(folder / "media" / "00000.tar", content)
    members = Members(MadeMedia(folder), [f"00000/{name}" for name in content])
    words = source.integers(4, VOCABULARY, (IMAGES, CAPTIONS, LONGEST + 2)).astype(np.int32)
    return FeatureItems(members, np.arange(IMAGES), words, [str(n) for n in range(IMAGES)], 0, grid=reads_grid(network))


def ours(network: ImageCaptioner, settings: dict[str, Any], items: FeatureItems) -> float:
    """CPU ms a caption of the stage's training."""
    recipe = Timed(copy.deepcopy(network), settings, 0, vocabulary=[""] * VOCABULARY, validation=(items, []))
    with tempfile.TemporaryDirectory() as folder:
        fit(recipe, items, Path(folder))
    steps = len(recipe.ends) - 1
    return (recipe.ends[-1] - recipe.ends[0]) * 1000 / (steps * BATCH)


def plain(network: ImageCaptioner, settings: dict[str, Any], items: FeatureItems) -> float:
    """CPU ms a caption of a loop without anything else."""
    network = copy.deepcopy(network)
    size = BATCH // CAPTIONS
    batches = [items.__getitems__([(0, item) for item in range(at, at + size)]) for at in range(0, IMAGES, size)]
    inputs = [(batch.features.float(), batch.words) for batch in batches]
    optimiser = torch.optim.Adam(network.parameters(), lr=settings["learning_rate"])
    network.train()
    begin = 0.0
    for number, (features, words) in enumerate(inputs):
        loss = network.network.loss(features, words, settings["label_smoothing"])
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), settings["clip_gradient"])
        optimiser.step()
        loss.item()
        begin = begin if number else time.process_time()
    return (time.process_time() - begin) * 1000 / ((len(inputs) - 1) * BATCH)


def main() -> None:
    """Print a row a network."""
    parser = argparse.ArgumentParser(description="Training steps beside a plain PyTorch loop.")
    parser.add_argument("--turns", type=int, default=5)
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    common = {"optimiser": "adam", "learning_rate": 0.0006, "clip_gradient": 1.0, "label_smoothing": 0.1}
    settings = CaptionerSettings(epochs=1, batch=BATCH // CAPTIONS, **common).plain()
    sizes = {"width": 256, "heads": 4, "layers": 2, "feedforward": 1024, "pre_norm": True, "dropout": 0.3}
    for name in NETWORKS:
        config = CaptionerConfig(name, VOCABULARY, image_features=FEATURES, longest=LONGEST, **sizes)
        network = ImageCaptioner(build(config))
        with tempfile.TemporaryDirectory() as folder:
            items = items_of(Path(folder), name)
            given = network, settings, items
            times = in_turns({"ours": partial(ours, *given), "plain": partial(plain, *given)}, chosen.turns, warm=1)
        show({"network": name, **medians(times, "ms", digits=2), **beside(times, digits=3)})


if __name__ == "__main__":
    main()
