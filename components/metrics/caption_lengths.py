"""How long captions are beside their references: mean, deviation, histogram, and the difference item by item. Any language.

Source: #PraCegoVer, section 5.4.1: what a model that is rewarded by CIDEr-D writes is shorter than its references, which pay
no heed to it. Words are those of ``tokens``: lower-cased, without punctuation. Histograms are data; a page draws them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from components.metrics.tokens import tokenize


@dataclass(frozen=True)
class Lengths:
    """The lengths of some captions, in words."""

    words: Sequence[int]
    """Of each caption."""

    @property
    def mean(self) -> float:
        """Words a caption; 0 without captions."""
        return sum(self.words) / len(self.words) if self.words else 0.0

    @property
    def deviation(self) -> float:
        """The population's standard deviation; 0 without captions."""
        mean = self.mean
        return math.sqrt(math.fsum((n - mean) ** 2 for n in self.words) / len(self.words)) if self.words else 0.0


@dataclass(frozen=True)
class Histogram:
    """Shares of captions by length, on the same bins for candidates and references."""

    edges: Sequence[int]
    """The first length of each bin, and one past the last."""
    candidates: Sequence[float]
    """The share of captions in each bin, summing to 1; all 0 without captions."""
    references: Sequence[float]


@dataclass(frozen=True)
class LengthComparison:
    """Candidates beside references."""

    candidates: Lengths
    references: Lengths
    """Of every reference, each as often as it stands there."""
    differences: Sequence[float]
    """Of each item: the candidate's words less the mean of its references'."""

    @property
    def ratio(self) -> float | None:
        """The candidates' mean length over the references'; None where the references have no words."""
        return self.candidates.mean / self.references.mean if self.references.mean else None

    @property
    def mean_difference(self) -> float:
        """The mean of :attr:`differences`; 0 without items."""
        return math.fsum(self.differences) / len(self.differences) if self.differences else 0.0

    def histogram(self, width: int = 1, longest: int | None = None) -> Histogram:
        """Data for a drawing.

        Args:
            width: words a bin, at least 1.
            longest: words from which all is put into the last bin; None = none is put together.

        Raises:
            ValueError: ``width`` or ``longest`` is below 1.
        """
        if width < 1 or (longest is not None and longest < 1):
            raise ValueError("a histogram's bins are at least one word wide, and its longest caption has at least one")
        most = max([0, *self.candidates.words, *self.references.words])
        most = most if longest is None else min(most, longest)
        bins = most // width + 1

        def shares(words: Sequence[int]) -> list[float]:
            counts = Counter(min(n, most) // width for n in words)
            return [counts[place] / len(words) if words else 0.0 for place in range(bins)]

        edges = [place * width for place in range(bins + 1)]
        return Histogram(edges, shares(self.candidates.words), shares(self.references.words))


def word_counts(captions: Sequence[str]) -> Lengths:
    """The words of each caption."""
    return Lengths([len(tokenize(caption)) for caption in captions])


def compare_lengths(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> LengthComparison:
    """The lengths of candidates and of all their references.

    Raises:
        ValueError: the two differ in length, or an item has no reference.
    """
    if len(candidates) != len(references) or not all(references):
        raise ValueError("one candidate and at least one reference an item are needed")
    return compare_word_counts(word_counts(candidates), [word_counts(item) for item in references])


def compare_word_counts(said: Lengths, known: Sequence[Lengths]) -> LengthComparison:
    """As :func:`compare_lengths`, of lengths counted before: ``said`` of the candidates, ``known`` of each item's references.

    Raises:
        ValueError: their numbers differ.
    """
    return LengthComparison(
        said,
        Lengths([n for item in known for n in item.words]),
        [n - item.mean for n, item in zip(said.words, known, strict=True)],
    )
