"""A trained dual encoder that embeds queries, one at a time, prepared as they were in its training and evaluation."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from components.core.digests import sha256_bytes
from components.core.errors import HearsightError
from components.index.queries import Query
from components.providers.encoded import EncodedPicture, Sight, trainable_encoder
from components.providers.picture_crops import evaluation_view
from components.providers.pictures import open_picture

if TYPE_CHECKING:
    from components.models.dual_encoder import DualEncoder, DualEncoderConfig
    from components.models.encoders import ImageEncoder

FRAMES_A_SECOND = 100


def load_network(folder: Path) -> tuple[DualEncoder, dict[str, Any]]:
    """A trained dual encoder in eval mode, and its ``config.json``.

    Raises:
        HearsightError: the folder holds none, or a damaged one.
    """
    from components.models.loading import load_dual_encoder

    try:
        found = load_dual_encoder(folder, image_encoder=_empty_encoder)
    except ValueError as error:
        raise HearsightError(str(error), where="the model", mend="run the stage that made it again") from error
    return found.model, found.config


class QueryEncoder:
    """Embeds one query after another.

    Args:
        folder: of ``weights.safetensors`` and ``config.json``.
        crop: centre or whole, as the indexed pictures were shown.
        weights: the frozen image encoder's, where they come in no package.

    Raises:
        HearsightError: the folder holds no whole model.
    """

    def __init__(self, folder: Path, crop: str, weights: Path | None = None) -> None:
        self.network, self.config = load_network(folder)
        self.crop, self.weights = crop, weights

    def note(self, query: Query) -> str:
        """What of a query the model does not take in; empty for nothing."""
        seconds = self.config["frames"] / FRAMES_A_SECOND
        if query.samples is not None and len(query.samples) / 16_000 > seconds + 0.05:
            return f"only its first {seconds:g} s are listened to: the model was trained so"
        return ""

    @torch.inference_mode()
    def embed(self, query: Query) -> NDArray[np.float32]:
        """The query's embedding: D numbers, float32.

        Raises:
            HearsightError: the frozen encoder's weights are not at hand.
        """
        if query.samples is not None:
            found = self.network.embed_speech(*self._speech(query.samples))
        else:
            found = self.network.embed_images(self._picture(query.data))
        vector: NDArray[np.float32] = found[0].float().numpy()
        return vector

    def _speech(self, samples: NDArray[np.float32]) -> tuple[torch.Tensor, torch.Tensor]:
        """MFCCs cropped from the beginning, padded where padding counts: 1 × coefficients × frames, and its frames."""
        clip = self._mfcc(torch.from_numpy(samples)[None])[0][0, :, : self.config["frames"]]
        length = clip.shape[1]
        if self.network.speech.pools_padding:
            clip = torch.nn.functional.pad(clip, (0, self.config["frames"] - length))
        return clip[None], torch.tensor([length])

    @cached_property
    def _mfcc(self) -> Any:
        from components.models.mfcc import MFCC

        return MFCC()

    def _picture(self, data: bytes) -> torch.Tensor:
        """What the image tower reads of a picture, as a batch of one."""
        config = self.network.config
        if config.image == "features":
            return torch.from_numpy(self._frozen(data)[None])
        opened = open_picture(data, config.picture_side, "the picture")
        pixels = evaluation_view(opened, config.picture_side, self.crop)  # type: ignore[arg-type]
        return torch.from_numpy(pixels.transpose(2, 0, 1)[None].copy())

    def _frozen(self, data: bytes) -> NDArray[np.float16]:
        """The frozen encoder's vector of the picture."""
        about = self.config["encoder"]
        sight = Sight("centre", grid=False) if self.crop == "centre" else Sight(grid=False)
        annotator = EncodedPicture(about["name"], self.weights, about["side"], sight=sight)
        if annotator.digest != about["weights_sha256"]:
            what = f"its image tower reads features of {about['name']} with the weights {about['weights_sha256'][:40]}, not these"
            raise HearsightError(
                what, where=self.weights or about["name"], mend="name the file of weights that prepare was given"
            )
        found: NDArray[np.float16] = annotator.compute((data, sha256_bytes(data), 0))[0]
        return found


def _empty_encoder(config: DualEncoderConfig) -> ImageEncoder:
    """An encoder to be filled with the model's own weights: those of a package are not what it was trained to."""
    return trainable_encoder(config.image, None, config.picture_side)
