"""CLIPScore: how well a caption fits an image, without references (Hessel et al., EMNLP 2021, section 3)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from components.core.errors import HearsightError
from components.hub.loading import load_model, load_part
from components.hub.model import find_model
from components.vision.image_files import require_image

WEIGHT, PROMPT = 2.5, "A photo depicts "
"""Both of the paper."""


def open_clip_score(root: Path, model: str) -> Callable[[bytes, str], float]:
    """Return the score, 0 to 2.5, of an image file's bytes and a caption, by a model of images and texts (CLIP, SigLIP).

    Raises:
        HearsightError: there is no such model, or it has no vectors of both.
    """
    import torch  # here: slow to load

    found = find_model(root, model)
    network, processor = load_model(found, "AutoModel"), load_part(found, "AutoProcessor")
    torch.set_num_threads(1)

    def score(data: bytes, caption: str) -> float:
        pixels = require_image(data, "the image").pixels.convert("RGB")
        given = processor(text=[PROMPT + caption], images=[pixels], padding="max_length", truncation=True, return_tensors="pt")
        with torch.inference_mode():
            made = network(**given)
        if not hasattr(made, "image_embeds"):
            raise HearsightError("has no vectors of images and texts", where=model, hint="name a CLIP or SigLIP model")
        return WEIGHT * max(0.0, float(torch.nn.functional.cosine_similarity(made.image_embeds, made.text_embeds)))

    return score
