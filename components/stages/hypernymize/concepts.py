"""Concepts: what a caption's nouns resolve to, and which of them are common enough (C6).

The paper clusters resolved entities and keeps a caption when all its types are mentioned more than 100 times in some
15 million captions. In a set a ten-thousandth of that size hardly a noun recurs, so the sample may count by ``kind``:
a noun that is itself too rare resolves to its nearest hypernym that enough captions speak of ("zebu" → "bovine"),
specific ones only. ``noun`` is the paper's reading: a noun stands for itself.

Counts are made shard by shard and added, so memory grows with the vocabulary, not with the captions, and a shard that
was counted before is not counted again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from components.knowledge.cascade import Knowledge

STEPS = (1, 2, 5)
"""The minimum counts of the curve: these times the powers of ten."""


@dataclass
class Counts:
    """In how many captions each concept is spoken of, and each noun said."""

    captions: Counter[str] = field(default_factory=Counter)
    """concept (a noun or a kind) → captions with a noun that is it, or is a kind of it."""
    said: Counter[str] = field(default_factory=Counter)
    """noun → captions that say this very noun."""

    def add(self, captions: Mapping[str, int], said: Mapping[str, int]) -> None:
        """Add what was counted elsewhere."""
        self.captions.update(captions)
        self.said.update(said)


def chain_of(noun: str, level: str, knowledge: Knowledge) -> tuple[str, ...]:
    """What a noun may be counted as, nearest first: itself, then (``level`` kind) its specific hypernyms."""
    return (noun, *(knowledge.kinds(noun) if level == "kind" else ()))


def count(captions: Iterable[Sequence[str]], level: str, knowledge: Knowledge) -> Counts:
    """Count the nouns of each caption; one that is said twice in a caption counts once.

    Args:
        captions: the nouns of every caption.
        level: ``noun`` or ``kind``.
        knowledge: gives a noun's kinds, nearest first.
    """
    counts = Counts()
    for nouns in captions:
        counts.captions.update({concept for noun in nouns for concept in chain_of(noun, level, knowledge)})
        counts.said.update(set(nouns))
    return counts


def resolve(counts: Counts, level: str, least: int, knowledge: Knowledge) -> dict[str, str]:
    """Each noun's concept, or "" where even the widest kind allowed has fewer than ``least`` captions."""
    found = counts.captions
    return {
        noun: next((concept for concept in chain_of(noun, level, knowledge) if found[concept] >= least), "")
        for noun in sorted(counts.said)
    }


def reaches(counts: Counts, level: str, knowledge: Knowledge) -> dict[str, int]:
    """The greatest minimum count at which each noun still has a concept."""
    return {noun: max(counts.captions[concept] for concept in chain_of(noun, level, knowledge)) for noun in sorted(counts.said)}


def concepts_tsv(counts: Counts, resolved: Mapping[str, str]) -> str:
    """Kept concepts, then dropped nouns, most frequent first: concept, captions, verdict, members.

    ``captions`` is what was held to the minimum count. ``members`` are the other nouns that resolve to a concept, each
    with the captions that say it.
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
        listed = "; ".join(f"{_cell(noun)} {counts.said[noun]}" for noun in sorted(nouns, key=lambda n: (-counts.said[n], n)))
        lines.append(f"{_cell(concept)}\t{counts.captions[concept]}\t{verdict}\t{listed}")
    return "\n".join(lines) + "\n"


def curve_csv(counts: Counts, reached: Mapping[int, int], level: str, present: int, knowledge: Knowledge) -> str:
    """What each minimum count would leave: ``min_count, captions, share, concepts, present``, for DVC's plots.

    Args:
        reached: captions by the greatest minimum count at which they stay; those without a concept, which always stay, at -1.
    """
    total = sum(reached.values())
    lines = ["min_count,captions,share,concepts,present"]
    for least in minimum_counts(present, max(counts.captions.values(), default=1)):
        stay = sum(number for reach, number in reached.items() if reach < 0 or reach >= least)
        kinds = len(set(resolve(counts, level, least, knowledge).values()) - {""})
        share = stay / total if total else 0.0
        lines.append(f"{least},{stay},{share:.4f},{kinds},{'yes' if least == present else 'no'}")
    return "\n".join(lines) + "\n"


def minimum_counts(present: int, most: int) -> list[int]:
    """1, 2, 5, 10, 20, 50 ... up to ``most``, and the present one."""
    found, power = {present}, 1
    while power <= most:
        found.update(step * power for step in STEPS if step * power <= most)
        power *= 10
    return sorted(found)


def _cell(text: str) -> str:
    return " ".join(text.split())
