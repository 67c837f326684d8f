"""The concept filter over shards: count per shard, add the counts, then drop captions with rare concepts.

Four maps over the rewritten captions (``count``, ``concepts``, ``reach``, ``people``), cached per shard. ``concepts`` defines
what a concept is and when it is common; ``people`` counts the people that no source of knowledge knows.

Concepts: the nouns of a caption, or their hypernyms, and which of them are common enough.

CC clusters resolved entities and keeps a caption when each of its types occurs more than 100 times in some 15 million captions.
In a set ten thousand times smaller few nouns recur, so a sample may count by ``kind``: a rare noun resolves to its nearest
specific hypernym that is common enough ("zebu" → "bovine"). ``noun`` is the paper's reading: a noun is its own concept.

Counts are computed per shard and added, so memory grows with the vocabulary, not with the captions, and counts of unchanged
shards come from the cache.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from components.core.digests import canonical_json, sha256_bytes
from components.core.errors import HearsightError
from components.core.files import publish_bytes
from components.core.ledger import dropped, kept, ledger_table
from components.core.stage_output import ShardRef
from components.core.text_encoding import csv_text
from components.execution.stage import ShardOut, Stage, Task
from components.knowledge.cascade import Knowledge
from components.knowledge.people import count_people
from components.language.wordnet import load_wordnet

STEPS = (1, 2, 5)
"""Minimum counts of the curve: these times the powers of ten."""


@dataclass
class Counts:
    """Numbers of captions with each concept and with each noun."""

    captions: Counter[str] = field(default_factory=Counter)
    """Concept (a noun or a hypernym) → captions with that noun or a hyponym of it."""
    nouns: Counter[str] = field(default_factory=Counter)
    """Noun → captions that contain this noun itself."""

    def add(self, captions: Mapping[str, int], nouns: Mapping[str, int]) -> None:
        """Add the counts of another shard."""
        self.captions.update(captions)
        self.nouns.update(nouns)


def concept_chain(noun: str, level: str, knowledge: Knowledge) -> tuple[str, ...]:
    """Return the concepts a noun may resolve to, nearest first: itself, then (``level`` kind) its specific hypernyms."""
    return (noun, *(knowledge.kinds(noun) if level == "kind" else ()))


def count(captions: Iterable[Sequence[str]], level: str, knowledge: Knowledge) -> Counts:
    """Count the concepts and nouns of captions; a noun repeated within a caption counts once.

    Args:
        captions: the nouns of each caption.
        level: ``noun`` or ``kind``.
        knowledge: gives the hypernyms of a noun, nearest first.
    """
    counts = Counts()
    for nouns in captions:
        counts.captions.update({concept for noun in nouns for concept in concept_chain(noun, level, knowledge)})
        counts.nouns.update(set(nouns))
    return counts


def resolve(counts: Counts, level: str, minimum: int, knowledge: Knowledge) -> dict[str, str]:
    """Return noun → concept, or "" where even the widest allowed hypernym has fewer than ``minimum`` captions."""
    captions = counts.captions
    return {
        noun: next((concept for concept in concept_chain(noun, level, knowledge) if captions[concept] >= minimum), "")
        for noun in sorted(counts.nouns)
    }


def reaches(counts: Counts, level: str, knowledge: Knowledge) -> dict[str, int]:
    """Return for each noun the greatest minimum count at which it still has a concept."""
    return {
        noun: max(counts.captions[concept] for concept in concept_chain(noun, level, knowledge)) for noun in sorted(counts.nouns)
    }


def concepts_tsv(counts: Counts, resolved: Mapping[str, str]) -> str:
    """Return a table of kept concepts, then dropped nouns, most frequent first: concept, captions, verdict, members.

    ``captions`` is the number compared with the minimum. ``members`` are the other nouns that resolve to a concept, each with the
    number of captions that contain it.
    """
    members: dict[str, list[str]] = {}
    for noun, concept in resolved.items():
        if concept:
            members.setdefault(concept, [])
            if noun != concept:
                members[concept].append(noun)
    rows = [(concept, "kept", nouns) for concept, nouns in members.items()]
    rows += [(noun, "dropped", []) for noun, concept in resolved.items() if not concept]
    rows.sort(key=lambda row: (row[1] != "kept", -counts.captions[row[0]], row[0]))
    lines = ["concept\tcaptions\tverdict\tmembers"]
    for concept, verdict, nouns in rows:
        listed = "; ".join(f"{_cell(noun)} {counts.nouns[noun]}" for noun in sorted(nouns, key=lambda n: (-counts.nouns[n], n)))
        lines.append(f"{_cell(concept)}\t{counts.captions[concept]}\t{verdict}\t{listed}")
    return "\n".join(lines) + "\n"


def curve_csv(counts: Counts, reached: Mapping[int, int], level: str, present: int, knowledge: Knowledge) -> str:
    """Return the effect of each minimum count as CSV for DVC's plots: ``min_count, captions, share, concepts, present``.

    Args:
        reached: greatest minimum count at which a caption stays → captions; -1 for captions without a concept, which always stay.
        present: the configured minimum count.
    """
    total = sum(reached.values())
    rows = []
    for minimum in minimum_counts(present, max(counts.captions.values(), default=1)):
        kept = sum(number for reach, number in reached.items() if reach < 0 or reach >= minimum)
        concept_count = len(set(resolve(counts, level, minimum, knowledge).values()) - {""})
        share = kept / total if total else 0.0
        rows.append((minimum, kept, f"{share:.4f}", concept_count, "yes" if minimum == present else "no"))
    return csv_text(("min_count", "captions", "share", "concepts", "present"), rows)


def minimum_counts(present: int, most: int) -> list[int]:
    """Return 1, 2, 5, 10, 20, 50 ... up to ``most``, and the configured count."""
    counts, power = {present}, 1
    while power <= most:
        counts.update(step * power for step in STEPS if step * power <= most)
        power *= 10
    return sorted(counts)


def _cell(text: str) -> str:
    return " ".join(text.split())


CONCEPTS = "concepts.tsv"
"""Output file that lists kept and dropped concepts with their counts."""
PEOPLE = ("people", "people_without_hypernym")
"""Metrics: people named in the rewritten texts, and those that became only "person"."""
RESOLVED = "concepts.json"
"""Scratch file with the resolved concepts, read by the workers of the later maps."""


def keep_common(stage: Stage, captions: Sequence[ShardRef], entered: int) -> None:
    """Publish the captions without a rare concept, and list the concepts.

    Args:
        stage: a run of hypernymize.
        captions: the rewritten shards.
        entered: number of records of the stage's input.
    """
    level, minimum, knowledge = stage.params.concept_level, stage.params.min_concept_count, Knowledge(load_wordnet())
    counts = _count_concepts(stage, captions, level)
    resolved = resolve(counts, level, minimum, knowledge)
    content = canonical_json({"concepts": resolved, "reaches": reaches(counts, level, knowledge)}).encode()
    publish_bytes(stage.work / RESOLVED, content)
    # The vocabulary may be large, so workers read it from a file and cache keys hold its digest.
    shared = {"sha256": sha256_bytes(content)}
    refs = stage.map(drop_rare, captions, step="concepts", params={"min_concept_count": minimum}, shared=shared)
    reached: Counter[int] = Counter()
    for ref in stage.map(reach_shard, captions, step="reach", params={}, shared=shared, publish=False, conserve=False):
        table = ref.read()
        for reach, number in zip(table["reach"].to_pylist(), table["captions"].to_pylist(), strict=True):
            reached[reach] += number
    stage.write_file(CONCEPTS, concepts_tsv(counts, resolved).encode())
    stage.export("concepts.csv", curve_csv(counts, reached, level, minimum, knowledge).encode())
    rewritten, kept_captions = reached.total(), sum(ref.read(["key"]).num_rows for ref in refs)
    stage.metric("concepts", len(set(resolved.values()) - {""}))
    stage.metric("concepts_dropped", sum(not concept for concept in resolved.values()))
    people = [ref.read() for ref in stage.map(people_shard, captions, step="people", params={}, publish=False, conserve=False)]
    for name in PEOPLE:
        stage.metric(name, sum(sum(table[name].to_pylist()) for table in people))
    stage.metric("funnel.rewriting", rewritten / entered if entered else 0.0)
    stage.metric("funnel.concepts", kept_captions / rewritten if rewritten else 0.0)
    stage.metric("kept", kept_captions)


def _count_concepts(stage: Stage, captions: Sequence[ShardRef], level: str) -> Counts:
    """Return the sum of all shards' counts; one shard's counts are in memory at a time."""
    counts, params = Counts(), {"concept_level": level}
    for ref in stage.map(count_shard, captions, step="count", params=params, publish=False, conserve=False):
        concepts, with_concept, with_noun = (ref.read().column(name).to_pylist() for name in ("concept", "captions", "said"))
        counts.add(
            dict(zip(concepts, with_concept, strict=True)), {noun: n for noun, n in zip(concepts, with_noun, strict=True) if n}
        )
    return counts


def count_shard(table: pa.Table, task: Task) -> ShardOut:
    """Return a shard's counts: ``concept``, ``captions`` with it, and ``said``, the captions that contain it as a noun."""
    counts = count(table.column("types").to_pylist(), task.params["concept_level"], Knowledge(load_wordnet()))
    rows = [{"concept": c, "captions": counts.captions[c], "said": counts.nouns[c]} for c in sorted(counts.captions)]
    schema = pa.schema([("concept", pa.string()), ("captions", pa.int64()), ("said", pa.int64())])
    return ShardOut(pa.Table.from_pylist(rows, schema=schema), ledger_table([]))


