"""What a captioner writes for each test picture: models read back, pictures or features in batches, captions by beam search.

A captioner of a frozen encoder reads what ``prepare`` made with the same one; a captioner that was trained with its encoder
reads the pictures themselves, of a set that was prepared so.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.core.errors import HearsightError
from components.stages.evaluate_captioners.inputs import read_about, rows_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor

    from components.core.stage_output import StageOutput
    from components.execution.stage import Task
    from components.models.captioners.interface import CaptionNetwork
    from components.models.trained import TrainedCaptioner

    Features = NDArray[np.float16]
    """(1 + cells) × F of one picture: the whole picture's vector, then the cells'."""
    Pixels = NDArray[np.uint8]
    """side × side × 3 of one picture."""

CAPTIONS = "captions.json"
BATCH = 64
"""Pictures captioned at a time."""


def write_captions(spec: dict[str, Any], task: Task, folder: Path) -> None:
    """Write ``captions.json``: sha256 of each test picture → its caption.

    Args:
        spec: ``test`` and ``cell`` (inputs), ``folder`` (of the model in its cell), and the digests of all that is read.

    Raises:
        HearsightError: the model cannot be read, or was trained on what another encoder sees.
    """
    import torch

    from components.models.trained import CONFIG, WEIGHTS

    torch.set_num_threads(1)
    test, cell = task.inputs[spec["test"]], task.inputs[spec["cell"]]
    files = [cell.file(f"{spec['folder']}/{name}") for name in (WEIGHTS, CONFIG)]
    pictures = {row["image_sha256"]: row["media"] for row in reversed(rows_of(test, "test"))}
    try:
        encoder = require_encoder(json.loads(files[1].read_text(encoding="utf-8")), read_about(test))
        media = list(pictures.values())
        seen = read_pictures(test, media, encoder["side"]) if encoder.get("trained") else read_features(test, media)
        written = caption_pictures(files[0].parent, seen, task.params["beam"], task.params["length_power"])
    except ValueError as error:
        raise HearsightError(
            f"cannot caption the pictures of {test.name}: {error}",
            where=cell.path / spec["folder"],
            hint="train it again on what `prepare` made with the same encoder, or leave the cell out",
        ) from error
    captions = dict(zip(pictures, written, strict=True))
    (folder / CAPTIONS).write_text(json.dumps(captions, sort_keys=True, ensure_ascii=False), encoding="utf-8")


def require_encoder(config: Mapping[str, Any], about: Mapping[str, Any]) -> dict[str, Any]:
    """What a model's ``config.json`` says of its encoder, held to what the set says of its own, as far as both say.

    Raises:
        ValueError: it was trained on features of another encoder than the set's, or one takes pictures and the other features.
    """
    if not isinstance(config, Mapping):
        raise ValueError("its config.json holds no settings")
    learned, seen = config.get("encoder") or {}, about.get("encoder") or {}
    if seen and bool(learned.get("trained")) != bool(seen.get("trained")):
        takes, holds = ("pictures", "features") if learned.get("trained") else ("features", "pictures")
        raise ValueError(f"it takes {takes}, and the set was prepared as {holds} (prepare.encoder.frozen)")
    for name in () if learned.get("trained") else ("name", "side", "weights_sha256"):
        if name in learned and name in seen and learned[name] != seen[name]:
            raise ValueError(f"its encoder's {name} is {_shown(learned[name])}, and the features' is {_shown(seen[name])}")
    return dict(learned)


def _shown(value: Any) -> str:
    return f"'{value[:12]}'" if isinstance(value, str) and len(value) == 64 else f"'{value}'"


def read_features(test: StageOutput, media: Sequence[str]) -> Iterator[Features]:
    """The undistorted view of each picture.

    Raises:
        ValueError: a member holds no features.
    """
    import numpy as np

    for name in media:
        if not name.endswith(".npy"):
            raise ValueError(f"{name} is a picture, and features are compared: prepare the set with a frozen encoder")
        views = np.load(io.BytesIO(test.read_media(name)), allow_pickle=False)
        if views.ndim != 3 or not len(views) or not np.isfinite(views[0]).all():
            raise ValueError(f"{name} holds no features of views x cells x numbers, or some that are no numbers")
        yield views[0]


def read_pictures(test: StageOutput, media: Sequence[str], side: int) -> Iterator[Pixels]:
    """Each picture whole, at the size its encoder reads.

    Raises:
        ValueError: a member holds features.
    """
    from components.vision.training_pictures import open_picture, whole_view

    for name in media:
        if name.endswith(".npy"):
            raise ValueError(f"{name} holds features, and it takes pictures: prepare the set with an encoder that is not frozen")
        yield whole_view(open_picture(test.read_media(name), side, name), side)


def caption_pictures(folder: Path, seen: Iterable[Features | Pixels], beam: int, length_power: float) -> list[str]:
    """The caption of each picture, words parted by a space; empty where the end was likeliest at once.

    Args:
        folder: holds ``weights.safetensors`` and ``config.json``.
        seen: features, or pixels, of each picture; only a batch is held.

    Raises:
        ValueError: one line: the folder does not hold a captioner, or it takes other features.
    """
    import numpy as np

    trained = load_captioner(folder)
    captions: list[str] = []
    waiting = iter(seen)
    while batch := list(islice(waiting, BATCH)):
        if len({each.shape for each in batch}) > 1:
            raise ValueError("the pictures' features differ in shape")
        words = decode(trained.model.network, _vectors(trained, np.stack(batch)), beam, length_power)
        captions += [trained.text(row) for row in words]
    return captions


def _vectors(trained: TrainedCaptioner, batch: NDArray[Any]) -> Tensor:
    """What the network takes, B × L × F, of a batch of features or pixels."""
    import torch

    model = trained.model
    if model.encoder is not None:
        with torch.inference_mode():
            return model.see(torch.from_numpy(batch).permute(0, 3, 1, 2))
    vectors = batch[:, 1:] if model.network.config.grid else batch[:, :1]
    if vectors.shape[2] != model.network.config.image_features or not vectors.shape[1]:
        of, learned = f"{vectors.shape[1]} vectors of {vectors.shape[2]} numbers", model.network.config.image_features
        raise ValueError(f"the features are {of}, and it was trained on {learned}: another encoder's")
    return torch.from_numpy(vectors).float()


def load_captioner(folder: Path) -> TrainedCaptioner:
    """A trained captioner in eval mode, with its encoder where it was trained together with one.

    Raises:
        ValueError: one line: a file is missing or damaged, the network is unknown, or the weights are not its own.
    """
    from components.models.trained import load_trained
    from components.vision.image_encoders import trainable_encoder

    return load_trained(folder, encoder=lambda about: trainable_encoder(about["name"], side=about["side"]))


def decode(network: CaptionNetwork, features: Tensor, beam: int, length_power: float) -> list[list[int]]:
    """The words of each picture's caption (B × L × F in)."""
    from components.models.beam import generate

    return [best.words for (best, *_) in generate(network, features, beam=beam, length_power=length_power)]
