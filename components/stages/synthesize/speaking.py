"""Speaking of planned utterances, in pieces shared by all workers, whatever their shards.

Each utterance is cached as soon as it is spoken. Number and order of the pieces depend on the workers; no output depends on them.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from components.speech.voices.catalogue import voice_named
from components.stages.synthesize.paid_speech import bought_speech, request_speech, speech_of
from components.stages.synthesize.prosody import Prosody
from components.stages.synthesize.speech import Speech, Unspoken

if TYPE_CHECKING:
    from components.core.stage_output import ShardRef
    from components.execution.stage import Stage, Task

COLUMNS = ["digest", "spoken", "voice", "rate", "pitch", "gain"]
LARGEST = 64
"""Utterances of a piece, at most."""
SHARES = 4
"""Pieces per worker into which the rest is divided: large pieces first, single utterances last."""


def speak_missing(stage: Stage, planned: Sequence[ShardRef], google: dict[str, Any]) -> dict[str, str]:
    """Speak the utterances that are not cached.

    Args:
        google: settings of paid voices (``paid.plan_for``).

    Returns:
        Digest → reason of the engines' failures; they are not cached, so the next run tries them again.

    Raises:
        HearsightError: an engine is broken, or the disk is full. Finished speech is kept.
    """
    missing, total = _missing(stage, planned)
    stage.done["speak"], stage.cached["speak"] = total, total - missing.num_rows
    failed: dict[str, str] = {}
    shared = {"google": google, "shaped_there": stage.params.google_shapes}
    pieces = [missing.take(pa.array(range(start, end))) for start, end in cut_pieces(missing.num_rows, workers_of(stage))]
    for result in stage.map_uncached(speak_piece, pieces, step="speak", shared=shared):
        failed.update(result)
    if failed:
        counts = ", ".join(f"{reason} {number}" for reason, number in sorted(Counter(failed.values()).items()))
        hint = f"`dvc repro -f -s synthesize@{stage.dataset}` tries them again"
        print(f"hearsight: warning: engines failed on {len(failed)} utterances ({counts}); {hint}", file=sys.stderr, flush=True)
    return failed


def workers_of(stage: Stage) -> int:
    """Return the number of workers to divide pieces among; 64 for a cluster of unknown size."""
    return getattr(stage.engine, "workers", 0) or 64


def _missing(stage: Stage, planned: Sequence[ShardRef]) -> tuple[pa.Table, int]:
    """Return the utterances that are not cached, the longest text first, and the number of all."""
    tables = [shard.read(COLUMNS) for shard in planned]
    if not any(table.num_rows for table in tables):
        return pa.table({name: [] for name in COLUMNS}), 0
    utterances = pa.concat_tables(tables)
    parts = []
    for voice in sorted(pc.unique(utterances["voice"]).to_pylist()):
        of_voice = utterances.filter(pc.equal(utterances["voice"], voice))
        digests = pa.array(
            stage.annotations.find_missing(speech_of(voice, stage.params.google_shapes), of_voice["digest"].to_pylist()),
            pa.string(),
        )
        parts.append(of_voice.filter(pc.is_in(of_voice["digest"], value_set=digests)))
    missing = pa.concat_tables(parts)
    # Utterances with equal text and prosody share one sound.
    missing = missing.group_by("digest").aggregate([(name, "min") for name in COLUMNS if name != "digest"])
    missing = missing.rename_columns([name.removesuffix("_min") for name in missing.column_names]).select(COLUMNS)
    # Every piece mixes the voices, so that no worker gets only slow ones.
    lengths = pc.utf8_length(missing["spoken"])
    missing = missing.append_column("length", lengths).sort_by([("length", "descending"), ("digest", "ascending")])
    return missing.select(COLUMNS), utterances.num_rows


def cut_pieces(total: int, workers: int) -> Iterator[tuple[int, int]]:
    """Yield the bounds of the pieces of ``total`` utterances; sizes shrink, so that all workers end together."""
    start = 0
    while start < total:
        size = min(LARGEST, max(1, (total - start) // (SHARES * workers)))
        yield start, min(total, start + size)
        start += size


def speak_piece(piece: pa.Table, task: Task) -> dict[str, str]:
    """Speak one piece into the result cache; return digest → reason of the failures."""
    failed: dict[str, str] = {}
    rows = piece.to_pylist()
    service_answers = request_speech(rows, task)
    for voice in sorted({row["voice"] for row in rows}):
        payloads = {
            row["digest"]: (row["spoken"], Prosody(voice, row["rate"], row["pitch"], row["gain"]))
            for row in rows
            if row["voice"] == voice
        }
        if voice_named(voice).paid:
            answers = {payload: service_answers[digest] for digest, payload in payloads.items()}
            speech = bought_speech(voice, answers, task.shared["shaped_there"])
        else:
            speech = Speech(voice)
        while True:
            try:
                task.annotations.annotate(speech, payloads)
                break
            except Unspoken as unspoken:
                failed[unspoken.digest] = unspoken.reason
                del payloads[unspoken.digest]
    return failed
