"""Conversion of recordings to measured 16 kHz mono FLAC; unusable ones get a reason."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import pyarrow as pa

from components.core.addresses import main_project
from components.core.digests import sha256_bytes
from components.core.errors import HearsightError
from components.core.ledger import dropped, kept, ledger_table
from components.execution.shard_worker import ShardOut, Task
from components.speech.audio.files import Samples, Sound, from_flac, read_sound, to_flac
from components.speech.audio.measures import is_silent, measure
from components.speech.audio.trim import trim_silence
from components.stages.import_recordings.joining import OF_RECORD

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
