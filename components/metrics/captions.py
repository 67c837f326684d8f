"""All n-gram metrics of a set of captions together, with the references counted once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from components.metrics.bleu import bleu_counts, bleu_scores
from components.metrics.cider import CiderD, CiderR, Consensus, DocumentFrequency
from components.metrics.ngram_table import NgramTable
from components.metrics.ngrams import Floats, Tokens
from components.metrics.rouge import rouge_l_items

NAMES = ("bleu_1", "bleu_2", "bleu_3", "bleu_4", "rouge_l", "cider", "cider_d", "cider_r", "cider_plain")
"""Names of the metrics.

BLEU and ROUGE-L are in 0..1, the forms of CIDEr from 0 to about 10. ``cider`` is CIDEr of the published tools: the formula of
CIDEr-D, with document frequencies of the scored references. ``cider_d`` is the same formula with the given document frequencies
(without any, equal to ``cider``), ``cider_r`` CIDEr-R and ``cider_plain`` the paper's first formula (no clip, no length penalty)
with these.
"""


class CaptionScores(NamedTuple):
    """Each of :data:`NAMES` over the whole set, and of each item in order (float64).

    BLEU of the set is computed from the set's counts; other metrics are the items' means.
    """

    corpus: dict[str, float]
    items: dict[str, Floats]


def score_captions(
    candidates: Sequence[Tokens], references: Sequence[Sequence[Tokens]] | NgramTable, frequency: DocumentFrequency | None = None
) -> CaptionScores:
    """Return BLEU-1..4, ROUGE-L and all forms of CIDEr of one tokenised candidate an item.

    The order of the items does not matter. With one item all forms of CIDEr are 0 unless ``frequency`` is given, since every
    n-gram is then in every item.

    Args:
        candidates: a tokenised caption an item; it may be empty.
        references: each item's tokenised references, at least one; or their table, if several captioners are scored.
        frequency: document frequencies for ``cider_d``, ``cider_r`` and ``cider_plain`` instead of the references' own.

    Raises:
        ValueError: there are no items, an item has no references, lengths differ, or a caption is a string.
    """
    table = references if isinstance(references, NgramTable) else NgramTable.of(references)
    if len(candidates) != table.items:
        raise ValueError(f"{len(candidates)} candidates for {table.items} items: there must be one candidate an item")
    published = CiderD(table)
    given = CiderD(table, frequency) if frequency else published
    forms: list[Consensus] = [published, given, CiderR(given), Consensus(given)]
    counts, scores = [], []
    for match in table.matches(candidates):
        counts.append(bleu_counts(match))
        scores.append([rouge_l_items(match), *(form.score_match(match) for form in forms)])
    bleu, bleu_items = bleu_scores(counts)
    columns = [np.concatenate(column) for column in zip(*scores, strict=True)]
    corpus = [*map(float, bleu), *(float(column.mean()) for column in columns)]
    items = map(np.ascontiguousarray, (*bleu_items.T, *columns))
    return CaptionScores(dict(zip(NAMES, corpus, strict=True)), dict(zip(NAMES, items, strict=True)))
