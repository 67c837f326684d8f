"""ROUGE-L (Lin 2004) with beta 1.2, precision and recall each the best over the references, as in COCO's evaluation."""

from __future__ import annotations

from collections.abc import Sequence

from components.metrics.ngrams import Tokens

BETA = 1.2


def rouge_l(candidates: Sequence[Tokens], references: Sequence[Sequence[Tokens]]) -> list[float]:
    """The score of each item in 0..1; an empty candidate scores 0."""
    return [_item(candidate, known) for candidate, known in zip(candidates, references, strict=True)]


def _item(candidate: Tokens, references: Sequence[Tokens]) -> float:
    if not candidate:
        return 0.0
    common = [(_longest_common(candidate, reference), len(reference)) for reference in references]
    precision = max(shared / len(candidate) for shared, _ in common)
    recall = max(shared / length if length else 0.0 for shared, length in common)
    if precision == 0 or recall == 0:
        return 0.0
    return (1 + BETA**2) * precision * recall / (recall + BETA**2 * precision)


def _longest_common(first: Tokens, second: Tokens) -> int:
    """The length of the longest common subsequence."""
    row = [0] * (len(second) + 1)
    for token in first:
        diagonal = 0
        for index, other in enumerate(second, start=1):
            above = row[index]
            row[index] = diagonal + 1 if token == other else max(above, row[index - 1])
            diagonal = above
    return row[-1]
