"""Run import_recordings: convert the recordings to measured 16 kHz mono FLAC, and keep those within the bounds."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

import numpy as np
import pyarrow as pa

from components.core.addresses import main_project
from components.core.digests import sha256_bytes
from components.core.errors import HearsightError
from components.core.ledger import dropped, kept, ledger_table
from components.core.records import UTTERANCE
from components.core.stage_output import ShardRef
from components.execution.stage import ShardOut, Stage, Task
from components.speech.audio.files import Samples, Sound, from_flac, read_sound, to_flac
from components.speech.audio.measures import is_silent, measure
from components.speech.audio.trim import trim_silence
from components.stages.import_recordings import BOUNDS
from components.stages.import_recordings.joining import OF_RECORD, join

AT_A_TIME = 64
"""Recordings in memory at a time, and lost at most when the run is killed."""
HEARD = pa.schema(
    [
        *(pa.field(name, pa.string(), nullable=False) for name in (*OF_RECORD, "image_media", "voice", "origin")),
        *(pa.field(name, pa.string(), nullable=False) for name in ("recording", "recording_sha256", "audio_sha256", "told")),
        *(pa.field(n, pa.float32(), nullable=False) for n in ("gain", "seconds", "seconds_per_character", "level", "peak")),
        *(pa.field(name, pa.int32(), nullable=False) for name in ("clipped", "over")),
        *(pa.field(name, pa.float32(), nullable=False) for name in ("lead", "tail")),
    ]
)
"""Schema of a usable recording; ``gain`` in dB is its attenuation, ``over`` the number of samples at full scale."""


class Hearing:
    """Annotator: samples at 16 kHz → FLAC bytes; no bytes if nothing is audible."""

    name = "speech"
    version = 2
    codec = "bytes"

    def __init__(self, trimmed: bool) -> None:
        self.trimmed = trimmed
        self.model = "recorded-trimmed" if trimmed else "recorded"

    def compute(self, payload: Samples) -> bytes:
        """Trim and encode one recording."""
        if is_silent(payload):
            return b""
        samples = trim_silence(payload) if self.trimmed else payload
        return to_flac(samples)


def convert_recordings(table: pa.Table, task: Task) -> ShardOut:
    """Return the usable recordings of a joined shard, and the ledger of all its records."""
    rows: list[dict[str, Any]] = []
    ledger: list[dict[str, str]] = []
    records = table.to_pylist()
    for batch in (records[start : start + AT_A_TIME] for start in range(0, len(records), AT_A_TIME)):
        sounds: dict[str, Sound | str] = {}
        for record in batch:
            if record["recording_sha256"] and record["recording_sha256"] not in sounds:
                sounds[record["recording_sha256"]] = _read_recording(record["recording"], task)
        readable = {digest: sound.samples for digest, sound in sounds.items() if not isinstance(sound, str)}
        flacs = task.annotations.annotate(Hearing(task.params["trim"]), readable)
        for record in batch:
            digest = record["recording_sha256"]
            row, entry = _judge(record, sounds.get(digest, ""), flacs.get(digest, b""), task.params)
            ledger.append(entry)
            rows += [row] if row else []
    return ShardOut(pa.Table.from_pylist(rows, schema=HEARD), ledger_table(ledger))


def _read_recording(name: str, task: Task) -> Sound | str:
    """Return the sound of a file, or the error."""
    try:
        return read_sound((main_project(task.project) / name).read_bytes(), name)
    except HearsightError as error:
        return error.what


def _judge(
    record: dict[str, str], sound: Sound | str, flac: bytes, params: dict[str, Any]
) -> tuple[dict[str, Any] | None, dict[str, str]]:
    """Return a record's row if its recording is usable, and its ledger row."""
    key, name = record["key"], record["recording"]
    if record["missing"]:
        return None, dropped(key, "no_recording", record["missing"], "a recording of the caption", detail=name)
    if isinstance(sound, str):
        return None, dropped(key, "unreadable", sound, "a sound file", detail=name)
    if not flac:
        return None, dropped(key, "silent", "nothing louder than -60 dB", "something to hear", detail=name)
    measures = measure(from_flac(flac))
    seconds_per_character = measures.seconds / max(1, len(record["caption"]))
    for rule, value, minimum, maximum in (
        ("too_short", measures.seconds, params["min_seconds"], np.inf),
        ("too_long", measures.seconds, 0, params["max_seconds"]),
        ("too_fast", seconds_per_character, params["min_seconds_per_character"], np.inf),
    ):
        if not minimum <= value <= maximum:
            return None, dropped(key, rule, value, minimum or maximum, detail=name)
    description = _describe(name, sound)
    row: dict[str, Any] = {field.name: record[field.name] for field in HEARD if field.name in record}
    row |= {"audio_sha256": sha256_bytes(flac), "told": description, "gain": sound.gain, "over": sound.over, **asdict(measures)}
    return row | {"seconds_per_character": seconds_per_character}, kept(key, detail=description)


