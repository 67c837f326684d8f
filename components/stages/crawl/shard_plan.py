"""Which shard a row goes to when a snapshot stands on an earlier one: what was there stays, what is new comes at the end.

A record of the base that is still the same keeps its shard, so that shard's bytes stay and every later stage finds its work in
the shard cache; new and changed records fill new shards; what is gone leaves a ledger row of the rule ``gone`` where it was.
The plan is a function of the snapshots, their order and the parameters alone, never of what lies in ``data/``: the
base's own plan is made first, by reading the base as these parameters would, and kept in the shard cache.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from components.core.digests import digest_value
from components.core.ledger import KEPT, dropped, ledger_table
from components.core.records import CANDIDATE
from components.core.shard_cache import ShardCache
from components.core.shards import read_table, write_table
from components.execution.stage import Stage
from components.stages.crawl.records import Verdict
from components.web.snapshot_chain import Base, fold_chain

STEP = "crawl.plan"
_SCHEMA = pa.schema([(name, pa.string()) for name in ("kind", "key", "sign", "page", "detail")] + [("shard", pa.int32())])


class Part(NamedTuple):
    """A shard as a snapshot alone would make it."""

    table: pa.Table
    ledger: pa.Table
    media: Mapping[str, bytes]
    """Member → bytes, read when asked for."""


@dataclass
class Layout(Stage):
    """A stage that writes nothing: it collects what would have been written."""

    parts: list[Part] = field(default_factory=list)

    @classmethod
    def of(cls, stage: Stage, *, counted: bool = True) -> Layout:
        """For ``stage``; what it computes is counted as that stage's unless not ``counted``."""
        given = {one.name: getattr(stage, one.name) for one in fields(Stage)}
        return cls(**(given if counted else given | {"cached": {}, "done": {}, "metrics": [], "parents": []}))

    def write_shard(self, name: str, table: pa.Table, ledger: pa.Table, media: Mapping[str, bytes] | None = None) -> None:
        """Keep the shard in hand."""
        self.parts.append(Part(table, ledger, media or {}))


class Place(NamedTuple):
    """Where the base has a row."""

    shard: int
    sign: str
    """Of a kept record, the digest of all that it says; of a kept page, ``page``; '' of what was dropped."""
    page: str = ""
    detail: str = ""


@dataclass
class Plan:
    """The shards of one snapshot."""

    places: dict[tuple[str, str], Place] = field(default_factory=dict)
    """(kind, key) of every ledger row → where it stands."""
    media: dict[str, int] = field(default_factory=dict)
    """Media member → the shard whose tar holds it."""
    shards: int = 0
    """Shards used so far, those that are empty by now included."""

    def save(self, path: Path) -> None:
        """Write the plan as one table, in a fixed order."""
        rows = [
            {"kind": kind, "key": key, "sign": place.sign, "page": place.page, "detail": place.detail, "shard": place.shard}
            for (kind, key), place in sorted(self.places.items())
        ]
        blank = {"sign": "", "page": "", "detail": ""}
        rows += [{"kind": "media", "key": member, "shard": shard, **blank} for member, shard in sorted(self.media.items())]
        write_table(
            path, pa.Table.from_pylist([*rows, {"kind": "shards", "key": "", "shard": self.shards, **blank}], schema=_SCHEMA)
        )

    @classmethod
    def load(cls, path: Path) -> Plan:
        """A plan that was saved."""
        plan = cls()
        for row in read_table(path).to_pylist():
            if row["kind"] == "media":
                plan.media[row["key"]] = row["shard"]
            elif row["kind"] == "shards":
                plan.shards = row["shard"]
            else:
                plan.places[row["kind"], row["key"]] = Place(row["shard"], row["sign"], row["page"], row["detail"])
        return plan


@dataclass
class _Shard:
    records: list[dict[str, Any]] = field(default_factory=list)
    rows: list[dict[str, str]] = field(default_factory=list)


def lay_out(parts: Sequence[Part], base: Plan | None, base_name: str, size: int) -> tuple[Plan, dict[int, _Shard]]:
    """The plan of a snapshot and the content of its shards.

    Args:
        parts: what it would write alone, in order.
        base: the plan of the snapshot it stands on; None for none.
        base_name: that snapshot, for the rows of what is gone.
        size: records a new shard takes.
    """
    known = base or Plan()
    shards: defaultdict[int, _Shard] = defaultdict(_Shard)
    plan, number = Plan(), known.shards
    for part, row, record in _rows(parts):
        if base is None:
            number = part
        name = (row["kind"], row["key"])
        sign = _sign(row, record)
        place = known.places.get(name)
        stays = place is not None and (record is None or place.sign == sign)
        at = place.shard if place is not None and stays else number
        shards[at].rows.append(row)
        page = record["page_url"] if record else ""
        plan.places[name] = Place(at, sign, page, row["detail"] if sign else "")
        if record is not None:
            shards[at].records.append(record)
            # Rows that follow the last record of a full shard begin the next one, as they do in a snapshot alone.
            if base is not None and not stays and len(shards[at].records) >= size:
                number += 1
    for name, place in known.places.items():
        if place.sign and name not in plan.places:
            shards[place.shard].rows.append(_gone(name, place, plan, base_name))
    _place_media(plan, known, shards)
    plan.shards = max([known.shards, *(at + 1 for at in shards)])
    return plan, dict(sorted(shards.items()))


