"""Input and output records of the split.

The input is the output of ``dedup``, or candidates with finished captions: the alt-text of a set written or spoken by people is
the caption, without changes or labels. Then each picture is a group, named by the key of its first record.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from components.core.ledger import dropped, kept, ledger_table
from components.core.records import GROUPED
from components.core.stage_output import ShardRef, StageOutput
from components.execution.stage import Stage

SPLITS = ("train", "validation", "test")
ACROSS = "duplicate_across_sides"
"""Rule of a record that duplicates one in another split, which is kept."""

PICTURE = "image_sha256"
"""Column by which candidates are grouped."""


def is_grouped(output: StageOutput) -> bool:
    """Return whether the input's records have groups and captions of their own."""
    return output.manifest.record == "GROUPED"


def groups_of_pictures(output: StageOutput) -> dict[str, str]:
    """Return picture (sha256) → its group: the key of the picture's first record."""
    first: dict[str, str] = {}
    for shard in output.shards:
        table = shard.read(["key", PICTURE])
        for key, picture in zip(table.column("key").to_pylist(), table.column(PICTURE).to_pylist(), strict=True):
            first.setdefault(picture, key)
    return first


def read_grouped(shard: ShardRef, groups: dict[str, str] | None) -> pa.Table:
    """Return a shard as GROUPED; ``groups`` (of :func:`groups_of_pictures`) for candidates, None for grouped records."""
    table = shard.read()
    if groups is None:
        return table
    rows = [
        {
            **row,
            "text": row["alt"],
            "labels": [],
            "caption": row["alt"],
            "steps": [],
            "types": [],
            "group": groups[row[PICTURE]],
        }
        for row in table.to_pylist()
    ]
    return pa.Table.from_pylist(rows, schema=GROUPED)


def requested_shares(params: Any) -> dict[str, float]:
    """Return split → its share of 1, from ``split.validation`` and ``split.test``."""
    train = round(1 - params.validation - params.test, 9)
    return dict(zip(SPLITS, (train, params.validation, params.test), strict=True))


def write_split(
    stage: Stage,
    sides: Mapping[str, str],
    groups: dict[str, str] | None,
    describe: Callable[[str], str],
    keeps: Mapping[str, str] | None = None,
    more: Sequence[dict[str, str]] = (),
) -> None:
    """Write the input's shards with their splits, the number of records in each split as metrics, and the ledger.

    Args:
        stage: the split.
        sides: record → split; a record without one is dropped by ``unlisted``.
        groups: as for :func:`read_grouped`.
        describe: record → its text in the ledger.
        keeps: group → the one split whose records stay; None if no group is in several splits.
        more: further ledger rows.
    """
    counts: Counter[str] = Counter()
    for number, shard in enumerate(stage.inputs["input"].shards):
        table = read_grouped(shard, groups)
        rows, splits, ledger = [], [], list(more) if number == 0 else []
        for index, (key, group) in enumerate(zip(table["key"].to_pylist(), table["group"].to_pylist(), strict=True)):
            side = sides.get(key)
            if side is None:
                ledger.append(dropped(key, "unlisted", describe(key), "a name in one of the lists"))
            elif keeps is not None and keeps[group] != side:
                value = f"same picture as {group}'s in {keeps[group]}"
                ledger.append(dropped(key, ACROSS, value, "one side a picture", detail=f"listed in {side}"))
            else:
                rows.append(index)
                splits.append(side)
                ledger.append(kept(key, detail=f"{side}, {describe(key)}"))
        counts.update(splits)
        table = table.take(pa.array(rows, pa.int64()))
        stage.write_shard(shard.name, table.append_column("split", pa.array(splits, pa.string())), ledger_table(ledger))
    for name in SPLITS:
        stage.metric(f"records_{name}", counts[name])
