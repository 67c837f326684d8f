"""Kokoro-82M v1.0 (Apache-2.0), int8: Brazilian Portuguese, Spanish, French; 24 kHz, neural (StyleTTS 2), one thread.

Loaded only in its host process, because eSpeak NG, a library under the GPL, writes its phonemes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from components.speech.voices.engine_espeak import TIE, Espeak, espeak_is_there
from components.speech.voices.kokoro_parts import FETCH, MODEL, check_parts, find_parts
from components.speech.voices.voice import EngineEntry, Voice

IDS: dict[str, int] = json.loads((Path(__file__).parent / "data/kokoro_phonemes.json").read_text(encoding="utf-8"))
"""Phoneme or punctuation mark → its number in the network."""
LONGEST, STYLE_WIDTH = 510, 256
"""Phonemes of one run of the network, and numbers in a style, of which a speaker has one for each count of phonemes."""
RATE_HZ = 24_000
LANGUAGES = {"p": "pt-br", "e": "es", "f": "fr"}
"""First letter of a speaker's name → eSpeak NG's name of the language."""
LETTERS = {
    "a^ɪ": "I",
    "a^ʊ": "W",
    "d^z": "ʣ",
    "d^ʒ": "ʤ",
    "e^ɪ": "A",
    "o^ʊ": "O",
    "ə^ʊ": "Q",
    "t^s": "ʦ",
    "t^ʃ": "ʧ",
    "ɔ^ɪ": "Y",
}
"""Tied letters that are one letter for Kokoro, in every language (as in misaki's ``EspeakG2P``)."""
_PUNCTUATION = re.compile(r"\s*([,.;:!?…—()“”\"])[\s,.;:!?…—()“”\"]*")
_LANGUAGE_SWITCH = re.compile(r"\([^()]*\)")
_ENDS = (".!?…", ";:,—", " ")
"""Where a long text is cut: behind a sentence, else a clause, else a word."""


def to_letters(ipa: str, language: str) -> str:
    """Return Kokoro's letters for eSpeak NG's tied IPA of a text without punctuation, and its name of the language.

    Raises:
        ValueError: a phoneme has no number; it names the phonemes.
    """
    letters = _LANGUAGE_SWITCH.sub("", ipa)
    for tied, letter in LETTERS.items():
        letters = letters.replace(tied, letter)
    letters = letters.replace(TIE, "").replace("-", "")  # eSpeak NG's hyphen joins words and is no sound
    letters = letters.replace("ʲ", "")  # eSpeak NG's glide between vowels, which Kokoro says as a consonant: "dilla" for "día"
    if language == "pt-br":
        letters = letters.replace("ʎ", "lj")  # which Kokoro says as a glide: "foias" for "folhas"
    if unknown := sorted(set(letters) - IDS.keys()):
        raise ValueError(f"Kokoro has no number for the phonemes {' '.join(unknown)} of {ipa}")
    return letters


def split_letters(letters: str) -> Iterator[str]:
    """Yield parts of at most 510 letters, cut behind the last sentence that fits, else clause, else word."""
    while len(letters) > LONGEST:
        head = letters[:LONGEST]
        cuts = (max(head.rfind(mark) for mark in marks) + 1 for marks in _ENDS)
        cut = next((cut for cut in cuts if cut), LONGEST)
        yield letters[:cut].strip()
        letters = letters[cut:].strip()
    if letters:
        yield letters


class Kokoro:
    """The network, a style for each speaker, and eSpeak NG for phonemes. One thread, so equal texts give equal bytes."""

    keeps_state = False

    def __init__(self) -> None:
        # Here: a heavy library that only this process needs.
        import onnxruntime

        folder = find_parts()
        if folder is None:
            raise OSError(f"its files are not there: run `{FETCH}`")
        check_parts(folder)
        self._folder, self._espeak = folder, Espeak()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._network = onnxruntime.InferenceSession(folder / MODEL, sess_options=options, providers=["CPUExecutionProvider"])

    def say(self, text: str, speaker: str) -> tuple[NDArray[Any], int]:
        """See :class:`~components.speech.voices.voice.Engine`."""
        styles = np.fromfile(self._folder / f"{speaker}.bin", "<f4").reshape(-1, STYLE_WIDTH)
        letters = self._letters(text, LANGUAGES[speaker[0]])
        clips = [self._speak(part, styles) for part in split_letters(letters)] if any(map(str.isalpha, letters)) else []
        return np.concatenate(clips) if clips else np.zeros(0, np.float32), RATE_HZ

    def _letters(self, text: str, language: str) -> str:
        """Return the letters of the text, with the first of each run of punctuation marks, since eSpeak NG drops them."""
        pieces = _PUNCTUATION.split(text)  # text and marks in turns
        said = [to_letters(self._espeak.phonemes(piece, language), language).strip() for piece in pieces[::2]]
        marks = [f"{mark} " for mark in pieces[1::2]] + [""]
        return "".join(one + mark for one, mark in zip(said, marks, strict=True)).strip()

    def _speak(self, letters: str, styles: NDArray[np.float32]) -> NDArray[np.float32]:
        tokens = [[0, *(IDS[letter] for letter in letters), 0]]
        inputs = {"tokens": tokens, "style": styles[len(letters) - 1][None], "speed": np.ones(1, np.float32)}
        audio: NDArray[np.float32] = self._network.run(None, inputs)[0]
        return audio


def _voice(name: str, speaker: str, language: str, sex: str, level: float) -> Voice:
    model, licence = f"kokoro-82m-v1.0-int8-{speaker}-espeak-ng-1.52.0", "Apache-2.0 AND GPL-3.0-or-later"
    install = f"pip install piper-tts==1.8.0 && {FETCH}"
    return Voice(f"kokoro-{name}", "kokoro", model, language, sex, licence, install, speaker, level, extra=True, slow=True)


ENGINE = EngineEntry(
    Kokoro,
    lambda: espeak_is_there() and find_parts() is not None,
    (
        _voice("pt-dora", "pf_dora", "pt", "F", -3.5),
        _voice("pt-alex", "pm_alex", "pt", "M", -3.8),
        _voice("es-dora", "ef_dora", "es", "F", -3.4),
        _voice("es-alex", "em_alex", "es", "M", -3.8),
        _voice("fr-siwis", "ff_siwis", "fr", "F", -7.6),
    ),
)
