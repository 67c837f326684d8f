"""CIDEr (Vedantam et al. 2015) in its forms, and CIDEr-R (Santos, Colombini and Avila 2021).

All forms compare tf-idf vectors of a candidate and of each reference, by n-gram length (1 to 4), and return ten times the mean of
the cosines. They differ in the factors:

- **CIDEr-D** (:func:`cider`, :class:`CiderD`): the candidate's weights clipped to the reference's, times exp(-Δ²/2σ²), σ = 6,
  Δ the difference in length. The tool behind the published figures (coco-caption, pycocoevalcap) computes this formula under
  the name "CIDEr", and :func:`cider` equals it. As there, counts are not divided by the caption's length; lengths are bigrams.
- **plain CIDEr** (``plain=True``): neither clip nor penalty: the first formula of the paper, without its stemming.
- **CIDEr-R** (:class:`CiderR`): the clip, times (repetition)^.8 (length)^.2 instead of the Gaussian. Length is
  exp(-Δ²/r²), r the reference's words; repetition is the geometric mean over the candidate's distinct words of 1/(1+Δcount),
  Δcount the difference of the word's counts in both captions, or its count minus one if the reference lacks it. (The authors'
  program splits words again at apostrophes and hyphens for it; tokens are not split here.)

Document frequencies are those of the scored references unless others are given, so figures of different test sets have different
scales. With one item all scores are 0, since every n-gram is in every item.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from components.metrics.ngram_table import Match, NgramTable
from components.metrics.ngrams import ORDER, Counts, Floats, Ints, Numbering, Tokens


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


SIGMA = 6.0
REPETITION, LENGTH = 0.8, 0.2
"""Exponents of CIDEr-R's two penalties."""


class Consensus:
    """Plain CIDEr, and the base of the other forms: references weighted once, for any number of candidates.

    Args:
        references: each item's tokenised references, or their table, or another form whose references and weights are shared.
        frequency: document frequencies; None: those of ``references``.

    Raises:
        ValueError: there are no items, or an item has no reference.
    """

    def __init__(
        self, references: Sequence[Sequence[Tokens]] | NgramTable | Consensus, frequency: DocumentFrequency | None = None
    ) -> None:
        self.table: NgramTable
        self.frequency: DocumentFrequency
        self.norms: Floats
        if isinstance(references, Consensus):
            self.table, self.frequency, self.norms = references.table, references.frequency, references.norms
        else:
            self.table = references if isinstance(references, NgramTable) else NgramTable.of(references)
            self.frequency = frequency or DocumentFrequency.of_table(self.table)
            self.norms = self.table.norms(self.frequency.weights_of(self.table.numbering))

    def score(self, candidates: Sequence[Tokens], items: Sequence[int] | Ints | None = None) -> Floats:
        """Return the score of each candidate, 0 to about 10.

        Args:
            candidates: tokenised captions, with tokens of the same kind as the references'.
            items: the item of each candidate; None: one candidate an item, in order.

        Raises:
            ValueError: lengths differ, or an item is out of range.
        """
        rows = None if items is None else np.asarray(items, dtype=np.int64)
        blocks = [self.score_match(match) for match in self.table.matches(candidates, rows)]
        return np.concatenate(blocks) if blocks else np.zeros(0)

    def score_match(self, match: Match) -> Floats:
        """Return the score of each candidate of a block: the mean over its references."""
        return np.add.reduceat(self.score_slots(match), match.bounds[:-1]) / np.diff(match.bounds)

    def score_slots(self, match: Match) -> Floats:
        """Return the score of each slot: a candidate with one reference alone."""
        return self.penalise(match, self.cosines(match).sum(axis=1) / ORDER) * 10.0

    def penalise(self, match: Match, cosines: Floats) -> Floats:
        """Return each slot's mean cosine after this form's penalties."""
        return cosines

    def combine_counts(self, mine: Counts, theirs: Counts) -> Counts:
        """Return the product of an n-gram's counts in candidate and reference."""
        return mine * theirs

    def cosines(self, match: Match) -> Floats:
        """Return slots × lengths: the (clipped) cosines of the candidate's and the reference's vectors."""
        same_numbering = self.frequency.numbering is self.table.numbering
        known = match.known if same_numbering else self.frequency.numbering.find(match.captions.numbering)
        weights = self.frequency.weights_at(known)[match.grams]
        rows, slots = len(match.items), int(match.bounds[-1])
        squares = np.bincount(match.rows * ORDER + match.orders, (match.counts * weights) ** 2, rows * ORDER)
        norms = np.sqrt(squares).reshape(rows, ORDER)[match.slot_rows] * self.norms[match.references]
        counts, reference_counts = match.counts[match.sources], match.table.counts[match.entries]
        products = self.combine_counts(counts, reference_counts) * weights[match.sources] ** 2
        dots = np.bincount(match.slots * ORDER + match.orders[match.sources], products, slots * ORDER).reshape(slots, ORDER)
        return np.divide(dots, norms, out=np.zeros(dots.shape), where=norms > 0)


