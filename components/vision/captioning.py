"""A trained captioner for image files, one at a time: the preprocessing of ``extract_features``, then beam search.

It is in ``vision``, because the describer (``tools``) and the model in MLflow (``tracking``) share it, and ``models`` knows no
files. A captioner with a frozen encoder reads that encoder's features of the padded image; one that was trained with its
encoder reads the image. Captions equal those of ``evaluate_captioners`` up to the rounding of batches (docs/training.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from components.core.digests import sha256_bytes
from components.core.errors import HearsightError
from components.models.beam import generate
from components.models.packed_linear import pack_linear_layers
from components.models.trained_captioner import TrainedCaptioner, load_trained
from components.vision.image_encoders import EncodedImage
from components.vision.image_files import require_image
from components.vision.named_encoders import recorded_encoder
from components.vision.trained_encoders import captioner_encoder
from components.vision.training_images import open_image, whole_view

BEAM = 4
"""Running hypotheses of the beam search (CC §5.2)."""
HINT = "train it again (docs/captioners.md)"


class WrittenCaption(NamedTuple):
    """A caption and how likely the network holds it."""

    text: str
    """Words separated by spaces; empty where the network ends at once."""
    words: tuple[str, ...]
    likelihood: float
    """Geometric mean of the probabilities of its words and of its end, 0..1."""


class Captioner:
    """A captioner that is loaded once; its methods change nothing, so threads may share it.

    Args:
        folder: of ``weights.safetensors`` and ``config.json``.
        weights: of the frozen image encoder, if no package contains them.

    Raises:
        HearsightError: the folder has no complete captioner.
    """

    def __init__(self, folder: Path, weights: Path | None = None) -> None:
        try:
            trained = load_trained(folder, encoder=captioner_encoder)
        except ValueError as error:
            raise HearsightError(str(error), where=folder, hint=HINT) from error
        self.folder, self.config, self._trained = folder, trained.config, trained
        self._network = pack_linear_layers(trained.model.network)
        self._encoder: EncodedImage | None = None
        self._problem: HearsightError | None = None
        # Features can be captioned without their encoder, so its absence is reported when an image is given.
        try:
            self._encoder = _frozen_encoder(trained, weights)
        except HearsightError as error:
            self._problem = error

    @property
    def name(self) -> str:
        """The network and the number of its seed: ``t2t8x8-0``."""
        return f"{self.config['network']['network']}-{self.config.get('seed', 0)}"

    def require_encoder(self) -> None:
        """Raise HearsightError if the captioner cannot read images: its encoder is unknown or lacks its weights."""
        if self._problem is not None:
            raise self._problem
        if self._encoder is None and self._trained.model.encoder is None:
            raise HearsightError("does not say which encoder its features are of", where=self.folder, hint=HINT)

    def see(self, data: bytes, where: str) -> NDArray[Any]:
        """Return what the captioner reads of an image: (1 + cells) × F float16, its mean vector first; or its pixels, uint8.

        Raises:
            HearsightError: the image is unusable, or as :meth:`require_encoder`.
        """
        self.require_encoder()
        require_image(data, where)
        if self._encoder is None:
            side = self.config["encoder"]["side"]
            return whole_view(open_image(data, side, where), side).transpose(2, 0, 1)
        features: NDArray[np.float16] = self._encoder.compute((data, sha256_bytes(data), 0))
        return features

    def write(self, seen: Sequence[NDArray[Any]], beam: int = BEAM) -> list[WrittenCaption]:
        """Return the most likely caption of each image, from what :meth:`see` returned or features of ``extract_features``.

        Raises:
            HearsightError: the features are of another encoder.
        """
        if not len(seen):
            return []
        model, config = self._trained.model, self._trained.model.network.config
        if model.encoder is None and {item.shape[1:] for item in seen} != {(config.image_features,)}:
            shapes = ", ".join(sorted({str(item.shape) for item in seen}))
            what = f"the captioner reads vectors of {config.image_features} numbers, not arrays of {shapes}"
            raise HearsightError(what, where=self.folder, hint="give features of the encoder it was trained with")
        with torch.inference_mode():
            inputs = torch.cat([self._input(item) for item in seen])
        captions = []
        for best, *_ in generate(self._network, inputs, beam=beam, pack=False):
            words = tuple(self._trained.vocabulary[word] for word in best.words)
            captions.append(WrittenCaption(self._trained.text(best.words), words, math.exp(best.per_word(config.longest))))
        return captions

    def _input(self, seen: NDArray[Any]) -> Tensor:
        """Return the network's input for one image: 1 × L × F."""
        model = self._trained.model
        if model.encoder is not None:
            read = seen if seen.dtype == np.uint8 else seen[1:]
            return model.see(torch.from_numpy(np.ascontiguousarray(read))[None])
        vectors = seen[1:] if model.network.config.grid else seen[:1]
        return torch.from_numpy(np.ascontiguousarray(vectors, dtype=np.float32))[None]


def _frozen_encoder(trained: TrainedCaptioner, weights: Path | None) -> EncodedImage | None:
    """Return the encoder of a captioner's features; None where it is trained too, or not named."""
    about = trained.config.get("encoder")
    return None if not about or about.get("trained") else recorded_encoder(about, weights)
