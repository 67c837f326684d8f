"""A captioner of a hub: any model of transformers that maps an image to text (BLIP, GIT, Florence-2, chat models that see)."""

from __future__ import annotations

import math
from threading import Lock
from typing import Any

from components.execution.resources import Device
from components.hub.loading import load_model, load_part
from components.hub.model import HubFolder
from components.metrics.tokens import tokenize
from components.vision.captioning import WrittenCaption
from components.web.images.opening import read_image

PROMPTS = {"florence2": "<CAPTION>"}
"""Kind of model → what it is asked if the settings ask nothing."""
CHAT_PROMPT = "Describe this image in one short sentence."
MOST_TOKENS = 60
BEAM = 3
"""Running hypotheses; 1 for a chat model."""


class HubCaptioner:
    """A captioner that is loaded once.

    Args:
        prompt: what the model is asked; empty for what its kind needs.

    Raises:
        HearsightError: the files are no such model.
    """

    def __init__(self, found: HubFolder, device: Device = "cpu", prompt: str = "") -> None:
        self.found = found
        self._processor = load_part(found, "AutoProcessor")
        self._model = load_model(found, "AutoModelForImageTextToText", device)
        self._chats = bool(getattr(self._processor, "chat_template", None))
        self.prompt = prompt or (CHAT_PROMPT if self._chats else PROMPTS.get(self._model.config.model_type, ""))
        # Generation keeps its state in the model.
        self._lock = Lock()

    def write(self, data: bytes) -> WrittenCaption:
        """Return the caption of an image file's bytes; raise UnreadableImageError if they cannot be decoded."""
        # Imported on use: slow to load.
        import torch

        given = self._inputs(data)
        with self._lock, torch.inference_mode():
            out = self._model.generate(
                **given.to(self._model.device),
                max_new_tokens=MOST_TOKENS,
                do_sample=False,
                num_beams=1 if self._chats else BEAM,
                return_dict_in_generate=True,
                output_scores=True,
            )
            beams = {"beam_indices": out.beam_indices} if "beam_indices" in out else {}
            steps = self._model.compute_transition_scores(out.sequences, out.scores, normalize_logits=True, **beams)[0]
        written = out.sequences[0, -len(steps) :]
        text = " ".join(self._processor.decode(written, skip_special_tokens=True).split())
        # Steps after the end have no probability.
        likely = [float(step) for step in steps if math.isfinite(step) and step < 0]
        return WrittenCaption(text, tuple(tokenize(text)), math.exp(sum(likely) / len(likely)) if likely else 0.0)

    def _inputs(self, data: bytes) -> Any:
        image = read_image(data).pixels
        if not self._chats:
            return self._processor(images=image, text=self.prompt or None, return_tensors="pt")
        content = [{"type": "image", "image": image}, {"type": "text", "text": self.prompt}]
        return self._processor.apply_chat_template(
            [{"role": "user", "content": content}],
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
        )
