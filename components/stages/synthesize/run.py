"""Run synthesize: plan the utterances, speak those that are not cached, and pack the shards."""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from components.core.digests import digest_value, sha256_bytes, sha256_file
from components.core.errors import HearsightError
from components.core.ledger import dropped, kept, ledger_table
from components.core.records import UTTERANCE
from components.core.shards import write_table
from components.core.stage_output import ShardRef
from components.execution.shard_worker import ShardOut
from components.execution.stage import Stage
from components.google.cost import record_usage
from components.speech.voices.available import lack_here, split_available
from components.speech.voices.catalogue import voice_named
from components.speech.voices.failures import SILENT
from components.speech.voices.paid import plan_for
from components.stages.synthesize import DRAWS, Params
from components.stages.synthesize.paid_speech import speech_of
from components.stages.synthesize.planning import plan_shard
from components.stages.synthesize.prosody import distributions
from components.stages.synthesize.speaking import speak_missing
from components.stages.synthesize.speech import Clip, unpack

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from components.execution.stage import Task


def with_failures(planned: Sequence[ShardRef], failed: Mapping[str, str], folder: Path) -> list[ShardRef]:
    """Return the planned shards; shards with failures are copies that record them, so that no cache takes them for complete.

    Args:
        failed: digest → reason.
        folder: where the copies are written.
    """
    refs = []
    for shard in planned:
        table = shard.read()
        reasons = [failed.get(digest, "") for digest in table["digest"].to_pylist()] if failed else []
        if any(reasons):
            path = folder / f"{shard.name}.parquet"
            table = table.set_column(table.schema.get_field_index("failed"), table.schema.field("failed"), pa.array(reasons))
            write_table(path, table)
            shard = ShardRef(shard.name, path, sha256_file(path), shard.ledger, None, True)
        refs.append(shard)
    return refs


def pack_shard(table: pa.Table, task: Task) -> ShardOut:
    """Convert planned utterances to the spoken ones, with their FLACs."""
    planned = table.to_pylist()
    clips = _clips(planned, task)
    rows: list[dict[str, Any]] = []
    media: dict[str, bytes] = {}
    spoken: dict[str, list[str]] = defaultdict(list)
    failures: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for utterance in planned:
        key, record, voice, clip = utterance["key"], utterance["record"], utterance["voice"], clips.get(utterance["digest"])
        if clip is None:
            failures[record].append((voice, utterance["failed"] or SILENT))
            continue
        spoken[record].append(key)
        media[f"{key}.flac"] = clip.flac
        rows.append(
            {name: value for name, value in utterance.items() if name in UTTERANCE.names}
            | asdict(clip.measures)
            | {
                "origin": "synthetic",
                "gain": utterance["gain"] + clip.turned,
                "seconds_per_character": clip.measures.seconds / len(utterance["spoken"]),
                "audio_sha256": sha256_bytes(clip.flac),
                "media": f"{task.shard}/{key}.flac",
            }
        )
    ledger = [_verdict(record, len(spoken[record]), failures[record]) for record in dict.fromkeys(u["record"] for u in planned)]
    return ShardOut(pa.Table.from_pylist(rows, schema=UTTERANCE), ledger_table(ledger), media)


def _clips(planned: Sequence[Mapping[str, Any]], task: Task) -> dict[str, Clip | None]:
    by_voice: dict[str, list[str]] = defaultdict(list)
    for utterance in planned:
        if not utterance["failed"]:
            by_voice[utterance["voice"]].append(utterance["digest"])
    clips: dict[str, Clip | None] = {}
    for voice, digests in sorted(by_voice.items()):
        blobs = task.annotations.read(speech_of(voice, task.params["google_shapes"]), digests)
        if any(digest not in blobs for digest in digests):
            what = "a spoken utterance is missing from the result cache"
            raise HearsightError(what, where=f"the annotations of {voice}", hint="run it again")
        clips.update((digest, unpack(blob)) for digest, blob in blobs.items())
    return clips


