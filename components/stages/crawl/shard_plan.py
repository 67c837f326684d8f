"""Shard assignment for a snapshot with a base: existing records keep their shards, new records go to new shards at the end.

An unchanged record keeps its shard, whose bytes stay equal, so that later stages hit the shard cache. A vanished record leaves
a ledger row of the rule ``gone`` in its shard. The plan is a function of the snapshots, their order and the parameters: the
base's plan is computed first by reading the base under these parameters, and kept in the shard cache.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from components.core.digests import digest_value
from components.core.ledger import KEPT, dropped, ledger_table
from components.core.records import CANDIDATE
from components.core.shards import read_table, write_table
from components.execution.stage import Stage
from components.stages.crawl.records import MediaBodies, Verdict
from components.web.snapshot_chain import Base, fold_chain

STEP = "crawl.plan"
_SCHEMA = pa.schema(
    [(name, pa.string()) for name in ("kind", "key", "signature", "page", "detail")]
    + [("shard", pa.int32()), ("site_count", pa.int32())]
)
"""Rows of a plan: kind and key of a ledger row with its :class:`RowLocation`, a media member with its shard, or all shards."""


class DraftShard(NamedTuple):
    """A shard as the snapshot alone would write it."""

    table: pa.Table
    ledger: pa.Table
    media: Mapping[str, bytes]
    """Member → bytes, read on access."""


def uncounted(stage: Stage) -> Stage:
    """Return the stage for work that does not count as its own: another snapshot's."""
    return replace(stage, cached={}, done={}, metrics=[], parents=[])


class RowLocation(NamedTuple):
    """Shard and content of a ledger row in the base."""

    shard: int
    signature: str
    """Digest of a kept record's content without the count of its site; ``page`` for a kept page; '' for a dropped row."""
    page: str = ""
    detail: str = ""
    site_count: int | None = None
    """Count of the site in a kept record's context: it stays, since each new page of a site changes it for many records."""


@dataclass
class ShardPlan:
    """Shard assignment of one snapshot."""

    locations: dict[tuple[str, str], RowLocation] = field(default_factory=dict)
    """(kind, key) of every ledger row → its location."""
    media: dict[str, int] = field(default_factory=dict)
    """Media member → the shard whose tar file holds it."""
    shards: int = 0
    """Number of shards used so far, including shards that are empty now."""

    def save(self, path: Path) -> None:
        rows: list[dict[str, Any]] = [
            {"kind": kind, "key": key, **place._asdict()} for (kind, key), place in sorted(self.locations.items())
        ]
        rows += [{"kind": "media", "key": member, "shard": shard} for member, shard in sorted(self.media.items())]
        write_table(path, pa.Table.from_pylist([*rows, {"kind": "shards", "shard": self.shards}], schema=_SCHEMA))

    @classmethod
    def load(cls, path: Path) -> ShardPlan:
        """Read a plan written by :meth:`save`."""
        plan = cls()
        for row in read_table(path).to_pylist():
            kind, key = row.pop("kind"), row.pop("key")
            if kind == "media":
                plan.media[key] = row["shard"]
            elif kind == "shards":
                plan.shards = row["shard"]
            else:
                plan.locations[kind, key] = RowLocation(**row)
        return plan


@dataclass
class _ShardRows:
    records: list[dict[str, Any]] = field(default_factory=list)
    rows: list[dict[str, str]] = field(default_factory=list)


def plan_shards(
    drafts: Sequence[DraftShard], base: ShardPlan | None, base_name: str, size: int
) -> tuple[ShardPlan, dict[int, _ShardRows]]:
    """Return the plan of a snapshot and the content of its shards by number.

    Args:
        drafts: the shards it would write alone, in order.
        base: the plan of its base, named ``base_name`` in rows of the rule ``gone``; None for none.
        size: records per new shard.
    """
    base_plan = base or ShardPlan()
    shards: defaultdict[int, _ShardRows] = defaultdict(_ShardRows)
    plan, open_shard = ShardPlan(), base_plan.shards
    for draft, row, record in _rows(drafts):
        if base is None:
            open_shard = draft
        name = (row["kind"], row["key"])
        signature = _signature(row, record)
        location = base_plan.locations.get(name)
        stays = location is not None and (record is None or location.signature == signature)
        shard_number = location.shard if location is not None and stays else open_shard
        shards[shard_number].rows.append(row)
        page = record["page_url"] if record else ""
        context = record["context"] if record else None
        if context and stays and location is not None:
            context["site_count"] = location.site_count
        count = context["site_count"] if context else None
        plan.locations[name] = RowLocation(shard_number, signature, page, row["detail"] if signature else "", count)
        if record is not None:
            shards[shard_number].records.append(record)
            # Rows after the last record of a full shard start the next one, as in a snapshot without a base.
            if base is not None and not stays and len(shards[shard_number].records) >= size:
                open_shard += 1
    for name, location in base_plan.locations.items():
        if location.signature and name not in plan.locations:
            shards[location.shard].rows.append(_gone(name, location, plan, base_name))
    _assign_media(plan, base_plan, shards)
    plan.shards = max([base_plan.shards, *(shard_number + 1 for shard_number in shards)])
    return plan, dict(sorted(shards.items()))


