"""Run evaluate_speech: transcribe a sample, measure it, and write the page."""

from __future__ import annotations

import json
import sys
from typing import Any

import pyarrow as pa

from components.core.ledger import dropped, kept, ledger_table
from components.core.records import OUTPUT_SCHEMAS
from components.execution.stage import Job, Stage
from components.speech.recognition.recognizer import INSTALL, installed, recogniser_for
from components.stages.evaluate_speech import PAGE, SUMMARY, VOICES, Params, facts, page
from components.stages.evaluate_speech.recognition import HEARD_FILE, decode_samples, hear_job
from components.stages.evaluate_speech.sample import COLUMNS, Drawn, draw_sample

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
