"""Narrate: captions as people read them aloud, from a corpus of recordings (mission S2; Harwath and Glass 2015).

In: SPLIT records of a set whose captions somebody recorded, and the folder of the recordings. Out: UTTERANCE records of origin
``human`` with 16 kHz mono FLAC in the media shards, one a record. What has no recording, or none that can be used, is a ledger
row; the same audio is on one side only. Not in scope: whether the words said are the caption (``listen``).

The joined shards carry the recordings' digests, so that a changed recording does its own shard again and no other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from components.core.params import Settings

if TYPE_CHECKING:
    import pyarrow as pa

    from components.execution.stage import ShardOut, Stage, Task

BOUNDS = ("min_seconds", "max_seconds", "min_seconds_per_character")


class Params(Settings):
    """Which recordings, and which of them can be used."""

    layout: Literal["facc", "stamps"] = "facc"
    """facc: the Flickr Audio Caption Corpus; stamps: those of Tux Paint. CSC §2.3: the Flickr Audio Caption Corpus."""
    folder: str = ""
    """Where they are, relative to the project."""
    trim: bool = True
    """Whether silence at the ends is cut as for synthetic speech; otherwise it stays as recorded. Ours."""
    min_seconds: float = 0.2
    """s; shorter recordings are dropped. Ours."""
    max_seconds: float = 20.0
    """s; longer ones are dropped. Ours."""
    min_seconds_per_character: float = 0.02
    """s; a recording said faster than this is of another text, and is dropped. 0: none is. Ours."""


def run(stage: Stage) -> None:
    """Join records and recordings, listen to each, keep every recording on one side."""
    import logging

    from components.core.errors import HearsightError
    from components.stages.import_recordings.duplicates import conflicts, of_records
    from components.stages.import_recordings.joining import join

    params = stage.params
    if not 0 <= params.min_seconds < params.max_seconds:
        raise HearsightError(
            f"min_seconds {params.min_seconds} and max_seconds {params.max_seconds} leave no recording",
            where=f"params.yaml: {stage.dataset}.narrate",
            hint="give 0 or more, and more than that",
        )
    joined = join(stage)
    settings = {name: getattr(params, name) for name in ("trim", *BOUNDS)}
    heard = stage.map(hear_shard, joined, step="hear", params=settings, publish=False)
    # Not `conserve`: the rows are utterances, keyed as such; the ledger has one row a record.
    stage.map(keep_shard, heard, step="keep", params={"trim": params.trim}, shared=conflicts(of_records(heard)), conserve=False)
    report = _measured(stage, heard)
    logging.getLogger(__name__).info("narrate: %s: %s", stage.dataset, report)


def _measured(stage: Stage, heard: Any) -> str:
    """Metrics of what was heard; returns them in words."""
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


def hear_shard(table: pa.Table, task: Task) -> ShardOut:
    """Read each record's recording and make FLAC of it."""
    from components.stages.import_recordings.audio import hear_all

    return hear_all(table, task)


def keep_shard(table: pa.Table, task: Task) -> ShardOut:
    """Utterances of what was heard, but for audio that another side keeps (``task.shared``: digest → side and record)."""
    import pyarrow as pa

    from components.core.ledger import dropped, kept, ledger_table
    from components.core.records import UTTERANCE
    from components.execution.shard_worker import ShardOut
    from components.stages.import_recordings.audio import Hearing

    records = table.to_pylist()
    sounds = task.annotations.read(Hearing(task.params["trim"]), [record["recording_sha256"] for record in records])
    rows: list[dict[str, Any]] = []
    ledger: list[dict[str, str]] = []
    media: dict[str, bytes] = {}
    for record in records:
        side, other = task.shared.get(record["audio_sha256"], (record["split"], ""))
        if side != record["split"]:
            value = f"same audio as {other} in {side}"
            ledger.append(
                dropped(record["key"], "recording_on_other_side", value, "one side a recording", detail=record["recording"])
            )
            continue
        key = f"{record['key']}.0"
        media[f"{key}.flac"] = sounds[record["recording_sha256"]]
        own = {"key": key, "record": record["key"], "spoken": record["caption"], "media": f"{task.shard}/{key}.flac"}
        rows.append({**{name: record[name] for name in UTTERANCE.names if name in record}, **own, **MANNER})
        ledger.append(kept(record["key"], detail=record["told"]))
    return ShardOut(pa.Table.from_pylist(rows, schema=UTTERANCE), ledger_table(ledger), media)


MANNER = {"origin": "human", "rate": 1.0, "pitch": 0.0}
"""How people speak: as they do."""
