"""Captioning of images: load a model or an ensemble, read features or images in batches, decode by beam search.

A captioner with a frozen encoder reads the features that ``extract_features`` made with that encoder. A captioner that was
trained with its encoder reads images, from a set prepared with ``encoder.frozen: false``.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from components.core.errors import HearsightError
from components.core.view_arrays import SUFFIX, PackedViews
from components.models.beam import generate
from components.models.captioners.ensemble import Ensemble
from components.models.packed_linear import pack_linear_layers
from components.models.towers import EncodedImage
from components.models.trained_captioner import CONFIG, WEIGHTS, ImageCaptioner, load_trained
from components.stages.evaluate_captioners.inputs import read_rows, read_settings
from components.training.inference import batch_size, batches, computing, device_of, explain_memory, place
from components.training.settings import PLAIN_INFERENCE
from components.vision.trained_encoders import captioner_encoder
from components.vision.training_images import open_image, whole_view

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from components.core.stage_output import StageOutput
    from components.execution.stage import Task
    from components.training.settings import Inference

    Features = NDArray[np.float16]
    """(1 + cells) × F of one image: the vector of the full image, then those of the grid cells."""
    Pixels = NDArray[np.uint8]
    """side × side × 3 of one image."""

CAPTIONS = "captions.json"
ARRAYS = (".npy", SUFFIX)
"""Endings of members that hold features."""
CPU_BATCH = 64
"""Images decoded together on a processor (``benchmarks/README.md``)."""


Hypothesis = tuple[str, float]
"""A caption, words separated by spaces, and its log-probability a word."""


def write_captions(spec: dict[str, Any], task: Task, folder: Path) -> None:
    """Write ``captions.json``: sha256 of each image of a split → its hypotheses, the most likely first.

    Args:
        spec: ``input`` (the name of the set's input), ``split``, ``files`` (of a model), ``beam`` and ``best`` (of
            :func:`components.models.beam.generate`), and the set's digest.
        task: ``params`` is the :class:`~components.training.settings.Inference`.

    Raises:
        HearsightError: the model cannot be loaded, or was trained with another encoder; memory is insufficient.
    """
    torch.set_num_threads(1)
    output = task.inputs[spec["input"]]
    cells = [task.inputs[file["cell"]] for file in spec["files"]]
    files = [
        [cell.file(f"{file['folder']}/{name}") for name in (WEIGHTS, CONFIG)]
        for cell, file in zip(cells, spec["files"], strict=True)
    ]
    images = {row["image_sha256"]: row["media"] for row in reversed(read_rows(output, spec["split"]))}
    try:
        prepared = read_settings(output)
        encoders = [require_encoder(json.loads(config.read_text(encoding="utf-8")), prepared) for _, config in files]
        encoder = encoders[0]
        read = partial(read_image, output, side=encoder["side"]) if encoder.get("trained") else partial(read_features, output)
        search = {name: spec[name] for name in ("beam", "best")}
        written = caption_images([weights.parent for weights, _ in files], read, list(images.values()), task.params, **search)
    except ValueError as error:
        raise HearsightError(
            f"cannot caption the images of {output.name}: {error}",
            where=cells[0].path / spec["files"][0]["folder"],
            hint="train it again on features of the same encoder (extract_features), or remove the cell",
        ) from error
    captions = dict(zip(images, written, strict=True))
    (folder / CAPTIONS).write_text(json.dumps(captions, sort_keys=True, ensure_ascii=False), encoding="utf-8")


def require_encoder(config: Mapping[str, Any], prepared: Mapping[str, Any]) -> dict[str, Any]:
    """Return the encoder settings of a model's ``config.json``, checked against those of the set where both have them.

    Raises:
        ValueError: the encoders differ, or one takes images and the other features.
    """
    if not isinstance(config, Mapping):
        raise ValueError("its config.json is not an object")
    model_encoder, set_encoder = config.get("encoder") or {}, prepared.get("encoder") or {}
    if set_encoder and bool(model_encoder.get("trained")) != bool(set_encoder.get("trained")):
        takes, holds = ("images", "features") if model_encoder.get("trained") else ("features", "images")
        raise ValueError(f"it takes {takes}, and the set was prepared as {holds} (extract_features.encoder.frozen)")
    blocks = [about.get("trained_blocks", 0) for about in (model_encoder, set_encoder)]
    if set_encoder and blocks[0] != blocks[1]:
        raise ValueError("it trains {} last blocks, and the set was prepared for {}".format(*blocks))
    for name in () if model_encoder.get("trained") else ("name", "side", "weights_sha256"):
        if name in model_encoder and name in set_encoder and model_encoder[name] != set_encoder[name]:
            raise ValueError(
                f"its encoder's {name} is {_shorten(model_encoder[name])}, and the features' is {_shorten(set_encoder[name])}"
            )
    return dict(model_encoder)


def _shorten(value: Any) -> str:
    return f"'{value[:12]}'" if isinstance(value, str) and len(value) == 64 else f"'{value}'"


def read_features(test: StageOutput, name: str) -> Features:
    """Return the features of an image's undistorted view; raise ValueError if the member does not hold features."""
    if not name.endswith(ARRAYS):
        raise ValueError(f"{name} is an image, and the model takes features: prepare the set with a frozen encoder")
    data = test.read_media(name)
    views = PackedViews(data).array() if name.endswith(SUFFIX) else np.load(io.BytesIO(data), allow_pickle=False)
    if views.ndim != 3 or not len(views) or not np.isfinite(views[0]).all():
        raise ValueError(f"{name} is not an array of views x cells x features, or holds values that are not finite")
    features: Features = views[0]
    return features