def _rows(parts: Sequence[Part]) -> Iterator[tuple[int, dict[str, str], dict[str, Any] | None]]:
    for number, part in enumerate(parts):
        records = {record["key"]: record for record in part.table.to_pylist()}
        for row in part.ledger.to_pylist():
            yield number, row, records.get(row["key"]) if row["kind"] == "record" and row["verdict"] == KEPT else None


def _sign(row: Mapping[str, str], record: Mapping[str, Any] | None) -> str:
    if record is not None:
        return digest_value({name: value for name, value in record.items() if name != "media"})[:32]
    return row["kind"] if row["verdict"] == KEPT else ""


def _gone(name: tuple[str, str], place: Place, plan: Plan, base_name: str) -> dict[str, str]:
    kind, key = name
    page = plan.places.get(("page", place.page))
    why = "no longer found" if kind != "record" else "no longer on its page" if page and page.sign else "its page is not kept"
    return dropped(key, "gone", why, f"as in {base_name}", kind=kind, detail=place.detail)


def _place_media(plan: Plan, known: Plan, shards: Mapping[int, _Shard]) -> None:
    """Let each picture lie where it lies in the base, else with the first record of it."""
    for at, shard in sorted(shards.items()):
        for record in shard.records:
            member = record["media"].partition("/")[2]
            home = plan.media.setdefault(member, known.media.get(member, at))
            record["media"] = f"{home:05d}/{member}"


def write_laid_out(stage: Stage, parts: Sequence[Part], base: Plan, base_name: str) -> None:
    """Write a snapshot's shards over the plan of its base."""
    plan, shards = lay_out(parts, base, base_name, stage.params.shard_size)
    sources = {member: part.media for part in parts for member in part.media}
    members: defaultdict[int, list[str]] = defaultdict(list)
    for member, at in plan.media.items():
        members[at].append(member)
    for at in sorted({*shards, *members}) or [0]:
        shard = shards.get(at, _Shard())
        table = pa.Table.from_pylist(shard.records, schema=CANDIDATE)
        stage.write_shard(f"{at:05d}", table, ledger_table(shard.rows), _Members(sources, members[at]))


class _Members(Mapping[str, bytes]):
    """The media of one shard, each read from its part when asked for, so that a large shard needs no large memory."""

    def __init__(self, sources: Mapping[str, Mapping[str, bytes]], names: Sequence[str]) -> None:
        self._sources, self._names = sources, sorted(names)

    def __getitem__(self, member: str) -> bytes:
        return self._sources[member][member]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def settle(verdicts: Sequence[Verdict], base: Plan | None) -> list[Verdict]:
    """Of equal pairs, keep the one that the base kept: a new page that sorts before it must not drive it out."""
    kept_before = {key for (kind, key), place in (base.places if base else {}).items() if kind == "record" and place.sign}
    firsts = {verdict.key: verdict for verdict in verdicts if verdict.row is None}
    heirs: dict[str, str] = {}  # the first of a pair → the one of it that the base kept
    for verdict in verdicts:
        row = verdict.row
        if row and row["rule"] == "duplicate_pair" and verdict.key in kept_before and row["value"] not in kept_before:
            heirs.setdefault(row["value"], verdict.key)
    settled: list[Verdict] = []
    for verdict in verdicts:
        row = verdict.row
        if row is None and verdict.key in heirs:
            where = f"{verdict.candidate.image_url} on {verdict.page.url}"
            row = dropped(verdict.key, "duplicate_pair", heirs[verdict.key], "first by page and position", detail=where)
        elif row and row["rule"] == "duplicate_pair" and row["value"] in heirs and row["value"] in firsts:
            row = None if heirs[row["value"]] == verdict.key else row | {"value": heirs[row["value"]]}
        settled.append(replace(verdict, row=row))
    return settled


def base_plan(
    stage: Stage, bases: Sequence[Base], key: Mapping[str, Any], read: Callable[[str, Plan | None], list[Part]]
) -> Plan:
    """The plan of the newest of ``bases``, made from the oldest up, or from the newest one that the cache holds.

    Args:
        stage: whose cache and shard size it is.
        bases: oldest first; at least one.
        key: what the plan depends on besides the snapshots: the code and the parameters.
        read: (snapshot, the plan of the one below it) → what that snapshot alone would write.
    """

    def extend(depth: int, below: Plan | None) -> Plan:
        name = bases[depth - 1].snapshot if depth else ""
        return lay_out(read(bases[depth].snapshot, below), below, name, stage.params.shard_size)[0]

    keys = [{**key, "snapshots": [base.digest for base in bases[: depth + 1]]} for depth in range(len(bases))]
    plan = fold_chain(ShardCache(stage.state / "cache"), STEP, keys, Plan.load, extend)
    assert plan is not None
    return plan
