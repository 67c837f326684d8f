"""A prepared set of tiny features or images, a small network, and a training job."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from components.core.result_cache import ResultCache
from components.core.stage_output import StageOutput
from components.execution.stage import Task
from components.models.captioners.interface import CaptionerConfig, CaptionNetwork
from components.stages.train_captioner import CaptionerSettings
from components.training.settings import REFERENCE, Hardware
from tests.support import make_output
from tests.support import row as filled

WIDTH, CELLS, VIEWS = 6, 4, 3
KINDS = ("dog", "cat", "bird", "boat")
SETTINGS = CaptionerSettings.model_validate(
    {
        "epochs": 3, "batch": 4, "optimiser": "adam", "learning_rate": 0.02, "warm_up_steps": 1, "decay_per_1000": 0.5,
        "weight_decay": 0.0, "clip_gradient": 1.0, "width": 8, "heads": 2, "layers": 1, "feedforward": 16,
        "pre_norm": False, "dropout": 0.2, "longest": 5,
        "min_count": 1, "label_smoothing": 0.1,
        "self_critical": {"epochs": 2, "batch": 3, "samples": 2, "baseline": "greedy", "learning_rate": 0.01},
    }
).plain()  # fmt: skip
FROZEN = {"name": "none", "weights_sha256": "", "trained": False}


class SmallNetwork(CaptionNetwork):
    """The mean of the features starts a recurrent layer; enough to learn which of a few kinds an image shows."""

    def __init__(self, config: CaptionerConfig) -> None:
        super().__init__()
        self.config = config
        self.read = nn.Linear(config.image_features, config.width)
        self.embedding = nn.Embedding(config.vocabulary, config.width)
        self.cell = nn.GRUCell(config.width, config.width)
        self.dropout = nn.Dropout(config.dropout)

    def encode(self, features: Tensor) -> Tensor:
        return torch.tanh(self.read(features.mean(1)))

    def decode(self, memory: Tensor, words: Tensor) -> Tensor:
        state = {"hidden": memory.repeat_interleave(len(words) // len(memory), 0)}
        return torch.stack([self.step(state, words[:, place]) for place in range(words.shape[1])], dim=1)

    def start(self, memory: Tensor, rows: int) -> Any:
        return {"hidden": memory.repeat_interleave(rows, 0)}

    def step(self, state: Any, words: Tensor) -> Tensor:
        state["hidden"] = self.cell(self.dropout(self.embedding(words)), state["hidden"])
        return state["hidden"] @ self.embedding.weight.T

    def reorder(self, state: Any, rows: Tensor) -> None:
        state["hidden"] = state["hidden"][rows]


class SmallEncoder(nn.Module):
    """Images to a map of 2 × 2 cells, with a batch norm that trains."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(3, WIDTH, 8, 8), nn.BatchNorm2d(WIDTH), nn.ReLU(), nn.AdaptiveAvgPool2d(2))

    def encode(self, images: Tensor) -> Tensor:
        cells = self.layers(images.float() / 127.5 - 1.0).flatten(2).transpose(1, 2)
        return torch.cat([cells.mean(1, keepdim=True), cells], 1)


def npy(array: np.ndarray) -> bytes:
    target = io.BytesIO()
    np.save(target, array)
    return target.getvalue()


def features_of(kind: int, number: int) -> np.ndarray:
    """Views × (1 + cells) × F around the kind's own vector; the first vector is the cells' mean."""
    source = np.random.default_rng(number)
    cells = np.eye(WIDTH)[kind] * 3 + source.normal(0, 0.3, (VIEWS, CELLS, WIDTH))
    return np.concatenate([cells.mean(1, keepdims=True), cells], axis=1).astype(np.float16)


def image_of(kind: int, number: int) -> bytes:
    from PIL import Image

    pixels = np.full((40, 48, 3), 40 * kind + 30, dtype=np.uint8)
    pixels[: 5 + number % 20, :, kind % 3] = 255
    target = io.BytesIO()
    Image.fromarray(pixels).save(target, "PNG")
    return target.getvalue()


def prepared(root: Path, training: int = 11, validation: int = 4, *, images: bool = False, edit: Any = None) -> StageOutput:
    """Captions like "a small dog", two shards; ``edit(row)`` changes a record."""
    shards: list[list[dict[str, Any]]] = [[], []]
    media: list[dict[str, bytes]] = [{}, {}]
    for number in range(training + validation):
        kind = number % len(KINDS)
        data = image_of(kind, number) if images else npy(features_of(kind, number))
        sha = hashlib.sha256(data).hexdigest()
        member = f"{sha}.{'png' if images else 'npy'}"
        words = ["a", ("small", "big")[number % 2], KINDS[kind]]
        row = {
            "key": f"k{number:03d}", "split": "train" if number < training else "validation", "group": f"g{number}",
            "caption": " ".join(words), "words": words, "image_sha256": sha, "media": f"0000{number % 2}/{member}",
        }  # fmt: skip
        if edit:
            edit(row)
        shards[number % 2].append(filled("extract_features", **row))
        media[number % 2][member] = data
    return make_output(root, "extract_features", shards, media=media)


def task_of(root: Path, output: StageOutput, hardware: Hardware = REFERENCE) -> Task:
    work = root / "work"
    work.mkdir(exist_ok=True)
    return Task(hardware, None, ResultCache(root / "annotations"), {"input": output}, work, "english", root, root, code="c")


def spec_of(network: str = "t2t8x8", encoder: dict[str, Any] | None = None, **settings: Any) -> dict[str, Any]:
    return {"network": network, "seed": 0, "settings": SETTINGS | settings, "encoder": encoder or FROZEN}


def no_second_phase() -> dict[str, Any]:
    return {"self_critical": {**SETTINGS["self_critical"], "epochs": 0}}
