"""Figures of every voice: amount of speech, level, rate, and recognition error rates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any

import pyarrow as pa

from components.metrics.word_errors import ErrorRate, error_rate
from components.speech.voices.catalogue import VOICES
from components.stages.evaluate_speech.sample import Drawn

SYNTHETIC = "synthetic"
PAPER = {"rate": (1.0, 0.1), "pitch": (0.0, 1.0), "gain": (0.0, 2.0)}
"""Mean and standard deviation of the paper's draws (CSC §2.2), clipped at 2 deviations."""
CLIP = 2.0
_NORMAL = NormalDist()


@dataclass
class VoiceResults:
    """Figures of one synthetic voice or human speaker."""

    voice: str
    origin: str
    languages: list[str]
    description: str
    """Sex and licence from the catalogue; empty if unknown."""
    utterances: int
    hours: float
    seconds_per_character: float
    """Mean, s."""
    level: float
    """Mean, dB of full scale."""
    peak: float
    """The highest, dB of full scale."""
    clipped: int
    """Utterances with a sample at full scale."""
    lead: float
    """Mean silence before the speech, s."""
    tail: float
    """Mean silence after it, s."""
    heard: list[Drawn]
    """Its sample, in the order of the draw."""
    words: ErrorRate | None = None
    characters: ErrorRate | None = None
    judged: int = 0
    """Utterances of the sample behind the rates."""
    judged_words: int = 0
    """Words in these utterances."""


@dataclass(frozen=True)
class Draws:
    """Mean and deviation of one prosody parameter over all synthetic utterances."""

    name: str
    mean: float
    deviation: float
    expected_mean: float
    """Of the paper's distribution."""
    expected_deviation: float


@dataclass
class SpeechResults:
    """Results of a dataset: all voices, and the distributions of prosody."""

    dataset: str
    missing: str
    """Message about recognisers that are not installed, or an empty string."""
    voices: list[VoiceResults] = field(default_factory=list)
    draws: list[Draws] = field(default_factory=list)
    words: ErrorRate | None = None
    """Over the whole sample."""
    recognisers: list[str] = field(default_factory=list)
    per_voice: int = 0

    @property
    def utterances(self) -> int:
        """Total over all voices."""
        return sum(voice.utterances for voice in self.voices)

    @property
    def hours(self) -> float:
        """Total over all voices."""
        return math.fsum(voice.hours for voice in self.voices)


def gather(dataset: str, table: pa.Table, drawn: Sequence[Drawn], params: Any, missing: str) -> SpeechResults:
    """Return the figures of all utterances (``table``) and of the transcribed sample."""
    results = SpeechResults(dataset, missing, per_voice=params.per_voice)
    frame = table.drop_columns(["key", "record", "spoken", "audio_sha256", "media", "split"]).to_pandas()
    numbers = frame.select_dtypes("number").columns
    frame[numbers] = frame[numbers].astype("float64")
    samples: dict[tuple[str, str], list[Drawn]] = {}
    for utterance in drawn:
        samples.setdefault((utterance.origin, utterance.voice), []).append(utterance)
    for (origin, voice), rows in frame.groupby(["origin", "voice"], sort=True):
        sample = samples[origin, voice]
        result = VoiceResults(
            voice=voice, origin=origin, languages=sorted(set(rows["language"])), description=_describe(origin, voice),
            utterances=len(rows), hours=math.fsum(rows["seconds"]) / 3600,
            seconds_per_character=_mean(rows["seconds_per_character"]), level=_mean(rows["level"]),
            peak=float(rows["peak"].max()),
            clipped=int((rows["clipped"] > 0).sum()), lead=_mean(rows["lead"]), tail=_mean(rows["tail"]), heard=sample,
        )  # fmt: skip
        judged = [utterance.row() for utterance in sample if utterance.judged]
        result.judged, result.judged_words = len(judged), sum(row["words"] for row in judged)
        result.words, result.characters = (_rate(judged, unit, params) for unit in ("word", "character"))
        results.voices.append(result)
    # Synthetic voices, which the run made, come first.
    results.voices.sort(key=lambda voice: (voice.origin != SYNTHETIC, voice.origin, voice.voice))
    results.words = _rate([utterance.row() for utterance in drawn if utterance.judged], "word", params)
    results.recognisers = sorted({utterance.recogniser for utterance in drawn if utterance.recogniser})
    spoken = frame[frame["origin"] == SYNTHETIC]
    if len(spoken):
        results.draws = [
            Draws(name, float(spoken[name].mean()), float(spoken[name].std(ddof=0)), mean, deviation * clipped_deviation())
            for name, (mean, deviation) in PAPER.items()
        ]
    return results


def _rate(rows: Sequence[dict[str, Any]], unit: str, params: Any) -> ErrorRate | None:
    counts = [(row[f"{unit}_errors"], row[f"{unit}s"]) for row in rows]
    return error_rate(counts, seed=params.seed, resamples=params.resamples)


def _mean(values: Any) -> float:
    return math.fsum(values) / len(values)


def _describe(origin: str, voice: str) -> str:
    known = VOICES.get(voice) if origin == SYNTHETIC else None
    return ", ".join(filter(None, ({"F": "female", "M": "male"}.get(known.sex), known.licence))) if known else ""


def clipped_deviation() -> float:
    """Return the standard deviation of a standard normal variable clipped at ±2: .959."""
    density = _NORMAL.pdf(CLIP)
    beyond = 1.0 - _NORMAL.cdf(CLIP)
    return math.sqrt((1.0 - 2 * beyond) - 2 * CLIP * density + 2 * CLIP * CLIP * beyond)


def tracking_metrics(results: SpeechResults) -> dict[str, float]:
    """Return the MLflow metrics of the results."""
    values: dict[str, float] = {"utterances": results.utterances, "hours": results.hours, "voices": len(results.voices)}
    if results.words:
        values["wer"] = results.words.value
    for voice in results.voices:
        if voice.words:
            values[f"wer_{metric_name(voice.voice)}"] = voice.words.value
        if voice.characters:
            values[f"cer_{metric_name(voice.voice)}"] = voice.characters.value
    return values


def metric_name(voice: str) -> str:
    """Return a voice's name with characters allowed in metric names; a speaker's name may hold any."""
    return "".join(char if char.isalnum() or char in "-_. " else "_" for char in voice)
