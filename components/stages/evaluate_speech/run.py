"""Run evaluate_speech: transcribe a sample, measure it, and write the page."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import soundfile

from components.core.ledger import dropped, kept, ledger_table
from components.core.records import OUTPUT_SCHEMAS
from components.execution.shard_worker import Task
from components.execution.stage import Stage
from components.speech.audio.files import Samples, from_flac
from components.speech.audio.measures import is_silent
from components.speech.recognition.recognizer import INSTALL, Whisper, installed, recogniser_for
from components.stages.evaluate_speech import PAGE, SUMMARY, VOICES, Params, facts, page
from components.stages.evaluate_speech.sample import COLUMNS, Drawn, draw_sample


def hear(piece: tuple[str, Sequence[tuple[str, str]]], task: Task) -> dict[tuple[str, str], dict[str, str]]:
    """Return (language, audio digest) → verdict, text and recogniser of recordings in one language, (digest, media) each."""
    language, recordings = piece
    recogniser = recogniser_for(language)
    assert recogniser is not None  # there are no pieces in languages without a recogniser
    heard: dict[str, dict[str, str]] = {}
    payloads = {}
    for digest, media in recordings:
        try:
            silent = is_silent(read_samples(task, media))
        except ValueError:
            heard[digest] = {"verdict": "unreadable", "text": ""}
            continue
        # Recognisers invent words for silence.
        if silent:
            heard[digest] = {"verdict": "silent", "text": ""}
        else:
            payloads[digest] = partial(read_samples, task, media)
    for digest, text in task.annotations.annotate(Whisper(recogniser, language), payloads).items():
        heard[digest] = {"verdict": "heard", "text": text}
    return {(language, digest): answer | {"recogniser": recogniser.name} for digest, answer in heard.items()}


def read_samples(task: Task, media: str) -> Samples:
    """Return the samples of a recording; raise ValueError if it cannot be decoded."""
    return decode_samples(task.inputs["input"].read_media(media))


def decode_samples(data: bytes) -> Samples:
    """Return the samples of a recording's file; raise ValueError if it cannot be decoded."""
    try:
        samples = from_flac(data)
    except (soundfile.SoundFileError, RuntimeError, TypeError) as error:
        raise ValueError(str(error)) from error
    if samples.ndim != 1 or not np.isfinite(samples).all():
        raise ValueError("not one channel of finite samples")
    return samples


PIECE = 8
"""Recordings that a worker takes at a time; after a kill, each repeats at most one piece."""


def run(stage: Stage) -> None:
    """Draw the sample, transcribe and score it, and write records, page and tables."""
    params: Params = stage.params
    source = stage.inputs["input"]
    table = source.table(list(COLUMNS))
    drawn = draw_sample(table, params.seed, params.per_voice, params.min_words)
    missing_recognisers = _transcribe(stage, drawn)
    if missing_recognisers:
        line = f"hearsight: warning: {stage.dataset}/evaluate_speech: {missing_recognisers}"
        print(line, file=sys.stderr, flush=True)
    results = facts.gather(stage.dataset, table, drawn, params, missing_recognisers)
    examples = [utterance for voice in results.voices for utterance in voice.heard[: params.examples]]
    _write_audio(stage, examples)
    stage.write_file(PAGE, page.render_page(results, examples).encode())
    stage.write_file(VOICES, page.voices_json(results).encode())
    stage.write_file(SUMMARY, page.render_summary(results).encode())
    stage.export("voices.csv", page.voices_csv(results).encode())
    _write_records(stage, drawn)
    if results.words:
        stage.main_figures.add("word_error_rate", value=results.words.value)
    for name, value in facts.tracking_metrics(results).items():
        stage.metric(name, value)


def _transcribe(stage: Stage, drawn: list[Drawn]) -> str:
    """Transcribe the sample; return a message about recognisers that are not installed, or an empty string."""
    by_language: dict[str, list[Drawn]] = {}
    not_installed = set()
    for utterance in drawn:
        if utterance.language not in (stage.params.languages or [utterance.language]):
            continue
        recogniser = recogniser_for(utterance.language)
        if recogniser is None:
            continue
        if installed(recogniser):
            by_language.setdefault(utterance.language, []).append(utterance)
        else:
            not_installed.add(recogniser.name)
    pieces = [
        (language, [(utterance.audio_sha256, utterance.media) for utterance in utterances[start : start + PIECE]])
        for language, utterances in sorted(by_language.items())
        for start in range(0, len(utterances), PIECE)
    ]
    transcripts: dict[tuple[str, str], dict[str, str]] = {}
    for answers in stage.map_uncached(hear, pieces, step="hear"):
        transcripts |= answers
    for utterance in drawn:
        utterance.judge(transcripts.get((utterance.language, utterance.audio_sha256)))
    if not not_installed:
        return ""
    rerun = f"then `dvc repro --force -s evaluate_speech@{stage.dataset}`"
    return f"no word error rates, because {' and '.join(sorted(not_installed))} is not installed: run `{INSTALL}`, {rerun}"


def _write_audio(stage: Stage, examples: list[Drawn]) -> None:
    """Write the recordings of the page's examples to the output, but not what is empty or cannot be decoded."""
    for utterance in examples:
        data = stage.inputs["input"].read_media(utterance.media)
        try:
            playable = len(decode_samples(data)) > 0
        except ValueError:
            continue
        if playable:
            utterance.sound = f"audio/{utterance.key}.flac"
            stage.write_file(utterance.sound, data)


def _write_records(stage: Stage, drawn: list[Drawn]) -> None:
    """Write a shard of RECOGNITION records for each shard of the input, with a ledger row per input record."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for utterance in sorted(drawn, key=lambda utterance: utterance.key):
        rows.setdefault(utterance.record, []).append(utterance.row())
    for shard in stage.inputs["input"].shards:
        utterances: dict[str, int] = {}
        for record in shard.read(["record"])["record"].to_pylist():
            utterances[record] = utterances.get(record, 0) + 1
        ledger = [
            kept(record, detail=f"{len(rows[record])} of {number} utterances listened to")
            if record in rows
            else dropped(record, "not_drawn", f"{number} utterances", f"{stage.params.per_voice} a voice")
            for record, number in utterances.items()
        ]
        sample_rows = [row for record in utterances for row in rows.get(record, [])]
        stage.write_shard(
            shard.name, pa.Table.from_pylist(sample_rows, schema=OUTPUT_SCHEMAS["evaluate_speech"][1]), ledger_table(ledger)
        )