class CiderD(Consensus):
    """CIDEr-D: the metric published as CIDEr, and the reward of self-critical training."""

    def combine_counts(self, mine: Counts, theirs: Counts) -> Counts:
        """Return the product with the candidate's count clipped to the reference's."""
        return np.minimum(mine, theirs) * theirs

    def penalise(self, match: Match, cosines: Floats) -> Floats:
        """Multiply by the Gaussian of the difference in length."""
        lengths, reference_lengths = _bigrams(match)
        return cosines * np.exp(-((lengths - reference_lengths) ** 2) / (2 * SIGMA**2))


class CiderR(CiderD):
    """CIDEr-R: penalties of length and repetition are relative to the reference's length and counts."""

    def penalise(self, match: Match, cosines: Floats) -> Floats:
        """Multiply by the penalties of repetition and length."""
        lengths, reference_lengths = _bigrams(match)
        length_penalty = np.exp(-(((lengths - reference_lengths) / (reference_lengths + 1)) ** 2))
        return cosines * np.exp(_log_repetition(match) * REPETITION) * length_penalty**LENGTH


def _bigrams(match: Match) -> tuple[Ints, Ints]:
    """Return the numbers of bigrams of each slot's candidate and reference."""
    lengths, reference_lengths = match.captions.lengths[match.slot_rows], match.table.captions.lengths[match.references]
    return np.maximum(lengths - 1, 0), np.maximum(reference_lengths - 1, 0)


def _log_repetition(match: Match) -> Floats:
    """Return the logarithm of each slot's repetition penalty (0 for an empty candidate)."""
    rows, slots = len(match.items), int(match.bounds[-1])
    words = np.flatnonzero(match.orders == 0)
    distinct = np.bincount(match.rows[words], minlength=rows)
    # First as if references lacked all words: log(1 + count - 1); then shared words are corrected.
    unmatched = np.bincount(match.rows[words], np.log(match.counts[words]), rows)
    shared_words = np.flatnonzero(match.orders[match.sources] == 0)
    counts, reference_counts = match.counts[match.sources[shared_words]], match.table.counts[match.entries[shared_words]]
    change = np.bincount(match.slots[shared_words], np.log1p(np.abs(counts - reference_counts)) - np.log(counts), slots)
    return -(unmatched[match.slot_rows] + change) / np.maximum(distinct, 1)[match.slot_rows]


def cider(candidates: Sequence[Tokens], references: Sequence[Sequence[Tokens]], *, plain: bool = False) -> list[float]:
    """Return what is published as CIDEr (the formula is CIDEr-D's) of each item; the corpus score is their mean.

    Raises:
        ValueError: the two differ in length, or an item has no reference.
    """
    form = Consensus if plain else CiderD
    return [float(score) for score in form(references).score(candidates)] if len(candidates) or len(references) else []


def best_constant(references: Sequence[Sequence[Sequence[str]]], *, candidates: int) -> tuple[Sequence[str], float]:
    """Return the caption that scores best when used for every item: a baseline for captioners.

    Args:
        references: training references by item; the candidates are their captions.
        candidates: maximum number of candidates, the most frequent first (ties in alphabetical order).

    Returns:
        The caption's tokens and its mean CIDEr over ``references`` (ties: the first in that order).
    """
    if not len(references):
        return (), -1.0
    scorer = CiderD(references)
    frequencies = Counter(tuple(reference) for known in references for reference in known)
    best: tuple[Sequence[str], float] = ((), -1.0)
    for caption in sorted(frequencies, key=lambda caption: (-frequencies[caption], caption))[:candidates]:
        score = math.fsum(scorer.score([caption] * len(references))) / len(references)
        if score > best[1]:
            best = (caption, score)
    return best
