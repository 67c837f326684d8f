"""Word and character error rate: how far what was heard is from what was said.

The least number of substitutions, deletions and insertions that turn one into the other (Levenshtein), over the length of what
was said. A rate of several recordings is the sum of their errors over the sum of their lengths, not a mean of rates, so a short
one does not weigh as much as a long one; it can exceed 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from components.metrics.bootstrap import bootstrap_interval

EQUAL, SUBSTITUTED, DELETED, INSERTED = "equal", "substituted", "deleted", "inserted"


@dataclass(frozen=True)
class Step:
    """One pair of an alignment."""

    kind: str
    """``equal``, ``substituted``, ``deleted`` or ``inserted``."""
    said: str
    """Empty where something was inserted."""
    heard: str
    """Empty where something was deleted."""


def align(said: Sequence[str], heard: Sequence[str]) -> list[Step]:
    """An alignment with the fewest errors, in order; of several, the one that substitutes earliest from the end.

    Time and memory grow with ``len(said) * len(heard)``.
    """
    table = [list(range(len(heard) + 1))]
    for row, word in enumerate(said, start=1):
        before, now = table[-1], [row]
        for column, other in enumerate(heard, start=1):
            now.append(min(before[column - 1] + (word != other), before[column] + 1, now[-1] + 1))
        table.append(now)
    steps: list[Step] = []
    row, column = len(said), len(heard)
    while row or column:
        here = table[row][column]
        same = row > 0 and column > 0 and said[row - 1] == heard[column - 1]
        if row and column and here == table[row - 1][column - 1] + (not same):
            row, column = row - 1, column - 1
            steps.append(Step(EQUAL if same else SUBSTITUTED, said[row], heard[column]))
        elif row and here == table[row - 1][column] + 1:
            row -= 1
            steps.append(Step(DELETED, said[row], ""))
        else:
            column -= 1
            steps.append(Step(INSERTED, "", heard[column]))
    return steps[::-1]


def count_errors(said: Sequence[str], heard: Sequence[str]) -> int:
    """The least number of substitutions, deletions and insertions; of strings, over characters."""
    before = list(range(len(heard) + 1))
    for row, word in enumerate(said, start=1):
        now = [row]
        for column, other in enumerate(heard, start=1):
            now.append(min(before[column - 1] + (word != other), before[column] + 1, now[-1] + 1))
        before = now
    return before[-1]


@dataclass(frozen=True)
class ErrorRate:
    """The rate of several recordings, with a percentile bootstrap interval over the recordings."""

    value: float
    low: float
    high: float


def error_rate(counts: Sequence[tuple[int, int]], *, seed: int, resamples: int, level: float = 0.95) -> ErrorRate | None:
    """The rate of recordings with these (errors, length); None when nothing was said in any.

    The interval resamples recordings, each with its length: it tells how far another sample of this size might lie.
    """
    said = sum(length for _, length in counts)
    if not said:
        return None
    low, high = bootstrap_interval(counts, _rate, seed=seed, resamples=resamples, level=level)
    return ErrorRate(_rate(counts), low, high)


def _rate(counts: Sequence[tuple[int, int]]) -> float:
    length = sum(each for _, each in counts)
    # A draw of nothing but wordless recordings says nothing of a rate.
    return sum(wrong for wrong, _ in counts) / length if length else 0.0
