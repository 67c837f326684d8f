"""Trained dual encoders: loading, and embedding of utterances and images; dot products of the rows are similarities."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from components.core.errors import HearsightError
from components.models.dual_encoder_files import LoadedDualEncoder, load_dual_encoder
from components.retrieval.inputs import open_input
from components.retrieval.items import Crop, PairItems
from components.retrieval.pairs import Pairs
from components.speech.recognition.hub_states import open_ear
from components.training.inference import batch_size, batches, computing, device_of, explain_memory, place
from components.training.settings import PLAIN_INFERENCE
from components.vision.trained_encoders import trainable_encoder

if TYPE_CHECKING:
    from components.core.result_cache import ResultCache
    from components.core.stage_output import StageOutput
    from components.models.dual_encoder import DualEncoder, DualEncoderConfig
    from components.models.encoders import ImageEncoder
    from components.training.settings import Inference


FRAMES_A_SECOND = 100


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


def networks_of(models: StageOutput, keys: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return model → its network's settings, for these models of an output."""
    folders = {key: model_folder(models, key) for key in keys}
    return {key: json.loads((folder / "config.json").read_text(encoding="utf-8"))["network"] for key, folder in folders.items()}


def empty_image_encoder(config: DualEncoderConfig) -> ImageEncoder | None:
    """Return a large image tower's network, to be filled with weights; None if the towers build it themselves."""
    if config.image != "efficientnet_lite0":
        return None
    return trainable_encoder(config.image, None, config.image_side)


@torch.inference_mode()
def embed_speech(network: DualEncoder, items: PairItems, hardware: Inference = PLAIN_INFERENCE) -> NDArray[np.float32]:
    """Return the embeddings of the utterances of ``items``, n × D, in order, computed on the network's device."""

    def read(numbers: list[int]) -> tuple[Tensor, Tensor]:
        return items.speech([(0, number) for number in numbers])

    order = np.arange(len(items))
    if not items.fixed:
        # Clips of similar length side by side, since the shorter ones are padded.
        seconds = items.pairs.utterances["seconds"].to_numpy()[items.rows]
        order = np.minimum(seconds, items.frames / FRAMES_A_SECOND).argsort(kind="stable")
    return _embed(network, read, order, network.embed_speech, network.speech.cpu_batch, hardware)


@torch.inference_mode()
def embed_images(
    network: DualEncoder, items: PairItems, images: NDArray[np.int64], hardware: Inference = PLAIN_INFERENCE
) -> NDArray[np.float32]:
    """Return the embeddings of images by number, m × D, computed on the network's device."""

    def read(numbers: list[int]) -> tuple[Tensor]:
        return (items.images([(0, "", int(images[number])) for number in numbers]),)

    return _embed(network, read, np.arange(len(images)), network.embed_images, network.image.cpu_batch, hardware)


def _embed(
    network: DualEncoder,
    read: Callable[[list[int]], tuple[Tensor, ...]],
    order: NDArray[np.int64],
    embed: Callable[..., Tensor],
    cpu_batch: int,
    hardware: Inference,
) -> NDArray[np.float32]:
    """Return the embeddings of items 0 to n - 1, computed in this order."""
    device = device_of(network)
    embeddings = np.zeros((len(order), network.config.embedding), np.float32)
    with computing(hardware, device):
        size = batch_size(hardware, device, cpu_batch)
        for numbers, inputs in batches(read, order.tolist(), size, device, hardware):
            embeddings[numbers] = embed(*inputs).float().cpu().numpy()
    return embeddings


def embed_pairs(
    network: DualEncoder,
    pairs: Pairs,
    *,
    annotations: ResultCache,
    project: Path,
    frames: int,
    crops: Sequence[Crop],
    hardware: Inference,
    where: str,
    texts: Sequence[str] | None = None,
) -> tuple[NDArray[np.float32], dict[Crop, NDArray[np.float32]]]:
    """Return the embeddings of a split in the order of ``pairs``: of its utterances (n × D), and by crop of its images (m × D).

    Args:
        annotations: the cache of states.
        project: the root that the folder of an ear is relative to.
        frames: clip length of the model's training.
        crops: of the images: the centre, as in training, or the whole.
        hardware: the network is moved to its device.
        where: location named in errors.
        texts: what a text tower reads, by default the captions.

    Raises:
        HearsightError: memory is insufficient, or there is no GPU.
    """
    ear = open_ear(network.config.plain(), project, hardware.device())
    items = PairItems(
        pairs,
        open_input(network.speech, pairs, 0, annotations, texts, ear),
        np.arange(len(pairs)),
        seed=0,
        frames=frames,
        side=network.config.image_side,
        training=False,
        fixed=network.speech.padding_counts,
    )
    place(network, hardware)
    with explain_memory(batch_size(hardware, device_of(network), network.speech.cpu_batch), where):
        speech, images = embed_speech(network, items, hardware), {}
        for crop in crops:
            items.crop = crop
            images[crop] = embed_images(network, items, np.arange(len(pairs.sha256)), hardware)
    return speech, images
