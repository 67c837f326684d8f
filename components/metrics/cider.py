"""CIDEr (Vedantam et al. 2015) in its forms, and CIDEr-R (Santos, Colombini and Avila 2021).

All compare tf-idf vectors of a candidate and of each reference, n-gram length by n-gram length (1 to 4), and give ten times the
mean of the cosines; they differ in what is multiplied:

- **CIDEr-D** (:func:`cider`, :class:`CiderD`): the candidate's weights clipped to the reference's, times exp(-Δ²/2σ²), σ = 6,
  Δ the difference in length. The tool behind the published figures (coco-caption, pycocoevalcap) computes this formula under
  the name "CIDEr", and :func:`cider` equals it. As there, counts are not divided by the caption's length; lengths are bigrams.
- **plain CIDEr** (``plain=True``): neither clip nor penalty: the first formula of the paper, without its stemming.
- **CIDEr-R** (:class:`CiderR`): the clip, times (repetition)^.8 (length)^.2 instead of the Gaussian. Length is
  exp(-Δ²/r²), r the reference's words; repetition is the geometric mean over the candidate's distinct words of 1/(1+Δcount),
  Δcount the difference of the word's counts in the two captions, or its count less one where the reference does not have it.
  (The authors' program splits words again at apostrophes and hyphens for it; tokens are left whole here.)

The document frequencies are those of the references scored against, unless others are given: figures of different test sets are
on different scales. Of one item all are 0: every n-gram is then in every item.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from components.metrics.document_frequency import DocumentFrequency
from components.metrics.ngram_table import Match, NgramTable
from components.metrics.ngrams import ORDER, Counts, Floats, Ints, Tokens

SIGMA = 6.0
REPETITION, LENGTH = 0.8, 0.2
"""The exponents of CIDEr-R's two penalties."""


class Consensus:
    """References weighted once, for candidates of any of their items: plain CIDEr; the base of the other forms.

    Args:
        references: each item's tokenised references, or their table, or another form whose references and weights are shared.
        frequency: document frequencies; without them, those of ``references``.

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
        """The score of each candidate, 0 to about 10.

        Args:
            candidates: tokenised captions, with the tokens that the references have.
            items: the item of each; without it, one candidate an item, in order.

        Raises:
            ValueError: the two differ in length, or there is no such item.
        """
        rows = None if items is None else np.asarray(items, dtype=np.int64)
        found = [self.of_match(match) for match in self.table.matches(candidates, rows)]
        return np.concatenate(found) if found else np.zeros(0)

    def of_match(self, match: Match) -> Floats:
        """The score of each candidate of a block."""
        scores = self.penalised(match, self.cosines(match).sum(axis=1) / ORDER)
        return np.add.reduceat(scores, match.bounds[:-1]) / np.diff(match.bounds) * 10.0

    def penalised(self, match: Match, cosines: Floats) -> Floats:
        """Each slot's mean cosine, changed as the form asks."""
        return cosines

    def shared(self, mine: Counts, theirs: Counts) -> Counts:
        """The product of two counts of an n-gram."""
        return mine * theirs

    def cosines(self, match: Match) -> Floats:
        """Slots × lengths: the (clipped) cosine of the candidate's and the reference's vector."""
        own = self.frequency.numbering is self.table.numbering
        known = match.known if own else self.frequency.numbering.find(match.captions.numbering)
        weights = self.frequency.weights_at(known)[match.grams]
        rows, slots = len(match.items), int(match.bounds[-1])
        squares = np.bincount(match.rows * ORDER + match.orders, (match.counts * weights) ** 2, rows * ORDER)
        norms = np.sqrt(squares).reshape(rows, ORDER)[match.slot_rows] * self.norms[match.references]
        mine, theirs = match.counts[match.sources], match.table.counts[match.entries]
        products = self.shared(mine, theirs) * weights[match.sources] ** 2
        dots = np.bincount(match.slots * ORDER + match.orders[match.sources], products, slots * ORDER).reshape(slots, ORDER)
        return np.divide(dots, norms, out=np.zeros(dots.shape), where=norms > 0)


class CiderD(Consensus):
    """CIDEr-D: the figure that is published as CIDEr, and the reward of self-critical training."""

    def shared(self, mine: Counts, theirs: Counts) -> Counts:
        """The product with the candidate's count clipped to the reference's."""
        return np.minimum(mine, theirs) * theirs

    def penalised(self, match: Match, cosines: Floats) -> Floats:
        """Times the Gaussian of the difference in length."""
        mine, theirs = _bigrams(match)
        return cosines * np.exp(-((mine - theirs) ** 2) / (2 * SIGMA**2))


class CiderR(CiderD):
    """CIDEr-R: long and repetitive captions are judged by the reference's own length and counts."""

    def penalised(self, match: Match, cosines: Floats) -> Floats:
        """Times the penalties of repetition and of length."""
        mine, theirs = _bigrams(match)
        length = np.exp(-(((mine - theirs) / (theirs + 1)) ** 2))
        return cosines * np.exp(_log_repetition(match) * REPETITION) * length**LENGTH


def _bigrams(match: Match) -> tuple[Ints, Ints]:
    mine, theirs = match.captions.lengths[match.slot_rows], match.table.captions.lengths[match.references]
    return np.maximum(mine - 1, 0), np.maximum(theirs - 1, 0)


def _log_repetition(match: Match) -> Floats:
    """The logarithm of each slot's repetition penalty (of an empty candidate 0)."""
    rows, slots = len(match.items), int(match.bounds[-1])
    words = np.flatnonzero(match.orders == 0)
    distinct = np.bincount(match.rows[words], minlength=rows)
    # As if no reference had a word: log(1 + count - 1). Then those that it has are put right.
    alone = np.bincount(match.rows[words], np.log(match.counts[words]), rows)
    both = np.flatnonzero(match.orders[match.sources] == 0)
    mine, theirs = match.counts[match.sources[both]], match.table.counts[match.entries[both]]
    change = np.bincount(match.slots[both], np.log1p(np.abs(mine - theirs)) - np.log(mine), slots)
    return -(alone[match.slot_rows] + change) / np.maximum(distinct, 1)[match.slot_rows]


def cider(candidates: Sequence[Tokens], references: Sequence[Sequence[Tokens]], *, plain: bool = False) -> list[float]:
    """What is published as CIDEr (the formula is CIDEr-D's) of each item; the corpus score is their mean.

    Raises:
        ValueError: the two differ in length, or an item has no reference.
    """
    form = Consensus if plain else CiderD
    return [float(score) for score in form(references).score(candidates)] if len(candidates) or len(references) else []


def best_constant(references: Sequence[Sequence[Sequence[str]]], *, candidates: int) -> tuple[Sequence[str], float]:
    """The caption that scores best when said of every item: the bar a captioner has to clear.

    Args:
        references: the training references by item; the candidates are the captions among them.
        candidates: how many to try at most, the most frequent first (equally frequent: in alphabetical order).

    Returns:
        The caption's tokens and its mean CIDEr over ``references`` (the first of equals in that order).
    """
    if not len(references):
        return (), -1.0
    scorer = CiderD(references)
    seen = Counter(tuple(reference) for known in references for reference in known)
    best: tuple[Sequence[str], float] = ((), -1.0)
    for caption in sorted(seen, key=lambda caption: (-seen[caption], caption))[:candidates]:
        score = math.fsum(scorer.score([caption] * len(references))) / len(references)
        if score > best[1]:
            best = (caption, score)
    return best