def read_image(test: StageOutput, name: str, side: int) -> Pixels:
    """Return an image, uncropped, at the size its encoder reads; raise ValueError if the member holds features."""
    if name.endswith(ARRAYS):
        raise ValueError(f"{name} holds features, and the model takes images: prepare the set with an encoder that is not frozen")
    return whole_view(open_image(test.read_media(name), side, name), side)


def caption_images(
    folders: Sequence[Path],
    read: Callable[[str], Features | Pixels],
    media: Sequence[str],
    hardware: Inference = PLAIN_INFERENCE,
    **search: Any,
) -> list[list[Hypothesis]]:
    """Return the hypotheses of each image, the most likely first; empty text where the end token comes first.

    Args:
        folders: each holds ``weights.safetensors`` and ``config.json``; several are an ensemble.
        read: returns the features or pixels of an image, one of ``media``; only few batches are in memory.
        search: arguments of :func:`components.models.beam.generate`.

    Raises:
        ValueError: a folder does not hold a whole captioner, the captioner takes other features, or captioners cannot be an
            ensemble.
        HearsightError: memory is insufficient, or there is no GPU.
    """
    trained = [load_trained(folder, encoder=captioner_encoder) for folder in folders]
    models = [one.model for one in trained]
    for model in models:
        place(model, hardware)
    device = device_of(models[0])
    size = batch_size(hardware, device, CPU_BATCH)
    longest = models[0].network.config.longest

    def read_batch(numbers: list[int]) -> Tensor:
        return _inputs(models[0], [read(media[number]) for number in numbers])

    captions: list[list[Hypothesis]] = [[] for _ in media]
    with explain_memory(size, f"evaluate_captioners, {folders[0].name}"), torch.inference_mode(), computing(hardware, device):
        # Once, instead of in each batch.
        network = pack_linear_layers(models[0].network if len(models) == 1 else Ensemble([model.network for model in models]))
        for numbers, inputs in batches(read_batch, range(len(media)), size, device, hardware):
            for number, best in zip(numbers, generate(network, _vectors(models, inputs), **search), strict=True):
                captions[number] = [(trained[0].text(one.words), one.per_word(longest)) for one in best]
    return captions


def _vectors(models: Sequence[ImageCaptioner], inputs: Tensor) -> Tensor:
    """Return what the networks read, B × L × F; of trained encoders one's vectors beside the other's, B × L × nF."""
    if models[0].encoder is None:
        return models[0].see(inputs)
    # An encoder takes its own number of images at once on a processor.
    parts = inputs.split(len(inputs) if inputs.device.type != "cpu" else EncodedImage.cpu_batch)
    return torch.cat([torch.cat([model.see(part) for part in parts]) for model in models], dim=2)


def _inputs(model: ImageCaptioner, items: Sequence[Features | Pixels]) -> Tensor:
    """Return a batch of features (B × L × F) or pixels (B × 3 × side × side) as the model reads them."""
    if len({item.shape for item in items}) > 1:
        raise ValueError("the images' features differ in shape")
    config = model.network.config
    if model.encoder is not None:
        stacked = np.stack(items)
        # Pixels, or the cells before the blocks that were trained.
        return torch.from_numpy(stacked.transpose(0, 3, 1, 2) if stacked.dtype == np.uint8 else stacked[:, 1:])
    vectors = np.stack([item[1:] if config.grid else item[:1] for item in items])
    if vectors.shape[2] != config.image_features or not vectors.shape[1]:
        shape = f"{vectors.shape[1]} vectors of {vectors.shape[2]} numbers"
        raise ValueError(
            f"the features are {shape}, and the model was trained on {config.image_features}: they are of another encoder"
        )
    return torch.from_numpy(vectors)
