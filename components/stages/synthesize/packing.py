"""Packing of spoken utterances as UTTERANCE records, media and one ledger row a record. No engine runs here."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from components.core.digests import sha256_bytes, sha256_file
from components.core.errors import HearsightError
from components.core.ledger import dropped, kept, ledger_table
from components.core.records import UTTERANCE
from components.core.shards import write_table
from components.core.stage_output import ShardRef
from components.execution.shard_worker import ShardOut
from components.speech.voices.failures import SILENT
from components.stages.synthesize.paid_speech import speech_of
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
