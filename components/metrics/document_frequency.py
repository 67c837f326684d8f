"""Document frequencies of n-grams, for the idf of CIDEr, counted from references."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from components.metrics.ngram_table import NgramTable
from components.metrics.ngrams import Floats, Ints, Numbering, Tokens


@dataclass(frozen=True, eq=False)
class DocumentFrequency:
    """In how many items' references each n-gram occurs, and the number of items."""

    items: int
    numbering: Numbering
    counts: Ints
    """One count for each n-gram of ``numbering``."""

    @staticmethod
    def of(references: Sequence[Sequence[Tokens]]) -> DocumentFrequency:
        """Count over the items' references (each n-gram once an item)."""
        return DocumentFrequency.of_table(NgramTable.of(references))

    @staticmethod
    def of_table(table: NgramTable) -> DocumentFrequency:
        """Return those of references that are already counted."""
        return DocumentFrequency(table.items, table.numbering, table.frequencies)

    @property
    def most(self) -> float:
        """Weight of an n-gram that occurs in at most one item: log(items)."""
        return float(np.log(float(self.items)))

    @cached_property
    def weights(self) -> Floats:
        """Weight of each n-gram: log(items) - log(max(1, items that contain it))."""
        return self.most - np.log(np.maximum(1.0, self.counts))

    def weights_of(self, numbering: Numbering) -> Floats:
        """Return the weights of another numbering's n-grams."""
        return self.weights if numbering is self.numbering else self.weights_at(self.numbering.find(numbering))

    def weights_at(self, numbers: Ints) -> Floats:
        """Return the weights of n-grams by their numbers here; -1 is one that occurs in no item."""
        return self._with_absent[numbers]

    @cached_property
    def _with_absent(self) -> Floats:
        return np.append(self.weights, self.most)  # index -1
