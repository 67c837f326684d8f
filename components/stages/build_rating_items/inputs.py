"""What the inputs offer: the drawn records of the split, the utterances of the split, and where images lie."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from components.core.errors import HearsightError
from components.core.seeded_rng import seeded_rng
from components.execution.stage import Stage
from components.stages.build_rating_items import Params

RECORD_COLUMNS = ["key", "caption", "language", "split", "image_sha256", "media"]
UTTERANCE_COLUMNS = [
    "key", "record", "caption", "language", "split", "image_sha256", "image_media", "audio_sha256", "media",
]  # fmt: skip


@dataclass(frozen=True)
class Material:
    """Records and utterances of the split that is rated."""

    records: dict[str, dict[str, Any]]
    """Key → record of the split: those of ``captions``, or without it those that ``speech`` speaks."""
    drawn: list[str]
    """Keys of the sample, sorted."""
    utterances: dict[str, dict[str, Any]]
    """Key → utterance of the split."""
    first_utterance: dict[str, dict[str, Any]]
    """Record → its first utterance."""
    images: dict[str, str]
    """sha256 → place in the output of ``media``."""
    others: list[str]
    """Keys of the records of other splits."""


def draw(keys: Iterable[str], number: int, *purpose: str | int) -> list[str]:
    """Return ``number`` of the keys, sorted; 0 takes all. Each key has its own draw, so adding one displaces one at most."""
    ordered = sorted(set(keys), key=lambda key: (seeded_rng(*purpose, key).random(), key)) if number else list(set(keys))
    return sorted(ordered[:number] if number else ordered)


def first_key(keys: Iterable[str]) -> str:
    """Return the first of several keys ``<name>.<number>``: .2 before .10."""
    return min(keys, key=lambda key: (len(key), key))


def read_material(stage: Stage) -> Material:
    """Read the records and utterances of the split, and draw the sample.

    Raises:
        HearsightError: there are no images, or neither captions nor speech.
    """
    params: Params = stage.params
    where = f"chain.build_rating_items.{stage.dataset}"
    if "media" not in stage.inputs or not {"captions", "speech"} & stage.inputs.keys():
        hint = "name the crawl as media, and a split as captions or the speech of one"
        raise HearsightError("needs images, and captions or speech", where=where, hint=hint)
    spoken = stage.inputs["speech"].table(UTTERANCE_COLUMNS) if "speech" in stage.inputs else None
    utterances = {row["key"]: row for row in _of_split(spoken, params.split)} if spoken else {}
    by_record: dict[str, list[str]] = {}
    for key, row in utterances.items():
        by_record.setdefault(row["record"], []).append(key)
    first = {record: utterances[first_key(keys)] for record, keys in by_record.items()}
    if "captions" in stage.inputs:
        table = stage.inputs["captions"].table(RECORD_COLUMNS)
        records = {row["key"]: row for row in _of_split(table, params.split)}
        others = table.filter(pc.not_equal(table["split"], params.split))["key"].to_pylist()
    else:
        assert spoken is not None
        records = {record: row | {"key": record, "media": row["image_media"]} for record, row in sorted(first.items())}
        others = pc.unique(spoken.filter(pc.not_equal(spoken["split"], params.split))["record"]).to_pylist()
    images = {row["image_sha256"]: row["image_media"] for row in utterances.values()}
    images |= {row["image_sha256"]: row["media"] for row in records.values()}
    drawn = draw(records, params.sample, params.seed, "rated record")
    return Material(records, drawn, utterances, first, images, others)


def _of_split(table: pa.Table, split: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = table.filter(pc.equal(table["split"], split)).to_pylist()
    return rows
