"""dedup: near-duplicate pictures become one group; a picture said twice in the same words is kept once.

Source: #PraCegoVer section 4 (clusters by connected components over a distance threshold); pHash threshold from the
measurements in ``docs/architecture.md``. Records whose pictures are near-duplicates but whose captions differ stay,
under one group, as several references of one picture; a split never parts a group.
Not in scope: caption distances and feature-space clusters, which the #PraCegoVer chain adds.
"""

from __future__ import annotations

from components.core.ledger import dropped, kept, ledger_table
from components.core.params import Settings
from components.core.stage import Stage

DUPLICATE = "duplicate_pair"


class Params(Settings):
    """Settings of dedup."""

    max_distance: int
    """Hamming distance (bits of 64) up to which two perceptual hashes are of the same picture."""


def run(stage: Stage) -> None:
    """Group by picture, drop repeats, and write each shard with its group."""
    import pyarrow as pa

    from components.dedup.groups import group_by_distance

    source = stage.inputs["input"]
    columns = source.table(["key", "phash", "caption"])
    keys, captions = columns.column("key").to_pylist(), columns.column("caption").to_pylist()
    labels = group_by_distance(columns.column("phash").to_pylist(), stage.params.max_distance)

    members: dict[int, list[str]] = {}
    for key, label in zip(keys, labels, strict=True):
        members.setdefault(label, []).append(key)
    group_of = {key: min(members[label]) for key, label in zip(keys, labels, strict=True)}
    # The smallest key speaks for a repeated pair, whatever the order of the shards.
    first: dict[tuple[str, str], str] = {}
    for key, caption in sorted(zip(keys, captions, strict=True)):
        first.setdefault((group_of[key], caption), key)

    for shard in source.shards:
        table = shard.read()
        rows, ledger = [], []
        for index, (key, caption) in enumerate(
            zip(table.column("key").to_pylist(), table.column("caption").to_pylist(), strict=True)
        ):
            winner = first[group_of[key], caption]
            if winner == key:
                rows.append(index)
                ledger.append(kept(key, detail=f"group {group_of[key]}"))
            else:
                ledger.append(
                    dropped(key, DUPLICATE, f"same as {winner}", stage.params.max_distance, detail=f"group {group_of[key]}")
                )
        stays = table.take(pa.array(rows, pa.int64()))
        groups = pa.array([group_of[key] for key in stays.column("key").to_pylist()], pa.string())
        stage.write_shard(shard.name, stays.append_column("group", groups), ledger_table(ledger))
    stage.metric("groups", len(members))
