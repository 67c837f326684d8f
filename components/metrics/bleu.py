"""BLEU-1..4 of captions (Papineni et al. 2002), as in the COCO caption evaluation.

One candidate and at least one reference per item. The effective reference length is the closest one (the shorter of two equally
close ones). n-gram counts are clipped by their maximum over the references. Precisions get the COCO tool's tiny constants instead
of smoothing, so a corpus without a match scores almost, not exactly, 0. An item's score is the same formula over that item alone;
the corpus score is not their mean.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from components.metrics.ngram_table import Match
from components.metrics.ngrams import ORDER, Floats, Ints, run_starts

_TINY, _SMALL = 1e-15, 1e-9


def bleu_counts(match: Match) -> Ints:
    """Return candidates × (shared n-grams of each length, clipped; n-grams of each length; tokens; tokens of the closest
    reference)."""
    rows, entries, sources = len(match.items), match.entries, match.sources
    shared = np.zeros(rows * ORDER, np.int64)
    if len(entries):
        # Entries are grouped by a candidate's n-gram: clip by the greatest count in any reference.
        heads = run_starts(sources)
        source = sources[heads]
        clipped = np.minimum(np.maximum.reduceat(match.table.counts[entries], heads), match.counts[source])
        cells = match.rows[source] * ORDER + match.orders[source]
        shared = np.bincount(cells, clipped, minlength=rows * ORDER).astype(np.int64)
    lengths, reference_lengths = match.captions.lengths, match.table.captions.lengths[match.references]
    totals = np.maximum(0, lengths[:, None] - np.arange(ORDER))
    scale = int(reference_lengths.max(initial=0)) + 1
    closest = (
        np.minimum.reduceat(np.abs(reference_lengths - lengths[match.slot_rows]) * scale + reference_lengths, match.bounds[:-1])
        % scale
    )
    return np.column_stack([shared.reshape(rows, ORDER), totals, lengths, closest])


def bleu_scores(counts: Iterable[Ints]) -> tuple[Floats, Floats]:
    """Return the corpus's BLEU-1..4, and items × BLEU-1..4, from the counts of all items."""
    items = np.concatenate(list(counts))
    return _scores(items.sum(axis=0, keepdims=True))[0], _scores(items)


def _scores(counts: Ints) -> Floats:
    shared, totals, length, effective = np.split(counts, [ORDER, 2 * ORDER, 2 * ORDER + 1], axis=1)
    precision = np.cumprod((shared + _TINY) / (totals + _SMALL), axis=1)
    ratio = (length + _TINY) / (effective + _SMALL)
    return precision ** (1 / np.arange(1, ORDER + 1)) * np.exp(np.minimum(0, 1 - 1 / ratio))
