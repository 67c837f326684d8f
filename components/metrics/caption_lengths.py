"""Statistics of captions (CC, table 3), and their lengths compared with their references. Any language.

Words are those of ``tokens``: lower-cased, without punctuation; the standard deviation is the population's. Memory grows with the
vocabulary, not with the number of captions. Comparison: mean, deviation, histogram, and the difference of each item (PCV §5.4.1:
captions of a model rewarded by CIDEr-D are shorter than their references). Histograms are data for a page to draw.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from components.metrics.tokens import tokenize


@dataclass
class CaptionStatistics:
    """Running statistics of the captions added so far."""

    vocabulary: set[str] = field(default_factory=set)
    lengths: Counter[int] = field(default_factory=Counter)
    """Tokens a caption → number of captions."""

    def add(self, caption: str) -> None:
        """Add one caption."""
        tokens = tokenize(caption)
        self.vocabulary.update(tokens)
        self.lengths[len(tokens)] += 1

    @property
    def examples(self) -> int:
        """Number of captions."""
        return self.lengths.total()

    @property
    def unique(self) -> int:
        """Number of distinct tokens."""
        return len(self.vocabulary)

    @property
    def mean(self) -> float:
        """Tokens a caption; 0 without captions."""
        return sum(length * number for length, number in self.lengths.items()) / self.examples if self.examples else 0.0

    @property
    def deviation(self) -> float:
        """Population standard deviation of the tokens a caption; 0 without captions."""
        mean = self.mean
        squares = sum(number * (length - mean) ** 2 for length, number in sorted(self.lengths.items()))
        return math.sqrt(squares / self.examples) if self.examples else 0.0

    @property
    def median(self) -> float:
        """Median of the tokens a caption (the mean of the middle two); 0 without captions."""
        if not self.examples:
            return 0.0
        return (self._at((self.examples - 1) // 2) + self._at(self.examples // 2)) / 2

    def _at(self, position: int) -> int:
        for length in sorted(self.lengths):
            position -= self.lengths[length]
            if position < 0:
                return length
        raise IndexError(position)


@dataclass(frozen=True)
class Lengths:
    """The lengths of a set of captions, in words."""

    words: Sequence[int]
    """Words of each caption."""

    @property
    def mean(self) -> float:
        """Words a caption; 0 without captions."""
        return sum(self.words) / len(self.words) if self.words else 0.0

    @property
    def deviation(self) -> float:
        """Population standard deviation; 0 without captions."""
        mean = self.mean
        return math.sqrt(math.fsum((n - mean) ** 2 for n in self.words) / len(self.words)) if self.words else 0.0


@dataclass(frozen=True)
class Histogram:
    """Shares of captions by length, with the same bins for candidates and references."""

    edges: Sequence[int]
    """The first length of each bin, and one past the last."""
    candidates: Sequence[float]
    """The share of captions in each bin, summing to 1; all 0 without captions."""
    references: Sequence[float]


@dataclass(frozen=True)
class LengthComparison:
    """Lengths of candidates and references."""

    candidates: Lengths
    references: Lengths
    """Of all references, with repetitions."""
    differences: Sequence[float]
    """Of each item: the candidate's words minus the mean of its references'."""

    @property
    def ratio(self) -> float | None:
        """The candidates' mean length divided by the references'; None if the references have no words."""
        return self.candidates.mean / self.references.mean if self.references.mean else None

    @property
    def mean_difference(self) -> float:
        """The mean of :attr:`differences`; 0 without items."""
        return math.fsum(self.differences) / len(self.differences) if self.differences else 0.0

    def histogram(self, width: int = 1, longest: int | None = None) -> Histogram:
        """Return the histogram of both.

        Args:
            width: words a bin, at least 1.
            longest: lengths from here on share the last bin; None: no such bin.

        Raises:
            ValueError: ``width`` or ``longest`` is below 1.
        """
        if width < 1 or (longest is not None and longest < 1):
            raise ValueError("width and longest must be at least 1")
        last = max([0, *self.candidates.words, *self.references.words])
        last = last if longest is None else min(last, longest)
        bins = last // width + 1

        def shares(words: Sequence[int]) -> list[float]:
            counts = Counter(min(n, last) // width for n in words)
            return [counts[bin_number] / len(words) if words else 0.0 for bin_number in range(bins)]

        edges = [bin_number * width for bin_number in range(bins + 1)]
        return Histogram(edges, shares(self.candidates.words), shares(self.references.words))


def word_counts(captions: Sequence[str]) -> Lengths:
    """Return the number of words of each caption."""
    return Lengths([len(tokenize(caption)) for caption in captions])


def compare_word_counts(candidates: Lengths, references: Sequence[Lengths]) -> LengthComparison:
    """Return the comparison of lengths counted before: of the candidates, and of each item's references.

    Raises:
        ValueError: their numbers differ.
    """
    return LengthComparison(
        candidates,
        Lengths([n for item in references for n in item.words]),
        [n - item.mean for n, item in zip(candidates.words, references, strict=True)],
    )
