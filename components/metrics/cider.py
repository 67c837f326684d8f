"""CIDEr (Vedantam et al. 2015), in the form everybody reports and in its plain form.

The tool behind the published figures (coco-caption, pycocoevalcap) computes, under the name CIDEr, tf-idf cosines
with candidate counts clipped to the reference's and a Gaussian penalty on the difference in length (sigma 6): that
is :func:`cider`, equal to it. ``plain=True`` leaves clip and penalty out: the first formula of the paper. Scores are
multiplied by 10 as there: a perfect match of rare n-grams is 10.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from components.metrics.ngrams import ORDER, Ngram, Tokens, ngram_counts

SIGMA = 6.0


@dataclass(frozen=True)
class DocumentFrequency:
    """In how many items' references each n-gram occurs, and of how many items."""

    items: int
    counts: Mapping[Ngram, int]

    @staticmethod
    def of(references: Iterable[Sequence[Tokens]]) -> DocumentFrequency:
        """Counted over the items' references (each n-gram once an item)."""
        counts: Counter[Ngram] = Counter()
        items = 0
        for known in references:
            items += 1
            counts.update({gram for reference in known for gram in ngram_counts(reference)})
        return DocumentFrequency(items, counts)


@dataclass(frozen=True)
class Vector:
    """A caption's tf-idf weights by n-gram length, their norms, and the penalised length (its bigram count)."""

    weights: tuple[Mapping[Ngram, float], ...]
    norms: tuple[float, ...]
    length: int


def vector(tokens: Tokens, frequency: DocumentFrequency) -> Vector:
    """The tf-idf vector of one caption (term counts unnormalised, as in the evaluation tool)."""
    weights: tuple[dict[Ngram, float], ...] = tuple({} for _ in range(ORDER))
    squares, length = [0.0] * ORDER, 0
    log_items = math.log(float(frequency.items)) if frequency.items else 0.0
    for gram, count in ngram_counts(tokens).items():
        order = len(gram) - 1
        weight = float(count) * (log_items - math.log(max(1.0, frequency.counts.get(gram, 0))))
        weights[order][gram] = weight
        squares[order] += weight**2
        length += count if order == 1 else 0
    return Vector(weights, tuple(math.sqrt(square) for square in squares), length)


def similarity(candidate: Vector, references: Sequence[Vector], *, plain: bool = False) -> float:
    """CIDEr of one item, 0..10 (the mean over its references and over n-gram lengths, times 10)."""
    total = 0.0
    for reference in references:
        penalty = 1.0 if plain else math.exp(-((candidate.length - reference.length) ** 2) / (2 * SIGMA**2))
        for order in range(ORDER):
            known = reference.weights[order]
            product = 0.0
            for gram, weight in candidate.weights[order].items():
                other = known.get(gram, 0.0)
                product += (weight if plain else min(weight, other)) * other
            norm = candidate.norms[order] * reference.norms[order]
            total += (product / norm if norm else product) * penalty
    return total / ORDER / len(references) * 10.0


def cider(candidates: Sequence[Tokens], references: Sequence[Sequence[Tokens]], *, plain: bool = False) -> list[float]:
    """CIDEr of each item; the corpus score is their mean.

    The document frequencies are those of ``references`` themselves, so scores of different test sets (or of a part
    of one) are on different scales.

    Raises:
        ValueError: the two differ in length, or an item has no reference.
    """
    if len(candidates) != len(references) or not all(references):
        raise ValueError("one candidate and at least one reference an item are needed")
    frequency = DocumentFrequency.of(references)
    return [
        similarity(vector(candidate, frequency), [vector(reference, frequency) for reference in known], plain=plain)
        for candidate, known in zip(candidates, references, strict=True)
    ]


def best_constant(references: Sequence[Sequence[Tokens]], *, candidates: int) -> tuple[Tokens, float]:
    """The caption that scores best when said of every item: the bar a captioner has to clear.

    Args:
        references: the training references by item; the candidates are the captions among them.
        candidates: how many to try at most, the most frequent first (equally frequent: in alphabetical order).

    Returns:
        The caption's tokens and its mean CIDEr over ``references`` (the first of equals in that order).
    """
    frequency = DocumentFrequency.of(references)
    vectors = [[vector(reference, frequency) for reference in known] for known in references]
    seen = Counter(tuple(reference) for known in references for reference in known)
    tries = sorted(seen, key=lambda caption: (-seen[caption], caption))[:candidates]
    best: tuple[Tokens, float] = ((), -1.0)
    for caption in tries:
        said = vector(caption, frequency)
        score = math.fsum(similarity(said, known) for known in vectors) / len(vectors)
        if score > best[1]:
            best = (caption, score)
    return best
