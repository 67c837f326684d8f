"""A trained dual encoder that embeds queries, one at a time, prepared as they were in its training and evaluation."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from components.core.digests import sha256_bytes
from components.core.errors import HearsightError
from components.retrieval.loading import open_folder
from components.retrieval.queries import Query
from components.vision.crops import evaluation_view
from components.vision.image_encoders import EncodedPicture, ViewSpec
from components.vision.training_pictures import open_picture

FRAMES_A_SECOND = 100


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
        self.network, self.config = open_folder(folder, "the model")
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
        if self.network.speech.padding_counts:
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
        view_spec = ViewSpec("centre", grid=False) if self.crop == "centre" else ViewSpec(grid=False)
        annotator = EncodedPicture(about["name"], self.weights, about["side"], view_spec=view_spec)
        if annotator.digest != about["weights_sha256"]:
            what = f"its image tower reads features of {about['name']} with the weights {about['weights_sha256'][:40]}, not these"
            raise HearsightError(
                what, where=self.weights or about["name"], hint="name the file of weights that prepare was given"
            )
        found: NDArray[np.float16] = annotator.compute((data, sha256_bytes(data), 0))[0]
        return found
