"""The caption metrics as their formulas read, in plain Python and float64: slow, and written apart from what they check."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence

Words = Sequence[str]


def grams(words: Words, size: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[start : start + size]) for start in range(len(words) - size + 1))


def bleu(candidates: Sequence[Words], references: Sequence[Sequence[Words]]) -> list[float]:
    shared, begun, length, closest = [0] * 4, [0] * 4, 0, 0
    for result, known in zip(candidates, references, strict=True):
        length += len(result)
        closest += sorted((abs(len(reference) - len(result)), len(reference)) for reference in known)[0][1]
        for size in range(1, 5):
            for gram, count in grams(result, size).items():
                begun[size - 1] += count
                shared[size - 1] += min(count, max(grams(reference, size)[gram] for reference in known))
    ratio = (length + 1e-15) / (closest + 1e-9)
    brevity = 1.0 if ratio >= 1 else math.exp(1 - 1 / ratio)
    precisions = [(right + 1e-15) / (tried + 1e-9) for right, tried in zip(shared, begun, strict=True)]
    return [math.prod(precisions[:size]) ** (1 / size) * brevity for size in range(1, 5)]


def common(first: Words, second: Words) -> int:
    table = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for row, one in enumerate(first):
        for column, two in enumerate(second):
            table[row + 1][column + 1] = (
                table[row][column] + 1 if one == two else max(table[row][column + 1], table[row + 1][column])
            )
    return table[-1][-1]


def rouge_l(said: Words, known: Sequence[Words]) -> float:
    said, known = said or [""], [reference or [""] for reference in known]
    precision = max(common(said, reference) / len(said) for reference in known)
    recall = max(common(said, reference) / len(reference) for reference in known)
    return (1 + 1.2**2) * precision * recall / (recall + 1.2**2 * precision) if precision else 0.0


def gaussian(said: Words, reference: Words) -> float:
    return math.exp(-((max(len(said) - 1, 0) - max(len(reference) - 1, 0)) ** 2) / (2 * 6.0**2))


def robust(said: Words, reference: Words) -> float:
    mine, theirs = Counter(said), Counter(reference)
    each = [1 / (1 + (abs(count - theirs[word]) if word in theirs else count - 1)) for word, count in mine.items()]
    repetition = math.prod(each) ** (1 / len(each)) if each else 1.0
    own, other = max(len(said), 1), max(len(reference), 1)
    return repetition**0.8 * math.exp(-((own - other) ** 2) / other**2) ** 0.2


def cider(
    candidates: Sequence[Words], references: Sequence[Sequence[Words]], penalty: Callable[[Words, Words], float], clip: bool
) -> list[float]:
    documents: Counter[tuple[str, ...]] = Counter()
    for known in references:
        documents.update({gram for reference in known for size in range(1, 5) for gram in grams(reference, size)})

    def vector(words: Words, size: int) -> dict[tuple[str, ...], float]:
        return {
            gram: count * (math.log(len(references)) - math.log(max(1, documents[gram])))
            for gram, count in grams(words, size).items()
        }

    scores = []
    for result, known in zip(candidates, references, strict=True):
        total = 0.0
        for reference in known:
            for size in range(1, 5):
                mine, theirs = vector(result, size), vector(reference, size)
                product = math.fsum((min(mine[g], theirs[g]) if clip else mine[g]) * theirs[g] for g in mine if g in theirs)
                norm = math.hypot(*mine.values()) * math.hypot(*theirs.values())
                total += (product / norm if norm else 0.0) * penalty(result, reference)
        scores.append(10 * total / 4 / len(known))
    return scores
