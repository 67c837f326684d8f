"""hibari-tts 0.2.1 (Apache-2.0): F, American English, 24 kHz, neural, one thread."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from numpy.typing import NDArray

from components.speech.voices.voice import EngineEntry, Voice


class HibariHeart:
    """``hibari-tts``, the voice in the package: a woman, American English, 24 kHz, a neural model on one thread."""

    keeps_state = False

    def __init__(self) -> None:
        # Here: an engine that is not installed must not stop the others.
        from hibari import Hibari

        self._engine = Hibari(voice="heart", threads=1)

    def say(self, text: str, speaker: str) -> tuple[NDArray[Any], int]:
        """See :class:`~components.speech.voices.voice.Engine`. The noise is seeded, so equal texts give equal samples."""
        return self._engine(text, seed=0), int(self._engine.sample_rate)


ENGINE = EngineEntry(
    HibariHeart,
    lambda: find_spec("hibari") is not None,
    (Voice("hibari-heart", "hibari", "hibari-tts-0.2.1", "en", "F", "Apache-2.0", speaker="heart", level=-0.5),),
)
