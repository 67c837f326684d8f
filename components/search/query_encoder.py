"""A trained dual encoder for single queries, with the preprocessing of its training and evaluation."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from components.core.digests import sha256_bytes
from components.retrieval.embedding import FRAMES_A_SECOND, open_folder
from components.retrieval.inputs import INPUTS
from components.search.queries import Query
from components.speech.recognition.hub_states import Ear, open_ear
from components.vision.crops import evaluation_view
from components.vision.image_encoders import ViewSpec
from components.vision.named_encoders import recorded_encoder
from components.vision.training_images import open_image


class QueryEncoder:
    """Embeds queries one at a time.

    Args:
        folder: of ``weights.safetensors`` and ``config.json``.
        crop: centre or whole, as for the indexed images.
        weights: of the frozen image encoder, if no package contains them.

    Raises:
        HearsightError: the folder has no complete model.
    """

    def __init__(self, folder: Path, crop: str, weights: Path | None = None) -> None:
        self.network, self.config = open_folder(folder, "the model")
        self.crop, self.weights = crop, weights

    def note(self, query: Query) -> str:
        """Return a note on the part of a query that the model ignores; empty if there is none."""
        seconds = self.config["frames"] / FRAMES_A_SECOND
        if query.samples is not None and len(query.samples) / 16_000 > seconds + 0.05:
            return f"only its first {seconds:g} s are used, as in the model's training"
        return ""

    @torch.inference_mode()
    def embed(self, query: Query) -> NDArray[np.float32]:
        """Return the query's embedding: D numbers, float32; raise HearsightError if a frozen encoder's weights are missing."""
        if query.samples is not None:
            embeddings = self.network.embed_speech(*self._speech(query.samples))
        else:
            embeddings = self.network.embed_images(self._image(query.data))
        vector: NDArray[np.float32] = embeddings[0].float().numpy()
        return vector

    @cached_property
    def _ear(self) -> Ear:
        return open_ear(self.network.config.plain())

    def _speech(self, samples: NDArray[np.float32]) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the speech tower's input of the clip's beginning, padded if padding counts, as a batch of one; its length."""
        tower = self.network.speech
        columns = INPUTS[tower.reads].columns(self.config["frames"])
        heard_by = (self._ear,) if tower.reads == "states" else ()
        clip = INPUTS[tower.reads].of_sound(samples, *heard_by)[:, :columns]
        length = clip.shape[1]
        if tower.padding_counts:
            clip = torch.nn.functional.pad(clip, (0, columns - length))
        return clip[None], torch.tensor([length])

    def _image(self, data: bytes) -> torch.Tensor:
        """Return the image tower's input for an image, as a batch of one."""
        config = self.network.config
        if config.image == "features":
            return torch.from_numpy(self._frozen(data)[None])
        image = open_image(data, config.image_side, "the image")
        pixels = evaluation_view(image, config.image_side, self.crop)  # type: ignore[arg-type]
        return torch.from_numpy(pixels.transpose(2, 0, 1)[None].copy())

    def _frozen(self, data: bytes) -> NDArray[np.float16]:
        view = ViewSpec("centre", grid=False) if self.crop == "centre" else ViewSpec(grid=False)
        encoder = recorded_encoder(self.config["encoder"], self.weights, view)
        vector: NDArray[np.float16] = encoder.compute((data, sha256_bytes(data), 0))[0]
        return vector
