"""Sums over the shards of an output, one shard in memory at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from components.core.ledger import DROPPED
from components.core.shards import read_table
from components.core.stage_output import StageOutput
from components.knowledge.people import count_people
from components.metrics.caption_lengths import CaptionStatistics


@dataclass
class Durations:
    """Utterances by voice, and their duration."""

    voices: dict[str, int] = field(default_factory=dict)
    number: int = 0
    seconds: float = 0.0


def sum_durations(speech: StageOutput) -> Durations:
    """Return the voices and the duration of all utterances."""
    voices: Counter[str] = Counter()
    found = Durations()
    for shard in speech.shards:
        table = shard.read(["voice", "seconds"])
        voices.update(table["voice"].to_pylist())
        found.number += table.num_rows
        found.seconds = sum(table["seconds"].to_pylist(), found.seconds)
    found.voices = dict(sorted(voices.items()))
    return found


def dropped_examples(output: StageOutput, most: int) -> dict[str, list[dict[str, str]]]:
    """Return rule → the first ``most`` dropped records in the order of the shards; no ledger is read after the last of them."""
    left = {rule: min(most, count) for rule, count in output.manifest.counts.get("record", {"dropped": {}})["dropped"].items()}
    by_rule: dict[str, list[dict[str, str]]] = {rule: [] for rule in sorted(left)}
    for shard in output.shards:
        wanted = [rule for rule, number in left.items() if number]
        if not wanted:
            break
        ledger = read_table(shard.ledger)
        of_records = pc.and_(pc.equal(ledger["verdict"], DROPPED), pc.equal(ledger["kind"], "record"))
        ledger = ledger.filter(pc.and_(of_records, pc.is_in(ledger["rule"], pa.array(wanted, pa.string()))))
        for rule in wanted:
            rows = ledger.filter(pc.equal(ledger["rule"], rule)).slice(0, left[rule]).to_pylist()
            by_rule[rule] += rows
            left[rule] -= len(rows)
    return {rule: rows for rule, rows in by_rule.items() if rows}


def texts_of(crawl: StageOutput, keys: Collection[str]) -> dict[str, str]:
    """Return the alt-texts of some records by key; no shard is read after the last of them."""
    texts: dict[str, str] = {}
    wanted = pa.array(sorted(keys), pa.string())
    for shard in crawl.shards:
        if len(texts) == len(wanted):
            break
        table = shard.read(["key", "alt"])
        table = table.filter(pc.is_in(table["key"], wanted))
        texts |= dict(zip(table["key"].to_pylist(), table["alt"].to_pylist(), strict=True))
    return texts


@dataclass
class Captions:
    """Statistics of the captions of each split, the people in them, and those with the most rewriting steps."""

    by_split: dict[str, CaptionStatistics]
    people: tuple[int, int] = (0, 0)
    rewritten: list[dict[str, Any]] = field(default_factory=list)


def sum_captions(split: StageOutput, splits: tuple[str, ...], most: int) -> Captions:
    """Return the statistics of a split's captions; ``most`` of the captions with the most rewriting steps."""
    found = Captions({name: CaptionStatistics() for name in splits})
    for shard in split.shards:
        rows = shard.read(["split", "caption", "alt", "text", "steps"]).to_pylist()
        for row in rows:
            if row["split"] in found.by_split:
                found.by_split[row["split"]].add(row["caption"])
        people = count_people(row["steps"] for row in rows)
        found.people = (found.people[0] + people[0], found.people[1] + people[1])
        found.rewritten = sorted([*found.rewritten, *rows], key=lambda row: (-len(row["steps"]), row["alt"]))[:most]
    return found
