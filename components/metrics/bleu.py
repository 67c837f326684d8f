"""BLEU-1..4 of a corpus of captions (Papineni et al. 2002), as the COCO caption evaluation counts it.

One candidate and one or more references an item; the effective reference length is the closest one (the shorter of
two equally close); n-gram counts are clipped by their maximum over the references; the precisions get the
evaluation tool's tiny constants instead of smoothing, so a corpus without a match scores almost, not exactly, 0.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from components.metrics.ngrams import ORDER, Ngram, Tokens, ngram_counts

_TINY, _SMALL = 1e-15, 1e-9


def bleu(candidates: Sequence[Tokens], references: Sequence[Sequence[Tokens]]) -> list[float]:
    """Corpus BLEU-1, -2, -3 and -4, each in 0..1.

    Args:
        candidates: one tokenised caption an item.
        references: its tokenised references, at least one an item.

    Raises:
        ValueError: the two differ in length, or an item has no reference.
    """
    if len(candidates) != len(references) or not all(references):
        raise ValueError("one candidate and at least one reference an item are needed")
    guessed, correct = [0] * ORDER, [0] * ORDER
    length = effective = 0
    for candidate, known in zip(candidates, references, strict=True):
        length += len(candidate)
        effective += min((abs(len(reference) - len(candidate)), len(reference)) for reference in known)[1]
        ceiling: Counter[Ngram] = Counter()
        for reference in known:
            ceiling |= ngram_counts(reference)
        for gram, count in ngram_counts(candidate).items():
            correct[len(gram) - 1] += min(count, ceiling[gram])
        for size in range(ORDER):
            guessed[size] += max(0, len(candidate) - size)
    ratio = (length + _TINY) / (effective + _SMALL)
    brevity = math.exp(1 - 1 / ratio) if ratio < 1 else 1.0
    product, scores = 1.0, []
    for size in range(ORDER):
        product *= (correct[size] + _TINY) / (guessed[size] + _SMALL)
        scores.append(product ** (1 / (size + 1)) * brevity)
    return scores
