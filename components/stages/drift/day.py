"""The counts of one day, from manifests, ledgers and shards.

A snapshot with a base appends its new records to the base's shards, so the day's records are those of the shards whose names come
after the base's last. Memory: a shard's rows, and every owner or host once.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from components.core.addresses import lineage_path
from components.core.digests import digest_value
from components.core.ledger import KEPT, OUTCOME, count_outcomes
from components.core.shards import read_table
from components.core.stage_output import ShardRef, StageOutput
from components.stages.drift.history import Day, Family

OF_THE_RECORD = frozenset(
    {"alt_too_long", "data_uri", "duplicate_pair", "empty_alt", "image_ratio", "image_side", "takedown", "unusable_url"}
)
"""Rules of the crawl that concern a record itself; every other rule concerns the answer to a request."""
LONGEST = 100
"""Words from which captions are counted together."""


@dataclass(frozen=True)
class Snapshot:
    """What the crawl's lineage says of its snapshot."""

    name: str
    base: str
    settings: str
    """Digest of the crawl's other settings, which decide which shard holds a record."""


def read_snapshot(crawl: StageOutput) -> Snapshot:
    """Return the snapshot that a crawl's output was made from."""
    params = json.loads(lineage_path(crawl.path).read_bytes())["params"]
    others = {name: value for name, value in params.items() if name not in ("snapshot", "base")}
    return Snapshot(params["snapshot"], params.get("base", ""), digest_value(others)[:12])


def measure_day(inputs: Mapping[str, StageOutput], snapshot: Snapshot, base: Day | None) -> Day:
    """Return the counts of a snapshot.

    Args:
        inputs: ``crawl``, ``input`` (whose captions are measured), and other stages of the dataset, whose records are counted.
        base: the line of the snapshot's base; None counts the whole snapshot.
    """
    crawl = inputs["crawl"]
    last = base.last if base and base.settings == snapshot.settings else None
    outputs = {output.name: output for output in (crawl, *inputs.values())}
    families = {"errors/pages": _errors(crawl, "page"), "errors/images": _errors(crawl, "record")}
    for output in outputs.values():
        families[f"pass rates/{output.path.name}"] = _passed(output, last, OF_THE_RECORD if output is crawl else None)
    languages, kind, sources = _sources(crawl, last)
    families |= {"languages/candidates": languages, f"{kind}s/candidates": sources}
    families["lengths/captions"] = _lengths(inputs["input"], last)
    newest = max([*(shard.name for shard in crawl.shards), last or ""])
    return Day(snapshot.name, snapshot.base, snapshot.settings, newest, last is not None, dict(sorted(families.items())))


def _new(output: StageOutput, last: str | None) -> list[ShardRef]:
    return [shard for shard in output.shards if last is None or shard.name > last]


def _errors(crawl: StageOutput, kind: str) -> Family:
    """Count the addresses of the whole snapshot by the class of what their request ended with."""
    bucket = crawl.manifest.counts.get(kind, {"kept": 0, "dropped": {}})
    dropped = {rule: n for rule, n in bucket["dropped"].items() if kind == "page" or rule not in OF_THE_RECORD}
    return Family(bucket["kept"] + sum(dropped.values()), dropped)


def _passed(output: StageOutput, last: str | None, rules: frozenset[str] | None) -> Family:
    """Count the day's records by what a stage did with them; ``rules`` limits the rules that are counted by name."""
    counts: Counter[str] = Counter()
    total = 0
    for shard in _new(output, last):
        for (kind, rule), number in count_outcomes(read_table(shard.ledger, OUTCOME)).items():
            if kind == "record" and rule != "gone":
                total += number
                if rules is None or rule == KEPT or rule in rules:
                    counts[rule] += number
    return Family(total, dict(counts))


def _sources(crawl: StageOutput, last: str | None) -> tuple[Family, str, Family]:
    """Count the day's candidates by language, and what the largest owner and owners that the base lacks contribute.

    Where no record has an owner, hosts take their place.
    """
    languages: Counter[str] = Counter()
    of_day: dict[str, Counter[str]] = {"owner": Counter(), "host": Counter()}
    known: dict[str, set[str]] = {"owner": set(), "host": set()}
    day = {shard.name for shard in _new(crawl, last)}
    for shard in crawl.shards:
        table = shard.read(["language", "owner", "host"])
        for name in of_day:
            if shard.name in day:
                of_day[name].update(table[name].to_pylist())
            else:
                known[name].update(table[name].unique().to_pylist())
        if shard.name in day:
            languages.update(table["language"].to_pylist())
    kind = "owner" if any(of_day["owner"]) or any(known["owner"]) else "host"
    counts = of_day[kind]
    total = sum(counts.values())
    families = {"largest": max(counts.values(), default=0), "distinct": len(counts)}
    if last is not None:
        families["new"] = sum(n for name, n in counts.items() if name not in known[kind])
    return Family(total, dict(languages)), kind, Family(total, families)


def _lengths(output: StageOutput, last: str | None) -> Family:
    """Count the day's captions by their number of words."""
    words: Counter[str] = Counter()
    for shard in _new(output, last):
        words.update(str(min(len(caption.split()), LONGEST)) for caption in shard.read(["caption"])["caption"].to_pylist())
    return Family(words.total(), dict(words))
