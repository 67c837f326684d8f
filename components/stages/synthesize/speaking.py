"""Speaking what was planned: in pieces that all cores share, whatever the shards they came from.

What is spoken lies among the annotations, each utterance as soon as it is there, so pieces may be cut anyhow: their
number and order follow the workers, and no output follows them.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from components.speech.voices.catalogue import voice_named
from components.stages.synthesize.paid_speech import bought_speech, buy, speech_of
from components.stages.synthesize.prosody import Prosody
from components.stages.synthesize.speech import Speech, Unspoken

if TYPE_CHECKING:
    from components.core.stage_output import ShardRef
    from components.execution.stage import Stage, Task

COLUMNS = ["digest", "spoken", "voice", "rate", "pitch", "gain"]
LARGEST = 64
"""Utterances of a piece, at most."""
SHARES = 4
"""A piece is this part of a worker's share of what is left: large ones first, single utterances last."""


def speak_missing(stage: Stage, planned: Sequence[ShardRef], google: dict[str, Any]) -> dict[str, str]:
    """Speak what no earlier run has spoken.

    Args:
        stage: with the parameters.
        planned: shards of planned utterances.
        google: how paid voices are asked (``paid.plan_for``).

    Returns:
        The digests of what the engines failed on now, with the reason; nothing of it is kept, so the next run tries again.

    Raises:
        HearsightError: an engine is broken, or the disk is full. What was spoken is kept.
    """
    wanted, total = _missing(stage, planned)
    load()
    stage.done["speak"], stage.cached["speak"] = total, total - wanted.num_rows
    failed: dict[str, str] = {}
    shared = {"google": google, "shaped_there": stage.params.google_shapes}
    pieces = [wanted.take(pa.array(range(start, end))) for start, end in cuts(wanted.num_rows, workers_of(stage))]
    for result in stage.map_uncached(speak_piece, pieces, step="speak", shared=shared):
        failed.update(result)
    if failed:
        counts = ", ".join(f"{reason} {number}" for reason, number in sorted(Counter(failed.values()).items()))
        again = f"`dvc repro -f -s synthesize@{stage.dataset}` tries them again"
        print(f"hearsight: warning: engines failed on {len(failed)} utterances ({counts}); {again}", file=sys.stderr, flush=True)
    return failed


def load() -> None:
    """Import what speech is worked on with, once and for all workers, which are forks of this process."""
    import numpy  # noqa: F401
    import scipy.fft  # noqa: F401
    import soundfile  # noqa: F401
    import soxr  # noqa: F401


def workers_of(stage: Stage) -> int:
    """Among how many workers pieces are to be dealt; a cluster that takes what it finds is taken for 64."""
    return getattr(stage.engine, "workers", 0) or 64


def _missing(stage: Stage, planned: Sequence[ShardRef]) -> tuple[pa.Table, int]:
    """The utterances that are not among the annotations, the longest text first; and how many there are in all."""
    import pyarrow.compute as pc

    tables = [shard.read(COLUMNS) for shard in planned]
    if not any(table.num_rows for table in tables):
        return pa.table({name: [] for name in COLUMNS}), 0
    every = pa.concat_tables(tables)
    parts = []
    for voice in sorted(pc.unique(every["voice"]).to_pylist()):
        its = every.filter(pc.equal(every["voice"], voice))
        lacking = pa.array(
            stage.annotations.find_missing(speech_of(voice, stage.params.google_shapes), its["digest"].to_pylist()), pa.string()
        )
        parts.append(its.filter(pc.is_in(its["digest"], value_set=lacking)))
    found = pa.concat_tables(parts)
    # The same text in the same manner twice is one sound.
    found = found.group_by("digest").aggregate([(name, "min") for name in COLUMNS if name != "digest"])
    found = found.rename_columns([name.removesuffix("_min") for name in found.column_names]).select(COLUMNS)
    # Voices are mixed in every piece, so that no core is left with the slow ones.
    lengths = pc.utf8_length(found["spoken"])
    found = found.append_column("length", lengths).sort_by([("length", "descending"), ("digest", "ascending")])
    return found.select(COLUMNS), every.num_rows


def cuts(total: int, workers: int) -> Iterator[tuple[int, int]]:
    """Where to cut ``total`` utterances: pieces that shrink towards the end, so that all workers end together."""
    start = 0
    while start < total:
        size = min(LARGEST, max(1, (total - start) // (SHARES * workers)))
        yield start, min(total, start + size)
        start += size


def speak_piece(piece: pa.Table, task: Task) -> dict[str, str]:
    """Speak one piece into the annotations; tells what failed and why, by digest."""
    failed: dict[str, str] = {}
    rows = piece.to_pylist()
    bought = buy(rows, task)
    for voice in sorted({row["voice"] for row in rows}):
        wanted = {
            row["digest"]: (row["spoken"], Prosody(voice, row["rate"], row["pitch"], row["gain"]))
            for row in rows
            if row["voice"] == voice
        }
        if voice_named(voice).paid:
            answers = {payload: bought[digest] for digest, payload in wanted.items()}
            speech = bought_speech(voice, answers, task.shared["shaped_there"])
        else:
            speech = Speech(voice)
        while True:
            try:
                task.annotations.annotate(speech, wanted)
                break
            except Unspoken as unspoken:
                failed[unspoken.digest] = unspoken.reason
                del wanted[unspoken.digest]
    return failed
