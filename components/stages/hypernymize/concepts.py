"""Concepts: the nouns of a caption, or their hypernyms, and which of them are common enough.

CC clusters resolved entities and keeps a caption when each of its types occurs more than 100 times in some 15 million captions.
In a set ten thousand times smaller few nouns recur, so a sample may count by ``kind``: a rare noun resolves to its nearest
specific hypernym that is common enough ("zebu" → "bovine"). ``noun`` is the paper's reading: a noun is its own concept.

Counts are computed per shard and added, so memory grows with the vocabulary, not with the captions, and counts of unchanged
shards come from the cache.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from components.core.csv_text import csv_text
from components.knowledge.cascade import Knowledge

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
