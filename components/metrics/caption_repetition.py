"""How captions repeat: words inside one caption, and captions among themselves. Any language.

Source: #PraCegoVer, section 5.4.2 ("the same word is repeated many times"); distinct-n after Li et al. 2016 (A
Diversity-Promoting Objective Function, section 5.2): different n-grams of all captions over all their n-grams.
Words are those of ``tokens``: lower-cased, without punctuation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from components.metrics.ngrams import ORDER
from components.metrics.tokens import tokenize

SHOWN = 20
"""Captions written most often that are told."""
LOOP = 4
"""Words of the longest stretch that counts as doubled when it comes twice without anything between."""


@dataclass(frozen=True)
class CaptionRepetition:
    """One caption's."""

    words: tuple[str, ...]
    ngrams: tuple[int, ...]
    """n-grams of 1 to 4 words."""
    repeated: tuple[int, ...]
    """Those of them that stood in the caption before."""
    doubled: tuple[tuple[int, int], ...]
    """Stretches of words (first place, place after the last) that say again what stands right before them: "a dog a dog"."""

    @property
    def share(self) -> tuple[float, ...]:
        """Repeated of all n-grams, for 1 to 4 words; 0 where there are none."""
        return tuple(again / number if number else 0.0 for again, number in zip(self.repeated, self.ngrams, strict=True))


@dataclass(frozen=True)
class Repetition:
    """Of a set of captions."""

    items: Sequence[CaptionRepetition]
    repeated: tuple[float, ...]
    """Repeated n-grams inside captions, of all n-grams, for 1 to 4 words; 0 where there are none."""
    doubled: float
    """The share of captions with a doubled stretch."""
    distinct: tuple[float, ...]
    """distinct-1 to distinct-4 over all captions; 0 where there are no n-grams. More captions make it lower."""
    vocabulary: int
    """Different words written."""
    vocabulary_share: float | None
    """Those of them that are in the vocabulary given, of that vocabulary; None where none was given."""
    unique: float
    """Different captions of all (same words = same caption); 0 without captions."""
    novel: float | None
    """Captions that are none of the training captions, of all; None where none were given."""
    common: Sequence[tuple[str, int]]
    """The captions written most often and how often, equally frequent ones in the alphabet's order."""


def measure_caption(tokens: Sequence[str]) -> CaptionRepetition:
    """What repeats inside one caption."""
    grams = _ngrams(tokens)
    total, different = [len(some) for some in grams], [len(set(some)) for some in grams]
    again = tuple(number - once for number, once in zip(total, different, strict=True))
    return CaptionRepetition(tuple(tokens), tuple(total), again, tuple(_doubled(tokens)))


def normalise_caption(caption: str) -> str:
    """A caption by its words alone: captions with the same ones are the same caption."""
    return " ".join(tokenize(caption))


def measure_repetition(
    captions: Sequence[str], *, vocabulary: Collection[str] | None = None, training: Collection[str] | None = None
) -> Repetition:
    """What repeats inside captions and among them.

    Args:
        captions: as written, one an item.
        vocabulary: the words a model could have written.
        training: the captions it learned from, each as :func:`normalise_caption` has it.
    """
    items = [measure_caption(tokenize(caption)) for caption in captions]
    total, again = _sums([item.ngrams for item in items]), _sums([item.repeated for item in items])
    different: Counter[int] = Counter()
    grams = {gram for item in items for some in _ngrams(item.words) for gram in some}
    for gram in grams:
        different[len(gram)] += 1
    words = {gram[0] for gram in grams if len(gram) == 1}
    written = Counter(" ".join(item.words) for item in items)
    known = {word.lower() for word in vocabulary} if vocabulary is not None else set()
    new = sum(number for text, number in written.items() if training is not None and text not in training)
    return Repetition(
        items,
        tuple(_share(one, number) for one, number in zip(again, total, strict=True)),
        _share(sum(bool(item.doubled) for item in items), len(items)),
        tuple(_share(different[size], total[size - 1]) for size in range(1, ORDER + 1)),
        len(words),
        _share(len(words & known), len(known)) if vocabulary is not None else None,
        _share(len(written), len(items)),
        _share(new, len(items)) if training is not None else None,
        sorted(written.items(), key=lambda pair: (-pair[1], pair[0]))[:SHOWN],
    )


def _ngrams(tokens: Sequence[str]) -> list[list[tuple[str, ...]]]:
    """The n-grams of 1 to ORDER tokens, by their size, repeated as often as they occur."""
    return [[tuple(tokens[at : at + size]) for at in range(len(tokens) - size + 1)] for size in range(1, ORDER + 1)]


def _doubled(tokens: Sequence[str]) -> list[tuple[int, int]]:
    words, place = list(tokens), 0
    found: list[tuple[int, int]] = []
    while place < len(words):
        sizes = range(1, min(LOOP, place) + 1)
        size = next((n for n in sizes if words[place - n : place] == words[place : place + n]), 0)
        if size:
            found.append((place, place + size))
        place += max(size, 1)
    return found


def _sums(rows: Sequence[Sequence[int]]) -> list[int]:
    return [sum(row[place] for row in rows) for place in range(ORDER)]


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
