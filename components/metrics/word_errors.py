"""Word and character error rate of a transcript, after removing differences of spelling alone.

The minimum number of substitutions, deletions and insertions that turn the reference into the transcript (Levenshtein), divided
by the reference's length. The rate of several recordings is the sum of their errors divided by the sum of their lengths, not a
mean of rates, so a short one weighs less than a long one; it can exceed 1.

Before, case, punctuation and apostrophes are removed ("Don't stop." and "dont stop" are the same words), hyphens separate words,
and English numbers become words ("3" is "three", "1st" "first", "&" "and"), since recognisers differ in these. Accents stay, as
part of the spelling. Remaining differences count as errors: British and American spelling, words written as one or two, years
read in pairs ("1990" becomes "one thousand nine hundred ninety"), digits in other languages.
"""

from __future__ import annotations

import re
import unicodedata
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from components.language.words import inflector
from components.metrics.bootstrap import bootstrap_interval

_APOSTROPHES = re.compile("['’ʼ´`]")
_FIGURES = re.compile(r"(?<![\w.])(\d+(?:,\d{3})*(?:\.\d+)?)(st|nd|rd|th)?(?!\w|[.,]\d)")
_MOST_DIGITS = 15


def spoken_words(text: str, language: str) -> list[str]:
    """Return the words of ``text`` to compare, in order; empty if nothing in it is spoken.

    Args:
        text: any text.
        language: ISO 639-1; only English numbers become words.
    """
    text = unicodedata.normalize("NFKC", text).casefold()
    if language == "en":
        text = _FIGURES.sub(_in_words, text.replace("&", " and ").replace("%", " percent "))
    text = _APOSTROPHES.sub("", text)
    # Letters, their combining marks, and digits; everything else separates words.
    return "".join(char if unicodedata.category(char)[0] in "LMN" else " " for char in text).split()


def _in_words(match: re.Match[str]) -> str:
    figure = match[1].replace(",", "")
    if len(figure) > _MOST_DIGITS or not figure.isascii():
        return match[0]
    words = str(inflector().number_to_words(figure, andword="", comma=""))
    return f" {inflector().ordinal(words) if match[2] else words} "


EQUAL, SUBSTITUTED, DELETED, INSERTED = "equal", "substituted", "deleted", "inserted"


@dataclass(frozen=True)
class Step:
    """One pair of an alignment."""

    kind: str
    """``equal``, ``substituted``, ``deleted`` or ``inserted``."""
    said: str
    """Word of the reference; empty for an insertion."""
    heard: str
    """Word of the transcript; empty for a deletion."""


def align(reference: Sequence[str], transcript: Sequence[str]) -> list[Step]:
    """Return an alignment with the fewest errors, in order; among several, the one that substitutes earliest from the end.

    Time and memory grow with ``len(reference) * len(transcript)``.
    """
    table = list(_distances(reference, transcript))
    steps: list[Step] = []
    row, column = len(reference), len(transcript)
    while row or column:
        cost = table[row][column]
        same = row > 0 and column > 0 and reference[row - 1] == transcript[column - 1]
        if row and column and cost == table[row - 1][column - 1] + (not same):
            row, column = row - 1, column - 1
            steps.append(Step(EQUAL if same else SUBSTITUTED, reference[row], transcript[column]))
        elif row and cost == table[row - 1][column] + 1:
            row -= 1
            steps.append(Step(DELETED, reference[row], ""))
        else:
            column -= 1
            steps.append(Step(INSERTED, "", transcript[column]))
    return steps[::-1]


def count_errors(reference: Sequence[str], transcript: Sequence[str]) -> int:
    """Return the minimum number of substitutions, deletions and insertions; for strings, of characters."""
    return deque(_distances(reference, transcript), maxlen=1)[0][-1]


def _distances(reference: Sequence[str], transcript: Sequence[str]) -> Iterator[list[int]]:
    """Yield for each start of the reference, the empty one first, its distances to all starts of the transcript."""
    previous = list(range(len(transcript) + 1))
    yield previous
    for row, word in enumerate(reference, start=1):
        current = [row]
        for column, other in enumerate(transcript, start=1):
            current.append(min(previous[column - 1] + (word != other), previous[column] + 1, current[-1] + 1))
        yield current
        previous = current


@dataclass(frozen=True)
class ErrorRate:
    """The rate of several recordings, with a percentile bootstrap interval over the recordings."""

    value: float
    low: float
    high: float


def error_rate(counts: Sequence[tuple[int, int]], *, seed: int, resamples: int, level: float = 0.95) -> ErrorRate | None:
    """Return the rate of recordings with these (errors, length); None if the total length is 0.

    The interval resamples recordings, each with its length.
    """
    total = sum(length for _, length in counts)
    if not total:
        return None
    low, high = bootstrap_interval(counts, _rate, seed=seed, resamples=resamples, level=level)
    return ErrorRate(_rate(counts), low, high)


def _rate(counts: Sequence[tuple[int, int]]) -> float:
    length = sum(length_of_one for _, length_of_one in counts)
    # A resample of recordings without words has no rate.
    return sum(wrong for wrong, _ in counts) / length if length else 0.0
