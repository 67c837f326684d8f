"""The HTML page with players, the tables as JSON and CSV, and the text summary."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from components.core.text_encoding import csv_text
from components.metrics.word_errors import ErrorRate
from components.reporting.pages import render
from components.reporting.values import percent, percent_interval
from components.stages.evaluate_speech.facts import SpeechResults, VoiceResults
from components.stages.evaluate_speech.sample import Drawn

VERDICTS = {
    "heard": "",
    "silent": "The recording is silent.",
    "unreadable": "The recording cannot be decoded.",
    "unrecognised": "Not transcribed.",
}
PARAMETERS = {"rate": "rate, times the voice's default", "pitch": "pitch, semitones", "gain": "gain, dB"}


def render_page(results: SpeechResults, examples: Sequence[Drawn]) -> str:
    """Return the page; its audio files are in ``audio/``."""
    played = {utterance.key for utterance in examples}
    return render(
        Path(__file__).parent / "data",
        "listen.html",
        results=results,
        shown=[(voice, [utterance for utterance in voice.heard if utterance.key in played]) for voice in results.voices],
        parameters=PARAMETERS,
        verdicts=VERDICTS,
        widest=max([1.0, *(voice.words.high for voice in results.voices if voice.words)]),
        duration=duration,
        percent_interval=percent_interval,
    )


def duration(hours: float) -> str:
    """Return a duration in hours or minutes."""
    return f"{hours:,.1f} h" if hours >= 1 else f"{60 * hours:.1f} min"


def voices_json(results: SpeechResults) -> str:
    """Return the figures of every voice as JSON, for ``report``."""
    content = {
        "missing": results.missing,
        "recognisers": results.recognisers,
        "word_error_rate": _plain(results.words),
        "voices": [_row(voice) for voice in results.voices],
    }
    return json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def voices_csv(results: SpeechResults) -> str:
    """Return a CSV line per voice, for DVC's plots; rates are empty without transcripts."""
    rows = []
    for voice in results.voices:
        row = _row(voice)
        for unit in ("word", "character"):
            rate = row.pop(f"{unit}_error_rate") or {"value": "", "low": "", "high": ""}
            row |= {f"{unit}_error_rate": rate["value"], f"{unit}_error_low": rate["low"], f"{unit}_error_high": rate["high"]}
        rows.append(row | {"languages": " ".join(row["languages"])})
    return csv_text(list(rows[0]) if rows else ["voice", "word_error_rate"], [list(row.values()) for row in rows])


def render_summary(results: SpeechResults) -> str:
    """Return the text summary of the voices."""
    width = max([5, *(len(voice.voice) for voice in results.voices)])
    lines = [f"{results.dataset}: {results.utterances:,} utterances, {duration(results.hours)} of speech", ""]
    lines.append(f"  {'voice':<{width}}  utterances  words judged  word error rate")
    for voice in results.voices:
        rate = (
            f"{percent(voice.words.value):>7}  ({percent_interval(voice.words.low, voice.words.high)})"
            if voice.words
            else "not measured"
        )
        lines.append(f"  {voice.voice:<{width}}  {voice.utterances:10,}  {voice.judged_words:12,}  {rate}")
    return "\n".join([*lines, *(["", f"  {results.missing}"] if results.missing else [])]) + "\n"


def _row(voice: VoiceResults) -> dict[str, Any]:
    return {
        "voice": voice.voice, "origin": voice.origin, "languages": voice.languages, "about": voice.description,
        "utterances": voice.utterances, "hours": round(voice.hours, 6),
        "seconds_per_character": round(voice.seconds_per_character, 4), "level": round(voice.level, 2),
        "peak": round(voice.peak, 2), "clipped": voice.clipped, "lead": round(voice.lead, 4), "tail": round(voice.tail, 4),
        "judged": voice.judged, "words": voice.judged_words, "word_error_rate": _plain(voice.words),
        "character_error_rate": _plain(voice.characters),
    }  # fmt: skip


def _plain(rate: ErrorRate | None) -> dict[str, float] | None:
    return {name: round(getattr(rate, name), 5) for name in ("value", "low", "high")} if rate else None
