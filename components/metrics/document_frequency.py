"""In how many items each n-gram occurs: the idf of CIDEr's vectors, from the references themselves or from elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from components.metrics.ngram_table import NgramTable
from components.metrics.ngrams import ORDER, Floats, Ints, Ngram, Numbering, Tokens, number_ngrams


@dataclass(frozen=True, eq=False)
class DocumentFrequency:
    """In how many items' references each n-gram occurs, and of how many items."""

    items: int
    numbering: Numbering
    counts: Ints
    """One an n-gram of ``numbering``."""

    @staticmethod
    def of(references: Sequence[Sequence[Tokens]]) -> DocumentFrequency:
        """Counted over the items' references (each n-gram once an item)."""
        return DocumentFrequency.of_table(NgramTable.of(references))

    @staticmethod
    def of_table(table: NgramTable) -> DocumentFrequency:
        """Those of references that are counted already."""
        return DocumentFrequency(table.items, table.numbering, table.frequencies)

    @staticmethod
    def from_counts(items: int, counts: Mapping[Ngram, int]) -> DocumentFrequency:
        """From a table of n-grams (tuples of 1 to 4 tokens), as published beside a data set.

        Raises:
            ValueError: a number is not above 0, exceeds ``items``, or an n-gram is longer than four tokens.
        """
        grams = list(counts)
        if items < 1:
            raise ValueError(f"document frequencies of {items} items: at least one is needed")
        for gram in grams:
            if not 1 <= len(gram) <= ORDER:
                raise ValueError(f"the n-gram {gram!r} has {len(gram)} tokens: 1 to {ORDER} are counted")
            if not 0 < counts[gram] <= items:
                raise ValueError(f"the n-gram {gram!r} is said to occur in {counts[gram]} of {items} items")
        all_grams = number_ngrams(grams)
        found = np.zeros(all_grams.numbering.size, np.int64)
        for size, (places, numbers) in enumerate(zip(all_grams.places, all_grams.grams, strict=True), start=1):
            # Each tuple is a caption; of it only the n-gram that fills it is meant.
            whole = all_grams.lengths[all_grams.owners[places]] == size
            owners = all_grams.owners[places[whole]]
            found[numbers[whole]] = [counts[grams[owner]] for owner in owners]
        return DocumentFrequency(items, all_grams.numbering, found)

    @property
    def most(self) -> float:
        """The weight of an n-gram that occurs in no item or in one: log(items)."""
        return float(np.log(float(self.items)))

    @cached_property
    def weights(self) -> Floats:
        """log(items) - log(max(1, items that have it)) of each n-gram."""
        return self.most - np.log(np.maximum(1.0, self.counts))

    def weights_of(self, numbering: Numbering) -> Floats:
        """The weights of other captions' n-grams."""
        return self.weights if numbering is self.numbering else self.weights_at(self.numbering.find(numbering))

    def weights_at(self, numbers: Ints) -> Floats:
        """The weights of n-grams by their numbers here; -1 is one that occurs in no item."""
        return self._with_absent[numbers]

    @cached_property
    def _with_absent(self) -> Floats:
        return np.append(self.weights, self.most)  # which is where -1 leads
