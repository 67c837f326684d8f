"""Counting n-grams: what BLEU and CIDEr are made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

Ngram = tuple[str, ...]
Tokens = Sequence[str]
ORDER = 4
"""The longest n-gram counted by BLEU and CIDEr."""


def ngram_counts(tokens: Tokens, order: int = ORDER) -> Counter[Ngram]:
    """How often each n-gram of 1 to ``order`` tokens occurs, in order of first occurrence."""
    counts: Counter[Ngram] = Counter()
    for size in range(1, order + 1):
        for start in range(len(tokens) - size + 1):
            counts[tuple(tokens[start : start + size])] += 1
    return counts
