"""The speech–image dual encoder: two towers that share nothing, and the dot product of what they give (CSC, section 3).

With Inception-ResNet-v2 as both towers and an embedding of 1536 it is the paper's; lighter towers are chosen by name
(``speech_towers``, ``image_towers``). The paper states neither normalisation nor temperature, so similarity is most likely the
raw dot product, ``scale`` 0. With ``scale`` > 0 embeddings are L2-normalised and their dot product is multiplied by it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from torch import Tensor, nn
from torch.nn import functional as F

from components.models.encoders import ENCODERS, ImageEncoder
from components.models.image_towers import ConvolutionalImage, EncodedImage, FeatureImage
from components.models.inception_resnet_v2 import LEAST_SIDE
from components.models.speech_towers import ConvolutionalSpeech, InceptionSpeech, SpeechTower, set_momentum

SPEECH_NETWORKS = ("inception_resnet_v2", "convolutions")
IMAGE_NETWORKS = ("inception_resnet_v2", "efficientnet_lite0", "convolutions", "features")
SMALL_SIDE = 64
"""px of the pictures of the image network ``convolutions``, unless another side is named."""


@dataclass(frozen=True)
class DualEncoderConfig:
    """All that is needed to build the network again. Raises ValueError for what cannot be.

    The networks default to the light ones, all else to what the paper most likely has.
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
    """Share of activations dropped while training: of what is pooled, and in light ones between layers. The paper names none."""
    coefficients: int = 128
    """MFCCs a frame."""
    pool_padding: bool = True
    """Inception-ResNet-v2 over speech: the mean over the whole padded picture, or over a clip's own columns."""
    norm_momentum: float = 0.1
    """Inception-ResNet-v2: share of each batch in batch norms' running figures (a network handed in keeps its own). TF-slim's
    is .0003, which the paper's 3 M steps can afford: below some 10 k steps what evaluation uses would be far from the truth."""
    channels: int = 192
    """``convolutions``: of the speech tower's layers, and of the image tower's last."""
    layers: int = 3
    """``convolutions``: each halves the frames, or a picture's sides."""
    image_features: int = 1280
    """``features``: F of the frozen encoder."""
    side: int = 0
    """px of square pictures; 0 is the image network's own: 299, 256 or 64. ``features`` has none."""

    def __post_init__(self) -> None:
        self._check_types()
        wrong = [
            text
            for holds, text in (
                (self.speech in SPEECH_NETWORKS, f"'{self.speech}' is no speech network: {', '.join(SPEECH_NETWORKS)}"),
                (self.image in IMAGE_NETWORKS, f"'{self.image}' is no image network: {', '.join(IMAGE_NETWORKS)}"),
                (self.embedding >= 1, "embedding must be 1 or more"),
                (0.0 <= self.scale < math.inf, "scale must be 0 or more"),
                (0.0 <= self.dropout < 1.0, "dropout lies within 0 and 1, and is less than 1"),
                (self.coefficients >= 1, "coefficients must be 1 or more"),
                (
                    self.speech != "inception_resnet_v2" or self.coefficients >= LEAST_SIDE,
                    f"Inception-ResNet-v2 needs {LEAST_SIDE} coefficients or more, and here are {self.coefficients}",
                ),
                (0.0 < self.norm_momentum <= 1.0, "norm_momentum lies within 0 and 1, and is more than 0"),
                (self.channels >= 1 and self.layers >= 1, "channels and layers must be 1 or more"),
                (self.image_features >= 1, "image_features must be 1 or more"),
                (self.side >= 0, "side must be 0 or more"),
                (self.image != "features" or self.side == 0, "the image network 'features' reads no pictures: its side is 0"),
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
        kinds = {"str": str, "int": int, "float": (int, float), "bool": bool}
        for field in fields(self):
            value = getattr(self, field.name)
            right = isinstance(value, kinds[str(field.type)])  # type: ignore[arg-type]
            if not right or (isinstance(value, bool) and field.type != "bool"):
                raise ValueError(f"{field.name} is {value!r}, and must be of the type {field.type}")

    @property
    def picture_side(self) -> int:
        """px of the square pictures that the image tower reads; 0 where it reads features."""
        if self.image == "features":
            return 0
        return self.side or (ENCODERS[self.image].side if self.image in ENCODERS else SMALL_SIDE)

    def plain(self) -> dict[str, Any]:
        """As JSON-able values."""
        return asdict(self)

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> DualEncoderConfig:
        """From :meth:`plain`; ValueError where a setting is missing, unknown or cannot be."""
        names = {field.name for field in fields(cls)}
        differing = sorted(names ^ set(values))
        if differing:
            raise ValueError(f"has network settings of another version: {', '.join(differing)}")
        return cls(**values)


class DualEncoder(nn.Module):
    """Both towers and their similarity. Nothing is shared between them."""

    def __init__(self, config: DualEncoderConfig, image_encoder: ImageEncoder | None = None) -> None:
        """Build the towers.

        Args:
            image_encoder: of the name and side that the config names. It must be given for efficientnet_lite0, and may be for
                inception_resnet_v2, which is new otherwise; its parameters are trained as their ``requires_grad`` says.

        Raises:
            ValueError: an encoder is missing, or is another one, or the image tower has none.
        """
        super().__init__()
        self.config = config
        self.speech: SpeechTower = _speech_tower(config)
        self.image: nn.Module = _image_tower(config, image_encoder)

    def embed_speech(self, features: Tensor, lengths: Tensor) -> Tensor:
        """Embeddings of unnormalised MFCCs (B × coefficients × frames), ready for a dot product: B × embedding, float32."""
        return self.finish(self.speech(self.speech.normalise(features, lengths), lengths))

    def embed_images(self, pictures: Tensor) -> Tensor:
        """Embeddings ready for a dot product, B × embedding, float32.

        Args:
            pictures: B × 3 × side × side of 0..255 (bytes or floats, RGB); for ``features`` B × image features.
        """
        return self.finish(self.image(pictures))

    def finish(self, embedding: Tensor) -> Tensor:
        """A tower's output as the embedding that similarity is taken of, in single precision."""
        embedding = embedding.float()
        # The scale is shared out evenly, so a stored embedding needs nothing but a dot product.
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
    return ConvolutionalSpeech(
        config.coefficients, config.embedding, config.dropout, channels=config.channels, layers=config.layers
    )


def _image_tower(config: DualEncoderConfig, encoder: ImageEncoder | None) -> nn.Module:
    name, side = config.image, config.picture_side
    if name not in ENCODERS:
        if encoder is not None:
            raise ValueError(f"the image network '{name}' takes no encoder, and {encoder.kind.name} is handed in")
        if name == "features":
            return FeatureImage(config.image_features, config.embedding, config.dropout)
        return ConvolutionalImage(side, config.embedding, config.dropout, channels=config.channels, layers=config.layers)
    if encoder is None:
        encoder = ImageEncoder(name, side=side)
        set_momentum(encoder, config.norm_momentum)
    if (encoder.kind.name, encoder.side) != (name, side):
        raise ValueError(f"{encoder.kind.name} of {encoder.side} px is handed in for {name} of {side} px")
    return EncodedImage(encoder, config.embedding, config.dropout)
