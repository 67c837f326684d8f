"""Repetition inside captions and among them. Any language.

Source: PCV §5.4.2 ("the same word is repeated many times"); distinct-n as in Li et al. 2016 (A Diversity-Promoting Objective
Function, section 5.2): distinct n-grams of all captions divided by all their n-grams. Words are those of ``tokens``: lower-cased,
without punctuation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from components.metrics.ngrams import ORDER
from components.metrics.tokens import tokenize

SHOWN = 20
"""Number of most frequent captions listed."""
LOOP = 4
"""Maximum length in words of a sequence that counts as doubled when it is repeated immediately."""


@dataclass(frozen=True)
class CaptionRepetition:
    """Repetition in one caption."""

    words: tuple[str, ...]
    ngrams: tuple[int, ...]
    """Numbers of n-grams of 1 to 4 words."""
    repeated: tuple[int, ...]
    """Numbers of these that occur earlier in the caption."""
    doubled: tuple[tuple[int, int], ...]
    """Ranges of words (first index, index after the last) that repeat the words immediately before: "a dog a dog"."""

    @property
    def share(self) -> tuple[float, ...]:
        """Repeated n-grams divided by all, for 1 to 4 words; 0 without n-grams."""
        return tuple(again / number if number else 0.0 for again, number in zip(self.repeated, self.ngrams, strict=True))


@dataclass(frozen=True)
class Repetition:
    """Repetition in a set of captions."""

    items: Sequence[CaptionRepetition]
    repeated: tuple[float, ...]
    """Repeated n-grams inside captions divided by all n-grams, for 1 to 4 words; 0 without n-grams."""
    doubled: float
    """Share of captions with a doubled sequence."""
    distinct: tuple[float, ...]
    """distinct-1 to distinct-4 over all captions; 0 without n-grams. It decreases with the number of captions."""
    vocabulary: int
    """Number of distinct words."""
    vocabulary_share: float | None
    """Share of the given vocabulary that is used; None without one."""
    unique: float
    """Distinct captions divided by all (same words = same caption); 0 without captions."""
    novel: float | None
    """Share of captions that are not training captions; None without training captions."""
    common: Sequence[tuple[str, int]]
    """The most frequent captions with their counts, ties in alphabetical order."""


def measure_caption(tokens: Sequence[str]) -> CaptionRepetition:
    """Return the repetition inside one caption."""
    grams = _ngrams(tokens)
    total, different = [len(ngrams) for ngrams in grams], [len(set(ngrams)) for ngrams in grams]
    repeated = tuple(number - once for number, once in zip(total, different, strict=True))
    return CaptionRepetition(tuple(tokens), tuple(total), repeated, tuple(_doubled(tokens)))


def join_words(caption: str) -> str:
    """Return a caption's words alone, joined; captions with equal words are equal."""
    return " ".join(tokenize(caption))


def measure_repetition(
    captions: Sequence[str], *, vocabulary: Collection[str] | None = None, training: Collection[str] | None = None
) -> Repetition:
    """Return the repetition inside captions and among them.

    Args:
        captions: as written, one an item.
        vocabulary: the model's vocabulary.
        training: its training captions, each normalised by :func:`join_words`.
    """
    items = [measure_caption(tokenize(caption)) for caption in captions]
    total, repeated = _sums([item.ngrams for item in items]), _sums([item.repeated for item in items])
    different: Counter[int] = Counter()
    grams = {gram for item in items for ngrams in _ngrams(item.words) for gram in ngrams}
    for gram in grams:
        different[len(gram)] += 1
    words = {gram[0] for gram in grams if len(gram) == 1}
    written = Counter(" ".join(item.words) for item in items)
    known = {word.lower() for word in vocabulary} if vocabulary is not None else set()
    new = sum(number for text, number in written.items() if training is not None and text not in training)
    return Repetition(
        items,
        tuple(_share(part, number) for part, number in zip(repeated, total, strict=True)),
        _share(sum(bool(item.doubled) for item in items), len(items)),
        tuple(_share(different[size], total[size - 1]) for size in range(1, ORDER + 1)),
        len(words),
        _share(len(words & known), len(known)) if vocabulary is not None else None,
        _share(len(written), len(items)),
        _share(new, len(items)) if training is not None else None,
        sorted(written.items(), key=lambda pair: (-pair[1], pair[0]))[:SHOWN],
    )


def _ngrams(tokens: Sequence[str]) -> list[list[tuple[str, ...]]]:
    """Return the n-grams of 1 to ORDER tokens by size, with repetitions."""
    return [[tuple(tokens[at : at + size]) for at in range(len(tokens) - size + 1)] for size in range(1, ORDER + 1)]


def _doubled(tokens: Sequence[str]) -> list[tuple[int, int]]:
    """Return the ranges of words that repeat the words immediately before."""
    words, start = list(tokens), 0
    ranges: list[tuple[int, int]] = []
    while start < len(words):
        sizes = range(1, min(LOOP, start) + 1)
        size = next((n for n in sizes if words[start - n : start] == words[start : start + n]), 0)
        if size:
            ranges.append((start, start + size))
        start += max(size, 1)
    return ranges


def _sums(rows: Sequence[Sequence[int]]) -> list[int]:
    return [sum(row[column] for row in rows) for column in range(ORDER)]


def _share(part: int, total: int) -> float:
    return part / total if total else 0.0
