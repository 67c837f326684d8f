"""Run evaluate_speech: transcribe a sample, measure it, and write the page."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import soundfile

from components.core.ledger import dropped, kept, ledger_table
from components.core.records import OUTPUT_SCHEMAS
from components.execution.shard_worker import Task
from components.execution.stage import Job, Stage
from components.speech.audio.files import Samples, from_flac
from components.speech.audio.measures import is_silent
from components.speech.recognition.recognizer import INSTALL, Whisper, installed, recogniser_for
from components.stages.evaluate_speech import PAGE, SUMMARY, VOICES, Params, facts, page
from components.stages.evaluate_speech.sample import COLUMNS, Drawn, draw_sample

HEARD_FILE = "heard.json"


def hear_job(spec: Any, task: Task, folder: Path) -> None:
    """Write ``audio digest → verdict, text and recogniser`` for the recordings of ``spec``, all in one language."""
    recogniser = recogniser_for(spec["language"])
    assert recogniser is not None  # the stage makes no jobs for languages without a recogniser
    annotator = Whisper(recogniser, spec["language"])
    heard: dict[str, dict[str, str]] = {}
    payloads = {}
    for item in spec["items"]:
        digest = item["audio_sha256"]
        try:
            samples = read_samples(task, item["media"])
        except ValueError:
            heard[digest] = {"verdict": "unreadable", "text": "", "recogniser": recogniser.name}
            continue
        if is_silent(samples):
            # Recognisers invent words for silence.
            heard[digest] = {"verdict": "silent", "text": "", "recogniser": recogniser.name}
        else:
            payloads[digest] = partial(read_samples, task, item["media"])
    for digest, text in task.annotations.annotate(annotator, payloads).items():
        heard[digest] = {"verdict": "heard", "text": text, "recogniser": recogniser.name}
    (folder / HEARD_FILE).write_text(json.dumps(heard, sort_keys=True, ensure_ascii=False))


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


JOB_SIZE = 8
"""Recordings per job; after a kill, each worker repeats at most one job."""


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
    """Transcribe the sample in jobs; return a message about recognisers that are not installed, or an empty string."""
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
    jobs = [
        Job(
            f"{language}-{start:06d}",
            {"language": language, "items": [{"media": e.media, "audio_sha256": e.audio_sha256} for e in group]},
            content_addressed=True,
        )
        for language, utterances in sorted(by_language.items())
        for start in range(0, len(utterances), JOB_SIZE)
        for group in [utterances[start : start + JOB_SIZE]]
    ]
    transcripts: dict[tuple[str, str], dict[str, str]] = {}
    for job, folder in zip(jobs, stage.jobs(hear_job, jobs, step="hear", params={}), strict=True):
        for digest, answer in json.loads((folder / HEARD_FILE).read_text()).items():
            transcripts[job.spec["language"], digest] = answer
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
