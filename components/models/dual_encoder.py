"""The speech–image dual encoder: two separate towers and the dot product of their outputs (CSC §3).

The paper's model has Inception-ResNet-v2 as both towers and an embedding of 1536; lighter towers are chosen by name
(``towers``). The paper names neither normalisation nor temperature, so similarity is most likely the raw
dot product, ``scale`` 0. With ``scale`` > 0, embeddings are L2-normalised and their dot product is multiplied by it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from torch import Tensor, nn
from torch.nn import functional as F

from components.models.encoders import ENCODERS, ImageEncoder
from components.models.inception_resnet_v2 import LEAST_SIDE
from components.models.pooled_towers import CHANNELS, StateSpeech, TextSpeech
from components.models.towers import (
    ConvolutionalImage,
    ConvolutionalSpeech,
    EncodedImage,
    FeatureImage,
    ImageTower,
    InceptionSpeech,
    SpeechTower,
    set_momentum,
)

SPEECH_NETWORKS = ("inception_resnet_v2", "convolutions", "whisper", "text")
IMAGE_NETWORKS = ("inception_resnet_v2", "efficientnet_lite0", "convolutions", "features")
EAR: dict[str, Any] = {"ear": "", "ear_sha256": "", "states": CHANNELS}
"""Fields that are stored only if ``ear`` is set: models without it are older, or the same as these."""
SMALL_SIDE = 64
"""Default side in px of the images of the image network ``convolutions``."""


@dataclass(frozen=True)
class DualEncoderConfig:
    """Everything needed to rebuild the network; raises ValueError for invalid values.

    The networks default to the light ones, all other fields to what the paper most likely uses.
    """

    speech: str = "convolutions"
    """The speech tower, one of :data:`SPEECH_NETWORKS`; the paper: inception_resnet_v2."""
    image: str = "features"
    """The image tower, one of :data:`IMAGE_NETWORKS`; the paper: inception_resnet_v2."""
    embedding: int = 1536
    """Dimensions of the shared space. Inception-ResNet-v2 has no projection at 1536, its own width."""
    scale: float = 0.0
    """Factor of the cosine similarity; 0 is the raw dot product."""
    dropout: float = 0.0
    """Dropout rate of pooled activations and, in light towers, between layers. The paper names none."""
    coefficients: int = 128
    """MFCCs a frame."""
    pool_padding: bool = True
    """Inception-ResNet-v2 over speech: mean over the whole padded input, or over a clip's own columns."""
    norm_momentum: float = 0.1
    """Inception-ResNet-v2: weight of each batch in the batch norms' running statistics (a given network keeps its own).
    TF-slim's is .0003, which suits the paper's 3 M steps; below about 10 k steps the statistics would be far from the data's."""
    channels: int = 192
    """``convolutions``: channels of the speech tower's layers, and of the image tower's last."""
    layers: int = 3
    """``convolutions``: each layer halves the frames, or an image's sides."""
    width: int = 768
    """``whisper`` and ``text``: width of the hidden layer."""
    ear: str = ""
    """``whisper``: the hub's model whose states it reads; empty for Whisper base."""
    ear_sha256: str = ""
    """Digest of its files."""
    states: int = CHANNELS
    """Numbers of a state."""
    vocabulary: tuple[str, ...] = ()
    """``text``: the words that it knows, at least one."""
    image_features: int = 1280
    """``features``: F of the frozen encoder."""
    side: int = 0
    """Side of the square images in px; 0 is the image network's default: 299, 256 or 64. ``features`` has none."""

    def __post_init__(self) -> None:
        self._check_types()
        wrong = [
            text
            for holds, text in (
                (self.speech in SPEECH_NETWORKS, f"'{self.speech}' is not a speech network: {', '.join(SPEECH_NETWORKS)}"),
                (self.image in IMAGE_NETWORKS, f"'{self.image}' is not an image network: {', '.join(IMAGE_NETWORKS)}"),
                (self.embedding >= 1, "embedding must be 1 or more"),
                (0.0 <= self.scale < math.inf, "scale must be 0 or more"),
                (0.0 <= self.dropout < 1.0, "dropout must be at least 0 and less than 1"),
                (self.coefficients >= 1, "coefficients must be 1 or more"),
                (
                    self.speech != "inception_resnet_v2" or self.coefficients >= LEAST_SIDE,
                    f"Inception-ResNet-v2 needs at least {LEAST_SIDE} coefficients, not {self.coefficients}",
                ),
                (0.0 < self.norm_momentum <= 1.0, "norm_momentum must be greater than 0 and at most 1"),
                (self.channels >= 1 and self.layers >= 1, "channels and layers must be 1 or more"),
                (self.width >= 1 and self.states >= 1, "width and states must be 1 or more"),
                (bool(self.ear) == bool(self.ear_sha256), "ear and ear_sha256 belong together"),
                (self.speech != "text" or bool(self.vocabulary), "the speech network 'text' needs a vocabulary"),
                (self.image_features >= 1, "image_features must be 1 or more"),
                (self.side >= 0, "side must be 0 or more"),
                (self.image != "features" or self.side == 0, "the image network 'features' reads no images: its side is 0"),
            )
            if not holds
        ]
        if not wrong and self.image in ENCODERS:
            try:
                ENCODERS[self.image].grid(self.side)
            except ValueError as error:
                wrong.append(str(error))
        if wrong:
            raise ValueError("; ".join(wrong))

    def _check_types(self) -> None:
        kinds = {"str": str, "int": int, "float": (int, float), "bool": bool, "tuple[str, ...]": tuple}
        for field in fields(self):
            value = getattr(self, field.name)
            valid = isinstance(value, kinds[str(field.type)])  # type: ignore[arg-type]
            if not valid or (isinstance(value, bool) and field.type != "bool"):
                raise ValueError(f"{field.name} is {value!r}; it must be of type {field.type}")

    @property
    def image_side(self) -> int:
        """Side in px of the square images that the image tower reads; 0 for features."""
        if self.image == "features":
            return 0
        return self.side or (ENCODERS[self.image].side if self.image in ENCODERS else SMALL_SIDE)

    def plain(self) -> dict[str, Any]:
        """Return the fields as JSON-able values, without those of an ear if there is none."""
        return {name: value for name, value in asdict(self).items() if self.ear or name not in EAR}

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> DualEncoderConfig:
        """Return the configuration of :meth:`plain`'s values; raise ValueError for missing, unknown or invalid ones."""
        names, values = {field.name for field in fields(cls)}, EAR | dict(values)
        differing = sorted(names ^ set(values))
        if differing:
            raise ValueError(f"has network settings of another version: {', '.join(differing)}")
        return cls(**{**values, "vocabulary": tuple(values["vocabulary"])})


