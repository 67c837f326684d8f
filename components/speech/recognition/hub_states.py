"""The states of a speech encoder of a hub or a folder over one recording: Whisper of any size, HuBERT, wav2vec 2.0, WavLM.

The model's own feature extractor prepares the sound: Whisper's log-mel of 30 s, or the waveform, normalised if it has to be.
States are averaged and packed as those of :mod:`~components.speech.recognition.encoder_states`, so that towers read both.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from components.core.errors import HearsightError
from components.execution.resources import Device
from components.hub.loading import load_model, load_part
from components.hub.model import HubFolder, find_model, find_recorded
from components.speech.audio.files import Samples
from components.speech.recognition.encoder_states import LONGEST, EncoderStates, average, pack
from components.speech.recognition.recognizer import HOP

RATE_HZ = 16_000
STATE = 320
"""Samples of a state: 20 ms."""
SHORTEST = 2 * STATE
"""Samples that give at least one state: a state sees 25 ms."""


class HubStates:
    """Annotator: float32 samples, mono at 16 kHz → packed states of the first 29.8 s, one for 80 ms."""

    name = "hub-states"
    version = 1
    codec = "compressed-array"

    def __init__(self, found: HubFolder, device: Device = "cpu") -> None:
        """Select the model; raise HearsightError if it is no speech encoder whose states stand for 20 ms."""
        self.found, self.device, self.width = found, device, _width(found)
        self.model = found.digest[:16] + ("" if device == "cpu" else f"-{device}-fp32")

    def compute(self, payload: Samples) -> NDArray[np.int8]:
        """Return the states of one recording; raise HearsightError when the weights cannot be loaded."""
        # Imported on use: slow to load.
        import torch

        torch.set_num_threads(1)
        network, extractor = _loaded(self.found, self.device)
        samples = payload[: LONGEST * HOP]
        padded = np.pad(samples, (0, max(0, SHORTEST - len(samples))))
        read = extractor(padded, sampling_rate=RATE_HZ, return_tensors="pt")[extractor.model_input_names[0]]
        with torch.inference_mode():
            states = network(read.to(network.device)).last_hidden_state[0, : max(1, len(samples) // STATE)]
        return pack(average(states.float().cpu().numpy()))


Ear = EncoderStates | HubStates


def open_ear(network: Mapping[str, Any], project: Path | None = None, device: Device = "cpu") -> Ear:
    """Return what hears for the tower ``whisper`` of a dual encoder: Whisper base, or the model that its settings name.

    Args:
        network: ``ear`` and ``ear_sha256`` as in ``DualEncoderConfig.plain``; without them Whisper base.
        project: the root that a folder is relative to; None for the project at hand.

    Raises:
        HearsightError: the model's files are others than those of the training, or as :class:`HubStates`.
    """
    name = network.get("ear")
    if not name:
        return EncoderStates()
    found = find_model(project, name) if project else find_recorded(name)
    if found.digest != network["ear_sha256"]:
        what = f"has other files ({found.digest[:16]}) than the speech tower was trained with ({network['ear_sha256'][:16]})"
        raise HearsightError(what, where=name, hint="restore the model's files, or train again")
    return HubStates(found, device)


def _width(found: HubFolder) -> int:
    """Return the numbers of a state; raise HearsightError if it is no model of states of 20 ms."""
    config, extractor = load_part(found, "AutoConfig"), load_part(found, "AutoFeatureExtractor")
    # Whisper's has two frames of 10 ms.
    samples = math.prod(getattr(config, "conv_stride", (STATE,)))
    if getattr(extractor, "sampling_rate", 0) != RATE_HZ or samples != STATE:
        hint = "name a Whisper, HuBERT, wav2vec 2.0 or WavLM (docs/providers.md)"
        raise HearsightError("is no encoder of speech at 16 kHz with states of 20 ms", where=found.name, hint=hint)
    return int(config.hidden_size)


@lru_cache(maxsize=1)
def _loaded(found: HubFolder, device: Device) -> tuple[Any, Any]:
    network = load_model(found, "AutoModel", device)
    encoder = network.get_encoder() if network.config.is_encoder_decoder else network
    return encoder, load_part(found, "AutoFeatureExtractor")
