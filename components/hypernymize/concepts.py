"""Concepts: what a caption's nouns resolve to, and which of them are common enough (C6).

The paper clusters resolved entities and keeps a caption when all its types are mentioned more than 100 times in some
15 million captions. In a set a ten-thousandth of that size hardly a noun recurs, so the sample may count by ``kind``:
a noun that is itself too rare resolves to its nearest hypernym that enough captions speak of ("zebu" → "bovine"),
specific ones only. ``noun`` is the paper's reading: a noun stands for itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from components.providers.knowledge import Knowledge


def resolve(captions: Sequence[Sequence[str]], level: str, least: int, knowledge: Knowledge) -> dict[str, str]:
    """Each noun's concept, or "" where even the widest kind allowed has fewer than ``least`` captions.

    Args:
        captions: the nouns of every caption.
        level: ``noun`` or ``kind``.
        least: captions that must speak of a concept.
        knowledge: gives a noun's kinds, nearest first.
    """
    nouns = sorted({noun for caption in captions for noun in caption})
    chains: Mapping[str, Sequence[str]] = {noun: (noun, *(knowledge.kinds(noun) if level == "kind" else ())) for noun in nouns}
    counts: Counter[str] = Counter()
    for caption in captions:
        counts.update({concept for noun in caption for concept in chains[noun]})
    return {noun: next((concept for concept in chains[noun] if counts[concept] >= least), "") for noun in nouns}