class DualEncoder(nn.Module):
    """Both towers and their similarity; the towers share no weights."""

    def __init__(self, config: DualEncoderConfig, image_encoder: ImageEncoder | None = None) -> None:
        """Build the towers.

        Args:
            image_encoder: of the config's name and side. Required for efficientnet_lite0, optional for inception_resnet_v2
                (otherwise new); its parameters are trained according to their ``requires_grad``.

        Raises:
            ValueError: the encoder is missing, of another name or side, or given for a tower without one.
        """
        super().__init__()
        self.config = config
        self.speech: SpeechTower = _speech_tower(config)
        self.image: ImageTower = _image_tower(config, image_encoder)

    def embed_speech(self, features: Tensor, lengths: Tensor) -> Tensor:
        """Return the embeddings of the speech tower's input (B × rows × columns, not normalised), ready for a dot product:
        B × embedding, float32."""
        return self.finish(self.speech(self.speech.normalise(features, lengths), lengths))

    def embed_images(self, images: Tensor) -> Tensor:
        """Return the embeddings of images, ready for a dot product: B × embedding, float32.

        Args:
            images: B × 3 × side × side of 0..255 (bytes or floats, RGB); for ``features`` B × image features.
        """
        return self.finish(self.image(images))

    def finish(self, embedding: Tensor) -> Tensor:
        """Return a tower's output as an embedding ready for a dot product, in float32."""
        embedding = embedding.float()
        # Each side is multiplied by √scale, so that stored embeddings only need a dot product.
        return F.normalize(embedding, dim=1) * self.config.scale**0.5 if self.config.scale > 0 else embedding


def _speech_tower(config: DualEncoderConfig) -> SpeechTower:
    if config.speech == "inception_resnet_v2":
        return InceptionSpeech(
            config.coefficients,
            config.embedding,
            config.dropout,
            pool_padding=config.pool_padding,
            momentum=config.norm_momentum,
        )
    if config.speech == "whisper":
        return StateSpeech(config.embedding, config.dropout, width=config.width, states=config.states)
    if config.speech == "text":
        return TextSpeech(config.embedding, config.dropout, width=config.width, vocabulary=config.vocabulary)
    return ConvolutionalSpeech(
        config.coefficients, config.embedding, config.dropout, channels=config.channels, layers=config.layers
    )


def _image_tower(config: DualEncoderConfig, encoder: ImageEncoder | None) -> ImageTower:
    name, side = config.image, config.image_side
    if name not in ENCODERS:
        if encoder is not None:
            raise ValueError(f"the image network '{name}' takes no encoder, but {encoder.kind.name} is given")
        if name == "features":
            return FeatureImage(config.image_features, config.embedding, config.dropout)
        return ConvolutionalImage(side, config.embedding, config.dropout, channels=config.channels, layers=config.layers)
    if encoder is None:
        encoder = ImageEncoder(name, side=side)
        set_momentum(encoder, config.norm_momentum)
    if (encoder.kind.name, encoder.side) != (name, side):
        raise ValueError(f"{encoder.kind.name} of {encoder.side} px is given for {name} of {side} px")
    return EncodedImage(encoder, config.embedding, config.dropout)