def _verdict(record: str, spoken: int, failures: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Return the ledger row of a record: kept with at least one utterance; the detail lists the failures."""
    reasons = ", ".join(f"{voice} {reason}" for voice, reason in failures)
    if not spoken:
        return dropped(record, "engine", sorted({reason for _, reason in failures}), "something to hear", detail=reasons)
    counts = f"{spoken} utterances" if not failures else f"{spoken} of {spoken + len(failures)} utterances; {reasons}"
    return kept(record, detail=counts)


def run(stage: Stage) -> None:
    """Plan the utterances, speak those that are not cached, and pack the shards.

    Raises:
        HearsightError: no voice is installed, a voice fails on everything, or the disk is full. Finished
            speech is kept.
    """
    params: Params = stage.params
    voices = _voices(stage, params)
    settings = {name: value for name, value in params.plain().items() if name not in ("voices", "slow_utterances")}
    shards = stage.inputs["input"].shards
    # Not `conserve`: the rows are utterances, several a record; the ledgers still have one row a record.
    planned = stage.map(
        plan_shard, shards, step="plan", params=settings, shared={"voices": voices}, publish=False, conserve=False
    )
    names = [name for models in voices.values() for name in models]
    google = plan_for(stage.project, names)
    with record_usage(stage, google):
        failed = speak_missing(stage, planned, google)
    complete = with_failures(planned, failed, stage.work / "failed")
    stage.map(pack_shard, complete, step="pack", params={"google_shapes": params.google_shapes}, shared=voices, conserve=False)
    spread = {name: getattr(params, name) for name in ("rate_sd", "pitch_sd", "gain_sd")}
    drawn = distributions(voices={language: list(names) for language, names in voices.items()}, **spread)
    stage.write_file(DRAWS, (json.dumps(drawn, indent=1, sort_keys=True) + "\n").encode())
    stage.note_parent("voices", digest_value(voices))
    stage.metric("engine_failures", len(failed))


def _voices(stage: Stage, params: Params) -> dict[str, dict[str, str]]:
    """Return language → voice → model of the voices to draw from; print these, and why others are left out."""
    languages = stage.inputs["input"].table(["language"])["language"].to_pylist()
    utterances = {language: count * params.utterances for language, count in Counter(languages).items()}
    named = [voice_named(name) for name in params.voices]
    # A slow voice of a language that is not here is not named either.
    fitting = [v.name for v in named if not v.slow or 0 < utterances.get(v.language, 0) <= params.slow_utterances]
    slow = [v.name for v in named if v.slow and utterances.get(v.language, 0) > params.slow_utterances]
    too_slow = f"too slow for over {params.slow_utterances} utterances; raise {stage.place('slow_utterances')}"
    if not fitting:
        raise HearsightError("no voice is left to draw from", where=stage.place("voices"), hint=f"name others ({too_slow})")
    installed, missing = split_available(fitting)
    if not installed:
        raise HearsightError(
            "none of the voices is installed",
            where=stage.place("voices"),
            hint="; ".join(dict.fromkeys(lack.cure for voice in missing if (lack := lack_here(voice)))),
        )
    line = f"{len(installed)} voices: {', '.join(voice.name for voice in installed)}"
    left_out = [f"{voice.name} ({lack.cure})" for voice in missing if (lack := lack_here(voice))]
    left_out += [f"{name} ({too_slow})" for name in slow]
    if left_out:
        line += f"; left out: {', '.join(left_out)}"
    print(f"{stage.name} {stage.dataset}: {line}", file=sys.stderr, flush=True)
    stage.metric("voices", len(installed))
    stage.metric("voices_left_out", len(left_out))
    models: dict[str, dict[str, str]] = {}
    for voice in sorted(installed, key=lambda voice: (voice.language, voice.name)):
        models.setdefault(voice.language, {})[voice.name] = voice.model
    return models
