"""Trained dual encoders: loading, and embedding of utterances and pictures; dot products of the rows are similarities."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from components.core.errors import HearsightError
from components.models.loading import LoadedDualEncoder, load_dual_encoder
from components.retrieval.items import Coefficients, Crop, PairItems
from components.retrieval.pairs import Pairs
from components.vision.image_encoders import trainable_encoder

if TYPE_CHECKING:
    from components.core.stage_output import StageOutput
    from components.models.dual_encoder import DualEncoder, DualEncoderConfig
    from components.models.encoders import ImageEncoder


def open_dual_encoder(models: StageOutput, key: str) -> LoadedDualEncoder:
    """Return the model of this key, in eval mode; errors as :func:`open_folder`."""
    return open_folder(model_folder(models, key), models.name)


def open_folder(folder: Path, where: str) -> LoadedDualEncoder:
    """Return the model in ``folder``, in eval mode.

    Args:
        where: location named in errors.

    Raises:
        HearsightError: files are missing, damaged or of another version.
    """
    try:
        return load_dual_encoder(folder, image_encoder=empty_image_encoder)
    except ValueError as error:
        raise HearsightError(str(error), where=where, hint="run the stage that made it again") from error


def model_folder(trained: StageOutput, key: str) -> Path:
    """Return the folder of a model's files, as recorded in the manifest."""
    folders = {trained.file(f"models/{key}/{name}").parent for name in ("weights.safetensors", "config.json")}
    if len(folders) != 1:
        raise HearsightError(f"the files of model {key} are in different folders", where=trained.path, hint="run its stage again")
    return folders.pop()


def empty_image_encoder(config: DualEncoderConfig) -> ImageEncoder | None:
    """Return a large image tower's network, to be filled with weights; None if the towers build it themselves."""
    if config.image != "efficientnet_lite0":
        return None
    return trainable_encoder(config.image, None, config.picture_side)


AT_ONCE = 32
"""Clips, or pictures, embedded in one batch."""


@torch.inference_mode()
def embed_speech(network: DualEncoder, items: PairItems, device: Any = "cpu") -> NDArray[np.float32]:
    """Return the embeddings of the utterances of ``items``, n × D, in order."""
    parts = [torch.zeros(0, network.config.embedding)]
    for first in range(0, len(items), AT_ONCE):
        speech, lengths = items.speech([(0, item) for item in range(first, min(first + AT_ONCE, len(items)))])
        parts.append(network.embed_speech(speech.to(device), lengths.to(device)).float().cpu())
    return torch.cat(parts).numpy()


@torch.inference_mode()
def embed_pictures(
    network: DualEncoder, items: PairItems, pictures: NDArray[np.int64], device: Any = "cpu"
) -> NDArray[np.float32]:
    """Return the embeddings of pictures by number, m × D."""
    parts = [torch.zeros(0, network.config.embedding)]
    for first in range(0, len(pictures), AT_ONCE):
        batch = items.pictures([(0, "", int(number)) for number in pictures[first : first + AT_ONCE]])
        parts.append(network.embed_images(batch.to(device)).float().cpu())
    return torch.cat(parts).numpy()


def embed_pairs(
    network: DualEncoder, pairs: Pairs, *, frames: int, crops: Sequence[Crop]
) -> tuple[NDArray[np.float32], dict[Crop, NDArray[np.float32]]]:
    """Return the embeddings of a split in the order of ``pairs``: of its utterances (n × D), and by crop of its pictures (m × D).

    Args:
        frames: clip length of the model's training.
        crops: of the pictures: the centre, as in training, or the whole.
    """
    items = PairItems(
        pairs,
        Coefficients(pairs, 0),
        np.arange(len(pairs)),
        seed=0,
        frames=frames,
        side=network.config.picture_side,
        training=False,
        fixed=network.speech.padding_counts,
    )
    speech, pictures = embed_speech(network, items), {}
    for crop in crops:
        items.crop = crop
        pictures[crop] = embed_pictures(network, items, np.arange(len(pairs.sha256)))
    return speech, pictures
