"""N-grams as integers: every distinct n-gram of a set of captions gets a number, so that counting is sorting.

A word's number is its rank of first occurrence. An n-gram's code is (number of its first n - 1 words) × (words) + (number of its
last word), and its number is the rank of that code among those that occur. Two n-grams share a number exactly if they are equal:
there is no hashing and no collision, and no code overflows 64 bits, since it is below (tokens)².
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
"""Maximum length of n-grams in BLEU and CIDEr."""

Tokens = Sequence[Hashable]
"""A tokenised caption: words, or a network's word ids."""
Ints = NDArray[np.int64]
Counts = NDArray[np.integer[Any]]
Floats = NDArray[np.float64]
Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Numbering:
    """The numbers of the distinct n-grams of a set of captions, in order of length."""

    words: dict[Hashable, int]
    codes: tuple[Ints, ...]
    """For n of 2 and more: the sorted codes; an n-gram's index here is its number among the n-grams of that length."""

    @cached_property
    def offsets(self) -> Ints:
        """First number of each length; at the end the number of n-grams."""
        return np.cumsum([0, len(self.words), *map(len, self.codes)])

    @property
    def order(self) -> int:
        """Length of the longest n-grams."""
        return len(self.codes) + 1

    @property
    def size(self) -> int:
        """Number of distinct n-grams."""
        return int(self.offsets[-1])

    @cached_property
    def orders(self) -> NDArray[np.int8]:
        """Of each number, the n-gram's length minus one."""
        return np.repeat(np.arange(len(self.offsets) - 1, dtype=np.int8), np.diff(self.offsets))

    def find(self, other: Numbering) -> Ints:
        """Return for each n-gram of ``other``, in its order, the number here, or -1."""
        words = np.array([self.words.get(word, -1) for word in other.words], dtype=np.int64)
        numbers, local = [words], words
        for order, codes in enumerate(other.codes):
            prefix, last = np.divmod(codes, len(other.words))
            prefix, last = local[prefix], words[last]
            searched = np.where((prefix < 0) | (last < 0), -1, prefix * len(self.words) + last)
            own_codes = self.codes[order]
            local = np.full(len(searched), -1, np.int64)
            if len(own_codes):
                index = np.minimum(np.searchsorted(own_codes, searched), len(own_codes) - 1)
                local = np.where(own_codes[index] == searched, index, -1)
            numbers.append(np.where(local < 0, -1, local + self.offsets[order + 1]))
        return np.concatenate(numbers)


@dataclass(frozen=True, eq=False)
class NumberedCaptions:
    """Concatenated captions, with the n-gram at each position."""

    numbering: Numbering
    tokens: Ints
    """Tokens of all captions in order, as word numbers."""
    lengths: Ints
    """Tokens a caption."""
    places: tuple[Places, ...]
    """For each length n: the positions in ``tokens``, increasing, at which an n-gram starts."""
    grams: tuple[Ints, ...]
    """The numbers of these n-grams."""

    @cached_property
    def starts(self) -> Ints:
        """Index of each caption's start in ``tokens``; at the end the number of tokens."""
        return np.concatenate([[0], np.cumsum(self.lengths)])

    @cached_property
    def owners(self) -> Ints:
        """Caption of each token."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)


def number_ngrams(captions: Sequence[Tokens], order: int = ORDER) -> NumberedCaptions:
    """Number the captions' n-grams of 1 to ``order`` words.

    Raises:
        ValueError: a caption is a string, whose letters would be counted as words.
    """
    if any(isinstance(caption, str) for caption in captions):
        raise ValueError("a caption is a string, not a list of tokens: tokenise it first")
    lengths = np.fromiter(map(len, captions), np.int64, len(captions))
    total = int(lengths.sum())
    flat = list(chain.from_iterable(captions))
    words = {word: number for number, word in enumerate(dict.fromkeys(flat))}
    tokens = np.fromiter(map(words.__getitem__, flat), np.int64, total)
    left = np.repeat(np.cumsum(lengths), lengths) - np.arange(total)  # tokens from a position to its caption's end
    position: Places = np.arange(total)
    local, offset = tokens, 0
    places, grams = [position], [tokens]
    codes: list[Ints] = []
    for size in range(1, order):
        long_enough = left[position] > size
        position, local = position[long_enough], local[long_enough]
        known, local = np.unique(local * len(words) + tokens[position + size], return_inverse=True)
        offset += len(codes[-1]) if codes else len(words)
        codes.append(known)
        places.append(position)
        grams.append(local + offset)
    return NumberedCaptions(Numbering(words, tuple(codes)), tokens, lengths, tuple(places), tuple(grams))


def run_starts(ranked: Counts) -> Ints:
    """Return the index at which each run of equal values starts."""
    return np.flatnonzero(np.concatenate([[True], ranked[1:] != ranked[:-1]])) if len(ranked) else np.zeros(0, np.int64)
