"""All n-gram metrics of a set of captions together, with the references counted once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from components.metrics.bleu import bleu_counts, bleu_scores
from components.metrics.cider import CiderD, CiderR, Consensus
from components.metrics.document_frequency import DocumentFrequency
from components.metrics.ngram_table import NgramTable
from components.metrics.ngrams import Floats, Tokens
from components.metrics.rouge import rouge_l_items

NAMES = ("bleu_1", "bleu_2", "bleu_3", "bleu_4", "rouge_l", "cider", "cider_d", "cider_r", "cider_plain")
"""Names of the metrics, fields of :class:`CaptionScores`; the items' scores are the fields ``<name>_items``."""


@dataclass(frozen=True, eq=False)
class CaptionScores:
    """Each metric over the whole set, and of each item in order (float64).

    BLEU of the set is computed from the set's counts; other metrics are the items' means. BLEU and ROUGE-L are in 0..1, the forms
    of CIDEr from 0 to about 10.
    """

    bleu_1: float
    bleu_2: float
    bleu_3: float
    bleu_4: float
    rouge_l: float
    cider: float
    """CIDEr of the published tools: the formula of CIDEr-D, with document frequencies of the scored references."""
    cider_d: float
    """The same formula with the given document frequencies; without any, equal to ``cider``."""
    cider_r: float
    """CIDEr-R, with the document frequencies of ``cider_d``."""
    cider_plain: float
    """The paper's first formula (no clip, no length penalty), with the document frequencies of ``cider_d``."""
    bleu_1_items: Floats
    bleu_2_items: Floats
    bleu_3_items: Floats
    bleu_4_items: Floats
    rouge_l_items: Floats
    cider_items: Floats
    cider_d_items: Floats
    cider_r_items: Floats
    cider_plain_items: Floats

    @property
    def corpus(self) -> dict[str, float]:
        """The whole set's scores by name."""
        return {name: getattr(self, name) for name in NAMES}

    @property
    def items(self) -> dict[str, Floats]:
        """The items' scores by name."""
        return {name: getattr(self, f"{name}_items") for name in NAMES}


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
    values: dict[str, Any] = dict(zip(NAMES, corpus, strict=True))
    for name, column in zip(NAMES, (*bleu_items.T, *columns), strict=True):
        values[f"{name}_items"] = np.ascontiguousarray(column)
    return CaptionScores(**values)
