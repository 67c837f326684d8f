"""N-grams as whole numbers: every distinct n-gram of a set of captions gets the next number, so that counting is sorting.

A word's number is its place of first occurrence; an n-gram's code is (number of its first n - 1 words) × (words) + (number of its
last word), and its number the rank of that code among those that occur. So two n-grams share a number exactly when they are
equal: there is no hashing and no collision, and no code overflows 64 bits, being below (tokens)².
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

ORDER = 4
"""The longest n-gram counted by BLEU and CIDEr."""

Tokens = Sequence[Hashable]
"""A tokenised caption: words, or the numbers a network writes for them."""
Ngram = tuple[Hashable, ...]
Ints = NDArray[np.int64]
Counts = NDArray[np.integer[Any]]
Floats = NDArray[np.float64]
Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Numbering:
    """The numbers of the distinct n-grams of some captions, those of one word first, then of two, and so on."""

    words: dict[Hashable, int]
    codes: tuple[Ints, ...]
    """For n of 2 and more: the sorted codes; an n-gram's place here is its number among the n-grams of that length."""

    @cached_property
    def offsets(self) -> Ints:
        """The first number of each length, and after the last the number of n-grams."""
        return np.cumsum([0, len(self.words), *map(len, self.codes)])

    @property
    def order(self) -> int:
        """The longest n-gram's words."""
        return len(self.codes) + 1

    @property
    def size(self) -> int:
        """Distinct n-grams."""
        return int(self.offsets[-1])

    @cached_property
    def orders(self) -> NDArray[np.int8]:
        """Of each number, the n-gram's length less one."""
        return np.repeat(np.arange(len(self.offsets) - 1, dtype=np.int8), np.diff(self.offsets))

    def find(self, other: Numbering) -> Ints:
        """For each n-gram of ``other``, in its order: the number here, or -1."""
        words = np.array([self.words.get(word, -1) for word in other.words], dtype=np.int64)
        found, local = [words], words
        for order, codes in enumerate(other.codes):
            prefix, last = np.divmod(codes, len(other.words))
            prefix, last = local[prefix], words[last]
            wanted = np.where((prefix < 0) | (last < 0), -1, prefix * len(self.words) + last)
            mine = self.codes[order]
            local = np.full(len(wanted), -1, np.int64)
            if len(mine):
                place = np.minimum(np.searchsorted(mine, wanted), len(mine) - 1)
                local = np.where(mine[place] == wanted, place, -1)
            found.append(np.where(local < 0, -1, local + self.offsets[order + 1]))
        return np.concatenate(found)


@dataclass(frozen=True, eq=False)
class NumberedCaptions:
    """Captions, one after another, with the n-gram that begins at each place."""

    numbering: Numbering
    tokens: Ints
    """Tokens of all captions in order, as numbers of words."""
    lengths: Ints
    """Tokens a caption."""
    places: tuple[Places, ...]
    """For each length n: the places in ``tokens``, increasing, at which an n-gram begins."""
    grams: tuple[Ints, ...]
    """And its number."""

    @cached_property
    def starts(self) -> Ints:
        """Where each caption begins in ``tokens``; after the last, where they end."""
        return np.concatenate([[0], np.cumsum(self.lengths)])

    @cached_property
    def owners(self) -> Ints:
        """The caption of each token."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)


def number_ngrams(captions: Sequence[Tokens], order: int = ORDER) -> NumberedCaptions:
    """The captions' n-grams of 1 to ``order`` words.

    Raises:
        ValueError: a caption is a string: its letters would be counted as words.
    """
    if any(isinstance(caption, str) for caption in captions):
        raise ValueError("a caption is a string, not a list of tokens: tokenise it first")
    lengths = np.fromiter(map(len, captions), np.int64, len(captions))
    total = int(lengths.sum())
    flat = list(chain.from_iterable(captions))
    words = {word: number for number, word in enumerate(dict.fromkeys(flat))}
    tokens = np.fromiter(map(words.__getitem__, flat), np.int64, total)
    left = np.repeat(np.cumsum(lengths), lengths) - np.arange(total)  # tokens from a place to its caption's end
    place: Places = np.arange(total)
    local, offset = tokens, 0
    places, grams = [place], [tokens]
    codes: list[Ints] = []
    for size in range(1, order):
        long_enough = left[place] > size
        place, local = place[long_enough], local[long_enough]
        known, local = rank_values(local * len(words) + tokens[place + size])
        offset += len(codes[-1]) if codes else len(words)
        codes.append(known)
        places.append(place)
        grams.append(local + offset)
    return NumberedCaptions(Numbering(words, tuple(codes)), tokens, lengths, tuple(places), tuple(grams))


def rank_values(values: Ints) -> tuple[Ints, Ints]:
    """The distinct values in order, and the place of each value among them.

    numpy's own ``unique`` hashes, which is slower than its sorting of 64-bit numbers (vector instructions).
    """
    if not len(values):
        return values, values
    order = np.argsort(values)
    ranked = values[order]
    new = np.concatenate([[True], ranked[1:] != ranked[:-1]])
    places = np.empty(len(values), np.int64)
    places[order] = np.cumsum(new) - 1
    return ranked[new], places


def count_values(values: Ints) -> tuple[Ints, Ints]:
    """The distinct values in order, and how often each occurs."""
    if not len(values):
        return values, values
    ranked = np.sort(values)
    firsts = np.flatnonzero(np.concatenate([[True], ranked[1:] != ranked[:-1]]))
    return ranked[firsts], np.diff(firsts, append=len(ranked))
