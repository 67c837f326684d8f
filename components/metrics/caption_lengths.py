"""Statistics of captions (CC, table 3). Any language.

Words are those of ``tokens``: lower-cased, without punctuation; the standard deviation is the population's. Memory grows with the
vocabulary, not with the number of captions.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field

from components.metrics.tokens import tokenize


@dataclass
class CaptionStatistics:
    """Running statistics of the captions added so far."""

    counts: Counter[str] = field(default_factory=Counter)
    """Token → occurrences."""
    lengths: Counter[int] = field(default_factory=Counter)
    """Tokens a caption → number of captions."""

    def add(self, caption: str) -> None:
        """Add one caption."""
        tokens = tokenize(caption)
        self.counts.update(tokens)
        self.lengths[len(tokens)] += 1

    @property
    def examples(self) -> int:
        """Number of captions."""
        return self.lengths.total()

    @property
    def unique(self) -> int:
        """Number of distinct tokens."""
        return len(self.counts)

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
