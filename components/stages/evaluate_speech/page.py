"""The HTML page with players, the tables as JSON and CSV, and the text summary."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from components.core.csv_text import csv_text
from components.metrics.word_errors import ErrorRate
from components.reporting import svg
from components.reporting.pages import render
from components.reporting.values import percent, percent_interval
from components.stages.evaluate_speech.facts import Draws, SpeechResults, VoiceResults
from components.stages.evaluate_speech.images import CEILING_DB, FLOOR_DB
from components.stages.evaluate_speech.sample import Drawn

VERDICTS = {
    "heard": "",
    "silent": "The recording is silent.",
    "unreadable": "The recording cannot be decoded.",
    "unrecognised": "Not transcribed.",
}


def render_page(results: SpeechResults, examples: Sequence[Drawn]) -> str:
    """Return the page; its audio and images are files in ``audio/`` and ``images/``."""
    played = {utterance.key for utterance in examples}
    return render(
        Path(__file__).parent / "data",
        "listen.html",
        results=results,
        shown=[(voice, [utterance for utterance in voice.heard if utterance.key in played]) for voice in results.voices],
        histograms=[(describe_histogram(draws), draw_histogram(draws)) for draws in results.draws],
        ticks=ticks,
        verdicts=VERDICTS,
        widest=max([1.0, *(voice.words.high for voice in results.voices if voice.words)]),
        decibels=(FLOOR_DB, CEILING_DB),
        duration=duration,
        percent_interval=percent_interval,
    )


def duration(hours: float) -> str:
    """Return a duration in hours or minutes."""
    return f"{hours:,.1f} h" if hours >= 1 else f"{60 * hours:.1f} min"


def ticks(seconds: float) -> list[tuple[float, str]]:
    """Return positions (0 to 100 % of the recording) and labels of up to five ticks of its time axis, from 0."""
    step = next((step for step in (0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 60.0) if seconds / step <= 5), seconds / 4)
    positions = (
        [(100 * n * step / seconds, f"{n * step:g}") for n in range(int(seconds / step) + 1)] if seconds > 0 else [(0.0, "0")]
    )
    # A label at the right edge would be cut off.
    return [(position, label) for position, label in positions if position <= 96]


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


WIDTH, HEIGHT = 320, 190
LEFT, RIGHT, TOP, BOTTOM = 44, 12, 14, 40
LABELS = {"rate": ("Rate", "times the voice's default"), "pitch": ("Pitch", "semitones"), "gain": ("Gain", "dB")}
TICKS = 5


def describe_histogram(draws: Draws) -> str:
    """Return a histogram's text alternative."""
    name, unit = LABELS[draws.name]
    return (
        f"{name}: mean {draws.mean:.3f}, standard deviation {draws.deviation:.3f} {unit}; "
        f"the paper's clipped distribution has {draws.expected_mean:.3f} and {draws.expected_deviation:.3f}."
    )


def draw_histogram(draws: Draws) -> str:
    """Return the SVG of one parameter: bars for the draws, a stepped line for the paper's distribution."""
    low, high = draws.edges[0], draws.edges[-1]
    most = max([*draws.shares, *draws.expected]) * 1.08
    across, down = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def x(value: float) -> float:
        return LEFT + across * (value - low) / (high - low)

    def y(share: float) -> float:
        return TOP + down * (1 - share / most)

    edges = [x(edge) for edge in draws.edges]
    parts = svg.percent_axis(
        [(share, y(share)) for share in svg.ticks(most, (0.02, 0.05, 0.1, 0.2), 5, 0.25)], LEFT, WIDTH - RIGHT, 6
    )
    parts += [svg.bar(edges[n], y(share), edges[n + 1] - edges[n], y(0)) for n, share in enumerate(draws.shares)]
    parts.append(svg.path(svg.steps(edges, [y(share) for share in draws.expected])))
    for value in (low + (high - low) * n / (TICKS - 1) for n in range(TICKS)):
        parts.append(svg.text(x(value), HEIGHT - BOTTOM + 16, f"{value:.4g}"))
    parts.append(svg.text(LEFT + across / 2, HEIGHT - 6, LABELS[draws.name][1]))
    return svg.plot(WIDTH, HEIGHT, describe_histogram(draws), parts)
