"""Captioning of test pictures: load a model, read features or pictures in batches, decode by beam search.

A captioner with a frozen encoder reads the features that ``extract_features`` made with that encoder. A captioner that was
trained with its encoder reads pictures, from a set prepared with ``encoder.frozen: false``.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from components.core.errors import HearsightError
from components.core.view_arrays import SUFFIX, PackedViews
from components.models.beam import generate
from components.models.trained import CONFIG, WEIGHTS, TrainedCaptioner, load_trained
from components.stages.evaluate_captioners.inputs import read_rows, read_settings
from components.vision.image_encoders import trainable_encoder
from components.vision.training_pictures import open_picture, whole_view

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from components.core.stage_output import StageOutput
    from components.execution.stage import Task

    Features = NDArray[np.float16]
    """(1 + cells) × F of one picture: the vector of the full picture, then those of the grid cells."""
    Pixels = NDArray[np.uint8]
    """side × side × 3 of one picture."""

CAPTIONS = "captions.json"
BATCH = 64
"""Pictures per batch."""
ARRAYS = (".npy", SUFFIX)
"""Endings of members that hold features."""


def write_captions(spec: dict[str, Any], task: Task, folder: Path) -> None:
    """Write ``captions.json``: sha256 of each test picture → its caption.

    Args:
        spec: ``test`` and ``cell`` (names of inputs), ``folder`` (the model's, in its cell), and the digests of all files read.

    Raises:
        HearsightError: the model cannot be loaded, or was trained with another encoder.
    """
    torch.set_num_threads(1)
    test, cell = task.inputs[spec["test"]], task.inputs[spec["cell"]]
    files = [cell.file(f"{spec['folder']}/{name}") for name in (WEIGHTS, CONFIG)]
    pictures = {row["image_sha256"]: row["media"] for row in reversed(read_rows(test, "test"))}
    try:
        encoder = require_encoder(json.loads(files[1].read_text(encoding="utf-8")), read_settings(test))
        media = list(pictures.values())
        items = read_pictures(test, media, encoder["side"]) if encoder.get("trained") else read_features(test, media)
        written = caption_pictures(files[0].parent, items, task.params["beam"], task.params["length_power"])
    except ValueError as error:
        raise HearsightError(
            f"cannot caption the pictures of {test.name}: {error}",
            where=cell.path / spec["folder"],
            hint="train it again on features of the same encoder (extract_features), or remove the cell",
        ) from error
    captions = dict(zip(pictures, written, strict=True))
    (folder / CAPTIONS).write_text(json.dumps(captions, sort_keys=True, ensure_ascii=False), encoding="utf-8")


def require_encoder(config: Mapping[str, Any], prepared: Mapping[str, Any]) -> dict[str, Any]:
    """Return the encoder settings of a model's ``config.json``, checked against those of the set where both have them.

    Raises:
        ValueError: the encoders differ, or one takes pictures and the other features.
    """
    if not isinstance(config, Mapping):
        raise ValueError("its config.json is not an object")
    model_encoder, set_encoder = config.get("encoder") or {}, prepared.get("encoder") or {}
    if set_encoder and bool(model_encoder.get("trained")) != bool(set_encoder.get("trained")):
        takes, holds = ("pictures", "features") if model_encoder.get("trained") else ("features", "pictures")
        raise ValueError(f"it takes {takes}, and the set was prepared as {holds} (extract_features.encoder.frozen)")
    for name in () if model_encoder.get("trained") else ("name", "side", "weights_sha256"):
        if name in model_encoder and name in set_encoder and model_encoder[name] != set_encoder[name]:
            raise ValueError(
                f"its encoder's {name} is {_shorten(model_encoder[name])}, and the features' is {_shorten(set_encoder[name])}"
            )
    return dict(model_encoder)


def _shorten(value: Any) -> str:
    return f"'{value[:12]}'" if isinstance(value, str) and len(value) == 64 else f"'{value}'"


def read_features(test: StageOutput, media: Sequence[str]) -> Iterator[Features]:
    """Yield the features of the undistorted view of each picture; raise ValueError if a member does not hold features."""
    for name in media:
        if not name.endswith(ARRAYS):
            raise ValueError(f"{name} is a picture, and the model takes features: prepare the set with a frozen encoder")
        data = test.read_media(name)
        views = PackedViews(data).array() if name.endswith(SUFFIX) else np.load(io.BytesIO(data), allow_pickle=False)
        if views.ndim != 3 or not len(views) or not np.isfinite(views[0]).all():
            raise ValueError(f"{name} is not an array of views x cells x features, or holds values that are not finite")
        yield views[0]


def read_pictures(test: StageOutput, media: Sequence[str], side: int) -> Iterator[Pixels]:
    """Yield each picture, uncropped, at the size its encoder reads; raise ValueError if a member holds features."""
    for name in media:
        if name.endswith(ARRAYS):
            raise ValueError(
                f"{name} holds features, and the model takes pictures: prepare the set with an encoder that is not frozen"
            )
        yield whole_view(open_picture(test.read_media(name), side, name), side)


def caption_pictures(folder: Path, items: Iterable[Features | Pixels], beam: int, length_power: float) -> list[str]:
    """Return the caption of each picture, words separated by spaces; empty where the end token comes first.

    Args:
        folder: holds ``weights.safetensors`` and ``config.json``.
        items: features or pixels of each picture; only one batch is in memory.

    Raises:
        ValueError: the folder does not hold a whole captioner, or the captioner takes other features.
    """
    trained = load_trained(folder, encoder=lambda config: trainable_encoder(config["name"], side=config["side"]))
    captions: list[str] = []
    remaining = iter(items)
    while batch := list(islice(remaining, BATCH)):
        if len({item.shape for item in batch}) > 1:
            raise ValueError("the pictures' features differ in shape")
        vectors = _vectors(trained, np.stack(batch))
        written = generate(trained.model.network, vectors, beam=beam, length_power=length_power)
        captions += [trained.text(best.words) for best, *_ in written]
    return captions


def _vectors(trained: TrainedCaptioner, batch: NDArray[Any]) -> Tensor:
    """Return the network's input, B × L × F, for a batch of features or pixels."""
    model = trained.model
    if model.encoder is not None:
        with torch.inference_mode():
            return model.see(torch.from_numpy(batch).permute(0, 3, 1, 2))
    vectors = batch[:, 1:] if model.network.config.grid else batch[:, :1]
    if vectors.shape[2] != model.network.config.image_features or not vectors.shape[1]:
        shape, expected = f"{vectors.shape[1]} vectors of {vectors.shape[2]} numbers", model.network.config.image_features
        raise ValueError(f"the features are {shape}, and the model was trained on {expected}: they are of another encoder")
    return torch.from_numpy(vectors).float()
