"""Images and texts in one space: models of a hub with two towers, as CLIP and SigLIP, and the cosine of an image and its text.

Sources: CLIP (Radford et al. 2021), SigLIP (Zhai et al. 2023); as a filter: LAION-400M, DataComp (Gadre et al. 2023, §3.4).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from components.core.errors import HearsightError
from components.hub.chosen import ChosenModel
from components.hub.loading import load_model, load_part
from components.web.images.opening import read_image


class ImageTextModel:
    """A loaded model; vectors are float32 of length 1."""

    def __init__(self, project: Path, chosen: ChosenModel) -> None:
        """Load the model; raise HearsightError if it lacks a tower."""
        found = chosen.find(project)
        self.network = load_model(found, "AutoModel", chosen.device)
        if not all(hasattr(self.network, name) for name in ("get_image_features", "get_text_features", "logit_scale")):
            hint = "name a model with an image and a text tower, such as CLIP or SigLIP"
            raise HearsightError("compares no images with texts", where=chosen.model, hint=hint)
        self.processor = load_part(found, "AutoProcessor")
        self.sigmoid = hasattr(self.network, "logit_bias")
        """Whether it was trained with a sigmoid for each pair, as SigLIP, instead of a softmax over texts."""
        self.longest = self.network.config.text_config.max_position_embeddings

    def texts(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of texts, cut to the model's length, texts × dimensions."""
        # SigLIP was trained with texts of one length.
        padding = "max_length" if self.sigmoid else True
        tokens = self.processor(text=list(texts), padding=padding, truncation=True, max_length=self.longest, return_tensors="pt")
        return self._vectors("get_text_features", tokens)

    def images(self, images: Sequence[bytes]) -> NDArray[np.float32]:
        """Return the vectors of encoded images, images × dimensions.

        Raises:
            UnreadableImageError: one cannot be decoded completely.
        """
        pixels = [read_image(data).pixels for data in images]
        return self._vectors("get_image_features", self.processor(images=pixels, return_tensors="pt"))

    def probabilities(self, cosines: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return how probable each text is of each image, by the model's own scale: images × texts.

        A softmax model gives each image a distribution over the texts, a sigmoid model each pair its own probability.
        """
        logits = cosines.astype(np.float64) * float(self.network.logit_scale.exp())
        if self.sigmoid:
            return 1 / (1 + np.exp(-(logits + float(self.network.logit_bias))))
        logits = np.exp(logits - logits.max(1, keepdims=True))
        return logits / logits.sum(1, keepdims=True)

    def _vectors(self, method: str, inputs: Any) -> NDArray[np.float32]:
        import torch  # here: slow to load

        torch.set_num_threads(1)
        with torch.inference_mode():
            found = getattr(self.network, method)(**inputs.to(self.network.device))
            vectors = found if isinstance(found, torch.Tensor) else found.pooler_output
            unit: NDArray[np.float32] = (vectors / vectors.norm(dim=-1, keepdim=True)).cpu().numpy()
        return unit


load_image_text = lru_cache(maxsize=2)(ImageTextModel)
"""Returns a loaded model, which stays loaded."""


def batches(payloads: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    """Yield payloads in parts of ``size``."""
    return (payloads[start : start + size] for start in range(0, len(payloads), size))


class ImageTextScore:
    """Annotator: (encoded image, text) → their cosine, -1 to 1. Key: :func:`pair_key`."""

    name = "image-text"
    version = 1
    codec = "json"

    def __init__(self, project: Path, chosen: ChosenModel) -> None:
        self.project, self.chosen, self.model = project, chosen, chosen.identity

    def compute(self, payload: tuple[bytes, str]) -> float:
        """Return the cosine of an image and a text.

        Raises:
            HearsightError: the model cannot be used.
            UnreadableImageError: the image cannot be decoded completely.
        """
        return self.compute_many([payload])[0]

    def compute_many(self, payloads: Sequence[tuple[bytes, str]]) -> list[float]:
        """Return the cosine of each pair, in batches as the settings say; raises as :meth:`compute`."""
        model, cosines = load_image_text(self.project, self.chosen), []
        for part in batches(payloads, self.chosen.batch):
            images, texts = zip(*part, strict=True)
            cosines += (model.images(images) * model.texts(texts)).sum(1).tolist()
        return [round(cosine, 4) for cosine in cosines]


def pair_key(image: str, text: str) -> str:
    """Return the content key of a pair: the sha256 of the image and of the text, both of which a takedown finds in it."""
    return f"{image}-{text}"
