"""Run import_recordings: convert the recordings, and keep those within the bounds."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from components.core.ledger import dropped, kept, ledger_table
from components.core.records import UTTERANCE
from components.core.stage_output import ShardRef
from components.execution.stage import ShardOut, Stage, Task
from components.stages.import_recordings import BOUNDS
from components.stages.import_recordings.audio import Hearing, convert_recordings
from components.stages.import_recordings.joining import join


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
