"""Image encoders as settings and trained models name them: their weights found, compared with those recorded, ready to use."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from components.core.addresses import installed_file
from components.core.errors import HearsightError
from components.execution.resources import Device, Resources
from components.hub.model import find_model, find_recorded
from components.vision.features import SIDE, ImageFeatures
from components.vision.image_encoders import CAPTIONERS, HUB, EncodedImage, ViewSpec, Weights, weights_digest, weights_name

if TYPE_CHECKING:
    from collections.abc import Mapping

MOBILENET = "mobilenet_v2"


def find_weights(project: Path, encoder: str, weights: str) -> Weights:
    """Return what the setting ``weights`` of an encoder names; raise HearsightError if a hub's model is not there."""
    if encoder == HUB:
        return find_model(project, weights)
    return installed_file(project, weights) if weights else None


def recorded_encoder(about: Mapping[str, Any], weights: Path | None = None, view_spec: ViewSpec = CAPTIONERS) -> EncodedImage:
    """Return the frozen encoder that a trained model's ``config.json`` records.

    Args:
        about: name, side, ``trained_blocks``, ``weights_sha256``, of ``hub`` also ``model``.
        weights: a file, for ``hub`` a folder; None for packaged weights, or for the model that is recorded.

    Raises:
        HearsightError: these are other weights than those it was trained with, or as :class:`EncodedImage`.
    """
    name = about["name"]
    found = find_recorded(str(weights or about["model"])) if name == HUB else weights
    encoder = EncodedImage(name, found, about["side"], view_spec=view_spec, without=about.get("trained_blocks", 0))
    if encoder.digest != about.get("weights_sha256", encoder.digest):
        what = f"reads features of {name} with other weights ({about['weights_sha256'][:40]})"
        raise HearsightError(what, where=weights_name(found) or name, hint="name the weights that extract_features was given")
    return encoder


class PostEncoder(NamedTuple):
    """The encoder whose features compare posts' images; as a list it is part of a job's key."""

    name: str = ""
    """``mobilenet_v2``, ``hub``, or empty for EfficientNet-lite0 as posts have always been compared by it."""
    weights: str = ""
    """The file, relative to the project, or the hub's model."""
    digest: str = ""
    device: Device = "cpu"

    @classmethod
    def of(cls, project: Path, mobilenet: str, model: str = "", device: Device = "cpu") -> PostEncoder:
        """Return the encoder of the settings ``mobilenet_v2`` and ``encoder``, with the digest of its weights.

        Raises:
            HearsightError: both are set, or the weights cannot be read.
        """
        if mobilenet and model:
            raise HearsightError("are two encoders", where="mobilenet_v2, encoder", hint="set one of them")
        if not mobilenet and not model:
            return cls()
        name, weights = (HUB, model) if model else (MOBILENET, mobilenet)
        return cls(name, weights, weights_digest(name, find_weights(project, name, weights)), device)

    @property
    def resources(self) -> Resources:
        """What an item of work needs of the engine."""
        return Resources(gpus=int(self.device == "gpu"))

    def annotator(self, project: Path) -> ImageFeatures | EncodedImage:
        """Return the annotator of whole images; the first of its vectors has ``width`` values (PCV §4.3.2: 1,280)."""
        if not self.name:
            return ImageFeatures()
        side = 0 if self.name == HUB else SIDE
        weights = find_weights(project, self.name, self.weights)
        return EncodedImage(self.name, weights, side, self.digest, ViewSpec(grid=False), self.device)
