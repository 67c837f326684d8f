"""Input and output records of the split.

The input is the output of ``dedup``, or candidates with finished captions: the alt-text of a set written or spoken by people is
the caption, without changes or labels. Then each image is a group, named by the key of its first record.

Cleaning of the test split by raters: records that too few called GOOD are dropped (CC table 3).

Train and validation are left as they are, and no record changes its split. The ratings are those of a dataset with the same
records; since DVC has no cycles, the cleaned split is a dataset of its own (docs/ratings.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

from components.core.errors import HearsightError
from components.core.ledger import dropped, ledger_table
from components.core.records import GROUPED
from components.core.stage_output import ShardRef, StageOutput
from components.execution.stage import Stage

Decide = Callable[[str, str], tuple[str, dict[str, str]]]
"""(key, group) of a record → its split, and its ledger row; a record without a split is dropped."""
TEST = "test"
BAD, UNRATED = "rated_bad", "unrated"
"""Rules of dropped test records."""
Votes = dict[str, tuple[int, int]]
"""Record → raters that called it GOOD, and all that count."""


def read_votes(stage: Stage) -> Votes:
    """Return the votes on the dataset's records; empty where the split is not cleaned.

    Raises:
        HearsightError: ``min_good`` is set without ratings, or no rated item is the caption of a record.
    """
    if not stage.params.min_good:
        return {}
    where = stage.place("min_good")
    ratings = stage.inputs.get("ratings")
    if ratings is None:
        hint = f"name an output of evaluate_ratings of the same records in chain.split.{stage.dataset}.ratings, or set it to 0"
        raise HearsightError("needs ratings, and the split has none", where=where, hint=hint)
    table = ratings.table(["records", "ratings", "good"])
    votes = {
        record: (good, answered)
        for records, answered, good in zip(*(table[name].to_pylist() for name in ("records", "ratings", "good")), strict=True)
        for record in records
    }
    if not votes:
        hint = "rate the captions of the dataset: build_rating_items needs `captions`"
        raise HearsightError(f"{ratings.name} holds no rated caption of a record", where=where, hint=hint)
    return votes


def cleaned(decide: Decide, votes: Votes, min_good: int, unrated: str) -> Decide:
    """Return ``decide`` with the test records that raters refuse dropped; the ledger rows of test records name their votes."""
    if not votes:
        return decide

    def judge(key: str, group: str) -> tuple[str, dict[str, str]]:
        split, row = decide(key, group)
        if split != TEST:
            return split, row
        if key not in votes:
            if unrated == "drop":
                return "", dropped(key, UNRATED, "not rated", f"{min_good} GOOD", detail=row["detail"])
            return split, row | {"detail": f"{row['detail']}; not rated"}
        good, answered = votes[key]
        told = f"{good} of {answered} GOOD"
        if good < min_good:
            return "", dropped(key, BAD, told, min_good, detail=row["detail"])
        return split, row | {"detail": f"{row['detail']}; {told}"}

    return judge


SPLITS = ("train", "validation", "test")
ACROSS = "duplicate_across_sides"
"""Rule of a record that duplicates one in another split, which is kept. Its name is stored in ledgers."""
ONE_SPLIT = "one split per image"
"""Threshold of that rule in ledgers."""
IMAGE = "image_sha256"
"""Column by which candidates are grouped."""


def is_grouped(output: StageOutput) -> bool:
    """Return whether the input's records have groups and captions of their own."""
    return output.manifest.record == "GROUPED"


def groups_of_images(output: StageOutput) -> dict[str, str]:
    """Return image (sha256) → its group: the key of the image's first record."""
    first: dict[str, str] = {}
    for shard in output.shards:
        table = shard.read(["key", IMAGE])
        for key, image in zip(table.column("key").to_pylist(), table.column(IMAGE).to_pylist(), strict=True):
            first.setdefault(image, key)
    return first


def read_grouped(shard: ShardRef, groups: dict[str, str] | None) -> pa.Table:
    """Return a shard as GROUPED; ``groups`` (of :func:`groups_of_images`) for candidates, None for grouped records."""
    table = shard.read()
    if groups is None:
        return table
    rows = [
        {**row, "text": row["alt"], "labels": [], "caption": row["alt"], "steps": [], "types": [], "group": groups[row[IMAGE]]}
        for row in table.to_pylist()
    ]
    return pa.Table.from_pylist(rows, schema=GROUPED)


def requested_shares(params: Any) -> dict[str, float]:
    """Return split → its share of 1, from ``split.validation`` and ``split.test``."""
    train = round(1 - params.validation - params.test, 9)
    return dict(zip(SPLITS, (train, params.validation, params.test), strict=True))


def write_split(
    stage: Stage,
    groups: dict[str, str] | None,
    decide: Decide,
    more: Sequence[dict[str, str]] = (),
) -> None:
    """Write the input's shards with their splits, the ledger, and the number of records in each split as metrics.

    Args:
        stage: the split.
        groups: as for :func:`read_grouped`.
        decide: the decision on a record, before the cleaning of the test split.
        more: further ledger rows, for the first shard.
    """
    counts: Counter[str] = Counter()
    decide = cleaned(decide, read_votes(stage), stage.params.min_good, stage.params.unrated)
    for number, shard in enumerate(stage.inputs["input"].shards):
        table = read_grouped(shard, groups)
        decisions = [decide(*pair) for pair in zip(table["key"].to_pylist(), table["group"].to_pylist(), strict=True)]
        ledger = [*(more if number == 0 else ()), *(row for _, row in decisions)]
        splits = [split for split, _ in decisions if split]
        counts.update(splits)
        counts.update(row["rule"] for _, row in decisions if row["rule"] in (BAD, UNRATED))
        table = table.take(pa.array([index for index, (split, _) in enumerate(decisions) if split], pa.int64()))
        stage.write_shard(shard.name, table.append_column("split", pa.array(splits, pa.string())), ledger_table(ledger))
    for name in SPLITS:
        stage.metric(f"records_{name}", counts[name])
    if stage.params.min_good:
        for rule in (BAD, UNRATED):
            stage.metric(f"test_dropped_{rule}", counts[rule])