def _rows(drafts: Sequence[DraftShard]) -> Iterator[tuple[int, dict[str, str], dict[str, Any] | None]]:
    """Yield (draft number, ledger row, its record or None) in order."""
    for number, draft in enumerate(drafts):
        records = {record["key"]: record for record in draft.table.to_pylist()}
        for row in draft.ledger.to_pylist():
            yield number, row, records.get(row["key"]) if row["kind"] == "record" and row["verdict"] == KEPT else None


def _signature(row: Mapping[str, str], record: Mapping[str, Any] | None) -> str:
    if record is not None:
        content = {name: value for name, value in record.items() if name != "media"}
        if content["context"]:
            content["context"] = content["context"] | {"site_count": None}
        return digest_value(content)[:32]
    return row["kind"] if row["verdict"] == KEPT else ""


def _gone(name: tuple[str, str], location: RowLocation, plan: ShardPlan, base_name: str) -> dict[str, str]:
    kind, key = name
    page = plan.locations.get(("page", location.page))
    reason = (
        "no longer found" if kind != "record" else "no longer on its page" if page and page.signature else "its page is not kept"
    )
    return dropped(key, "gone", reason, f"as in {base_name}", kind=kind, detail=location.detail)


def _assign_media(plan: ShardPlan, base_plan: ShardPlan, shards: Mapping[int, _ShardRows]) -> None:
    """Assign each media file to its shard in the base, else to the shard of its first record."""
    for shard_number, shard in sorted(shards.items()):
        for record in shard.records:
            member = record["media"].partition("/")[2]
            home = plan.media.setdefault(member, base_plan.media.get(member, shard_number))
            record["media"] = f"{home:05d}/{member}"


def write_planned_shards(stage: Stage, drafts: Sequence[DraftShard], base: ShardPlan, base_name: str) -> None:
    """Write a snapshot's shards by a plan that extends that of its base."""
    plan, shards = plan_shards(drafts, base, base_name, stage.params.shard_size)
    sources = {member: draft.media for draft in drafts for member in draft.media}
    members: defaultdict[int, list[str]] = defaultdict(list)
    for member, shard_number in plan.media.items():
        members[shard_number].append(member)
    for shard_number in sorted({*shards, *members}) or [0]:
        shard = shards.get(shard_number, _ShardRows())
        table = pa.Table.from_pylist(shard.records, schema=CANDIDATE)
        media = MediaBodies(sorted(members[shard_number]), lambda member: sources[member][member])
        stage.write_shard(f"{shard_number:05d}", table, ledger_table(shard.rows), media)


def keep_base_pairs(verdicts: Sequence[Verdict], base: ShardPlan | None) -> list[Verdict]:
    """Return the verdicts with duplicate pairs resolved in favour of the record that the base kept.

    Without this, a new page that sorts before the base's page would take over the pair and drop the base's record.
    """
    kept_in_base = {
        key for (kind, key), location in (base.locations if base else {}).items() if kind == "record" and location.signature
    }
    first_keys = {verdict.key: verdict for verdict in verdicts if verdict.row is None}
    base_keys: dict[str, str] = {}  # key of the first of a pair → key of its duplicate that the base kept
    for verdict in verdicts:
        row = verdict.row
        if row and row["rule"] == "duplicate_pair" and verdict.key in kept_in_base and row["value"] not in kept_in_base:
            base_keys.setdefault(row["value"], verdict.key)
    settled: list[Verdict] = []
    for verdict in verdicts:
        row = verdict.row
        if row is None and verdict.key in base_keys:
            where = f"{verdict.candidate.image_url} on {verdict.page.url}"
            row = dropped(verdict.key, "duplicate_pair", base_keys[verdict.key], "first by page and position", detail=where)
        elif row and row["rule"] == "duplicate_pair" and row["value"] in base_keys and row["value"] in first_keys:
            row = None if base_keys[row["value"]] == verdict.key else row | {"value": base_keys[row["value"]]}
        settled.append(replace(verdict, row=row))
    return settled


def build_base_plan(
    stage: Stage, bases: Sequence[Base], key: Mapping[str, Any], read: Callable[[str, ShardPlan | None], list[DraftShard]]
) -> ShardPlan:
    """Return the plan of the newest of ``bases`` (oldest first, at least one), computed up from the newest cached plan.

    Args:
        key: what the plan depends on besides the snapshots: the code and the parameters.
        read: (snapshot, plan of its base) → the shards that snapshot alone would write.
    """

    def extend(depth: int, below: ShardPlan | None) -> ShardPlan:
        name = bases[depth - 1].snapshot if depth else ""
        return plan_shards(read(bases[depth].snapshot, below), below, name, stage.params.shard_size)[0]

    keys = [{**key, "snapshots": [base.digest for base in bases[: depth + 1]]} for depth in range(len(bases))]
    plan = fold_chain(stage.cache, STEP, keys, ShardPlan.load, extend)
    assert plan is not None
    return plan