def reach_shard(table: pa.Table, task: Task) -> ShardOut:
    """Return how many captions of a shard stay up to which minimum count; -1 for captions without concepts."""
    reaches = _read_resolved(task, "reaches")
    captions = Counter(min((reaches[noun] for noun in nouns), default=-1) for nouns in table.column("types").to_pylist())
    rows = [{"reach": reach, "captions": number} for reach, number in sorted(captions.items())]
    return ShardOut(
        pa.Table.from_pylist(rows, schema=pa.schema([("reach", pa.int64()), ("captions", pa.int64())])), ledger_table([])
    )


def people_shard(table: pa.Table, task: Task) -> ShardOut:
    """Return the :data:`PEOPLE` of a shard as one row."""
    counts = dict(zip(PEOPLE, count_people(table.column("steps").to_pylist()), strict=True))
    return ShardOut(pa.Table.from_pylist([counts], schema=pa.schema([(name, pa.int64()) for name in PEOPLE])), ledger_table([]))


def drop_rare(table: pa.Table, task: Task) -> ShardOut:
    """Replace each caption's nouns by their concepts and drop the caption if one is rare."""
    resolved, threshold = _read_resolved(task, "concepts"), task.params["min_concept_count"]
    rows, ledger = [], []
    for record in table.to_pylist():
        rare = [noun for noun in record["types"] if not resolved[noun]]
        if rare:
            ledger.append(dropped(record["key"], "rare_concept", rare, f">= {threshold} captions", detail=record["caption"]))
        else:
            rows.append(record | {"types": list(dict.fromkeys(resolved[noun] for noun in record["types"]))})
            ledger.append(kept(record["key"], detail="; ".join(step["step"] for step in record["steps"])))
    return ShardOut(pa.Table.from_pylist(rows, schema=table.schema), ledger_table(ledger))


def _read_resolved(task: Task, name: str) -> dict[str, Any]:
    return _load_resolved(str(task.work / RESOLVED), task.shared["sha256"])[name]


@lru_cache(maxsize=1)
def _load_resolved(path: str, sha256: str) -> dict[str, dict[str, Any]]:
    content = Path(path).read_bytes()
    if sha256_bytes(content) != sha256:
        raise HearsightError("was changed after this run wrote it", where=path, hint="run hypernymize again")
    return json.loads(content)
