"""ROUGE-L (Lin 2004) with beta 1.2; precision and recall are each the best over the references, as in COCO's evaluation.

Longest common subsequences are computed bit-parallel (Hyyrö 2004, "Bit-parallel LCS-length computation revisited"): a bit for
each word of the candidate, a few operations for each word of the reference, for all pairs of a block at once. Candidates of more
than 64 words are processed singly with Python integers. As in COCO's evaluation, an empty caption counts as one empty word, equal
to another empty one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence

import numpy as np

from components.metrics.ngram_table import Match, expand_ranges
from components.metrics.ngrams import Floats, Ints, run_starts

BETA = 1.2
_WORD = 64


def rouge_l_items(match: Match) -> Floats:
    """Return the score of each candidate of a block."""
    lengths, reference_lengths = match.captions.lengths[match.slot_rows], match.table.captions.lengths[match.references]
    common = common_lengths(match)
    common[(lengths == 0) & (reference_lengths == 0)] = 1
    precision = np.maximum.reduceat(common / np.maximum(lengths, 1), match.bounds[:-1])
    recall = np.maximum.reduceat(common / np.maximum(reference_lengths, 1), match.bounds[:-1])
    # Precision and recall are both 0 or neither is.
    return (1 + BETA**2) * precision * recall / np.where(precision > 0, recall + BETA**2 * precision, 1.0)


def common_lengths(match: Match) -> Ints:
    """Return the length of the longest common subsequence of each slot's two captions."""
    lengths, reference_lengths = match.captions.lengths[match.slot_rows], match.table.captions.lengths[match.references]
    # Longest references first, so that those with words left at a step are a prefix.
    order = np.argsort(-reference_lengths, kind="stable")
    masks, starts = _masks(match)
    starts = starts[order]
    alive = np.searchsorted(-reference_lengths[order], -np.arange(int(reference_lengths.max(initial=0))), side="left")
    state = np.full(len(order), ~np.uint64(0))
    for step, number in enumerate(alive):
        now = state[:number]
        shared = now & masks[starts[:number] + step]
        state[:number] = (now + shared) | (now - shared)
    within = np.where(
        lengths < _WORD, (np.uint64(1) << np.minimum(lengths, _WORD - 1).astype(np.uint64)) - np.uint64(1), ~np.uint64(0)
    )
    common = np.empty(len(order), np.int64)
    common[order] = np.bitwise_count(~state & within[order])
    for slot in np.flatnonzero(lengths > _WORD):
        row, reference = match.slot_rows[slot], match.references[slot]
        begin, end = match.captions.starts[row : row + 2]
        words = match.known[match.captions.tokens[begin:end]].tolist()
        begin, end = match.table.captions.starts[reference : reference + 2]
        common[slot] = longest_common(words, match.table.captions.tokens[begin:end].tolist())
    return common


def _masks(match: Match) -> tuple[np.ndarray, Ints]:
    """Return for each word of each slot's reference its positions in the candidate, as bits; and each slot's start."""
    captions, references = match.captions, match.table.captions
    vocabulary = len(match.table.numbering.words)
    position = np.arange(len(captions.tokens)) - captions.starts[captions.owners]
    word = match.known[captions.tokens]
    usable = np.flatnonzero((word >= 0) & (position < _WORD))
    keys = captions.owners[usable] * vocabulary + word[usable]
    order = np.argsort(keys)
    ranked = keys[order]
    heads = run_starts(ranked)
    bits = np.uint64(1) << position[usable][order].astype(np.uint64)
    masks = np.concatenate([np.bitwise_or.reduceat(bits, heads) if len(heads) else bits, np.zeros(1, np.uint64)])
    ranked = ranked[heads]
    first, last = match.table.firsts[match.items], match.table.firsts[match.items + 1]
    tokens, counts = expand_ranges(references.starts[first], references.starts[last])
    keys_wanted = np.repeat(np.arange(len(match.items)), counts) * vocabulary + references.tokens[tokens]
    index = np.searchsorted(ranked, keys_wanted)
    same = index < len(ranked)
    same[same] = ranked[index[same]] == keys_wanted[same]
    lengths = references.lengths[match.references]
    return masks[np.where(same, index, len(ranked))], np.cumsum(lengths) - lengths


def longest_common(first: Sequence[Hashable], second: Sequence[Hashable]) -> int:
    """Return the length of the longest common subsequence of any two sequences."""
    positions: defaultdict[Hashable, int] = defaultdict(int)
    for index, token in enumerate(first):
        positions[token] |= 1 << index
    all_bits = (1 << len(first)) - 1
    state = all_bits
    for token in second:
        shared = state & positions[token]
        state = ((state + shared) | (state - shared)) & all_bits
    return len(first) - state.bit_count()