def _describe(name: str, sound: Sound) -> str:
    """Return the ledger's detail of a kept recording."""
    parts = [name, *sound.warnings]
    if sound.over:
        parts.append(f"{sound.over} samples at full scale or over it")
    if sound.gain:
        parts.append(f"turned down by {-sound.gain:.1f} dB")
    return "; ".join(parts)


def run(stage: Stage) -> None:
    """Join records with recordings, convert each recording, and keep each recording in one split."""
    params = stage.params
    joined = join(stage)
    settings = {name: getattr(params, name) for name in ("trim", *BOUNDS)}
    heard = stage.map(convert_recordings, joined, step="hear", params=settings, publish=False)
    # Not `conserve`: the rows are utterances, keyed as such; the ledger has one row a record.
    keeps = find_conflicts(recorded_audio(heard))
    stage.map(keep_shard, heard, step="keep", params={"trim": params.trim}, shared=keeps, conserve=False)
    report = _report(stage, heard)
    logging.getLogger(__name__).info("import_recordings: %s: %s", stage.dataset, report)


def _report(stage: Stage, heard: Any) -> str:
    """Write metrics of the usable recordings; return them in words."""
    seconds: dict[str, float] = {}
    clipped = 0
    for shard in heard:
        table = shard.read(["language", "seconds", "over"])
        for language, length, over in zip(*(column.to_pylist() for column in table.columns), strict=True):
            seconds[language] = seconds.get(language, 0.0) + length
            clipped += over > 0
    for language, total in sorted(seconds.items()):
        stage.metric(f"hours_{language}", total / 3600)
    stage.metric("recordings_over_full_scale", clipped)
    hours = ", ".join(f"{total / 3600:.2f} h of {language}" for language, total in sorted(seconds.items()))
    return f"{hours or 'nothing'} heard, {clipped} recordings reach full scale"


def keep_shard(table: pa.Table, task: Task) -> ShardOut:
    """Return utterances of the usable recordings, without audio that another split keeps.

    ``task.shared`` holds the digest of shared audio → the split that keeps it and its record there.
    """
    records = table.to_pylist()
    flacs = task.annotations.read(Hearing(task.params["trim"]), [record["recording_sha256"] for record in records])
    rows: list[dict[str, Any]] = []
    ledger: list[dict[str, str]] = []
    media: dict[str, bytes] = {}
    for record in records:
        owner_split, other = task.shared.get(record["audio_sha256"], (record["split"], ""))
        if owner_split != record["split"]:
            value = f"same audio as {other} in {owner_split}"
            ledger.append(
                dropped(record["key"], "recording_on_other_side", value, "one side a recording", detail=record["recording"])
            )
            continue
        key = f"{record['key']}.0"
        media[f"{key}.flac"] = flacs[record["recording_sha256"]]
        utterance = {"key": key, "record": record["key"], "spoken": record["caption"], "media": f"{task.shard}/{key}.flac"}
        rows.append({**{name: record[name] for name in UTTERANCE.names if name in record}, **utterance, **PROSODY})
        ledger.append(kept(record["key"], detail=record["told"]))
    return ShardOut(pa.Table.from_pylist(rows, schema=UTTERANCE), ledger_table(ledger), media)


PROSODY = {"rate": 1.0, "pitch": 0.0}
"""Prosody of recorded speech; of synthetic speech only its release knows what was drawn."""


FIRST = ("test", "validation", "train")
"""Order of the splits: test audio must not be heard in training."""


def recorded_audio(shards: Iterable[ShardRef]) -> Iterator[tuple[str, str, str]]:
    """Yield (audio digest, split, record) of every usable recording."""
    for shard in shards:
        table = shard.read(["audio_sha256", "split", "key"])
        yield from zip(*(table.column(name).to_pylist() for name in ("audio_sha256", "split", "key")), strict=True)


def find_conflicts(recordings: Iterable[tuple[str, str, str]]) -> dict[str, list[str]]:
    """Return digest → the split that keeps it and its first record there, for audio in several splits."""
    keeps: dict[str, tuple[int, str]] = {}
    conflicting: set[str] = set()
    for digest, side, key in recordings:
        candidate = (FIRST.index(side), key)
        if digest in keeps and keeps[digest][0] != candidate[0]:
            conflicting.add(digest)
        keeps[digest] = min(keeps.get(digest, candidate), candidate)
    return {digest: [FIRST[keeps[digest][0]], keeps[digest][1]] for digest in sorted(conflicting)}
