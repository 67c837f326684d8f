"""ROUGE-L (Lin 2004) with beta 1.2, precision and recall each the best over the references, as in COCO's evaluation.

Longest common subsequences are found bit-parallel (Hyyrö 2004, "Bit-parallel LCS-length computation revisited"): a bit a word of
the candidate, a few operations a word of the reference, for all pairs of a block at once; candidates of more than 64 words
one by one, in Python's whole numbers. An empty caption counts as one empty word, as it does there: equal to another empty one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence

import numpy as np

from components.metrics.ngram_table import Match, NgramTable, expand_ranges
from components.metrics.ngrams import Floats, Ints, Tokens

BETA = 1.2
_WORD = 64


def rouge_l(candidates: Sequence[Tokens], references: Sequence[Sequence[Tokens]]) -> list[float]:
    """The score of each item in 0..1.

    Raises:
        ValueError: the two differ in length, or an item has no reference.
    """
    if not len(candidates) and not len(references):
        return []
    table = NgramTable.of(references, order=1)
    return [float(score) for match in table.matches(candidates) for score in rouge_l_items(match)]


def rouge_l_items(match: Match) -> Floats:
    """The score of each candidate of a block."""
    own, other = match.captions.lengths[match.slot_rows], match.table.captions.lengths[match.references]
    common = common_lengths(match)
    common[(own == 0) & (other == 0)] = 1
    precision = np.maximum.reduceat(common / np.maximum(own, 1), match.bounds[:-1])
    recall = np.maximum.reduceat(common / np.maximum(other, 1), match.bounds[:-1])
    # Both are 0 or neither is.
    return (1 + BETA**2) * precision * recall / np.where(precision > 0, recall + BETA**2 * precision, 1.0)


def common_lengths(match: Match) -> Ints:
    """The length of the longest common subsequence of each slot's two captions."""
    own, other = match.captions.lengths[match.slot_rows], match.table.captions.lengths[match.references]
    # The longest references first: those with a word left at a step are then the first ones.
    order = np.argsort(-other, kind="stable")
    masks, starts = _masks(match)
    starts = starts[order]
    alive = np.searchsorted(-other[order], -np.arange(int(other.max(initial=0))), side="left")
    state = np.full(len(order), ~np.uint64(0))
    for step, number in enumerate(alive):
        now = state[:number]
        shared = now & masks[starts[:number] + step]
        state[:number] = (now + shared) | (now - shared)
    within = np.where(own < _WORD, (np.uint64(1) << np.minimum(own, _WORD - 1).astype(np.uint64)) - np.uint64(1), ~np.uint64(0))
    common = np.empty(len(order), np.int64)
    common[order] = np.bitwise_count(~state & within[order])
    for slot in np.flatnonzero(own > _WORD):
        row, reference = match.slot_rows[slot], match.references[slot]
        begin, end = match.captions.starts[row : row + 2]
        words = match.known[match.captions.tokens[begin:end]].tolist()
        begin, end = match.table.captions.starts[reference : reference + 2]
        common[slot] = longest_common(words, match.table.captions.tokens[begin:end].tolist())
    return common


def _masks(match: Match) -> tuple[np.ndarray, Ints]:
    """For each word of each slot's reference, where it stands in the candidate, as bits; and where each slot begins."""
    captions, references = match.captions, match.table.captions
    vocabulary = len(match.table.numbering.words)
    place = np.arange(len(captions.tokens)) - captions.starts[captions.owners]
    word = match.known[captions.tokens]
    usable = np.flatnonzero((word >= 0) & (place < _WORD))
    keys = captions.owners[usable] * vocabulary + word[usable]
    order = np.argsort(keys)
    ranked = keys[order]
    heads = np.flatnonzero(np.concatenate([[True], ranked[1:] != ranked[:-1]])) if len(ranked) else ranked
    bits = np.uint64(1) << place[usable][order].astype(np.uint64)
    places = np.concatenate([np.bitwise_or.reduceat(bits, heads) if len(heads) else bits, np.zeros(1, np.uint64)])
    ranked = ranked[heads]
    first, last = match.table.firsts[match.items], match.table.firsts[match.items + 1]
    tokens, many = expand_ranges(references.starts[first], references.starts[last])
    wanted = np.repeat(np.arange(len(match.items)), many) * vocabulary + references.tokens[tokens]
    found = np.searchsorted(ranked, wanted)
    same = found < len(ranked)
    same[same] = ranked[found[same]] == wanted[same]
    lengths = references.lengths[match.references]
    return places[np.where(same, found, len(ranked))], np.cumsum(lengths) - lengths


def longest_common(first: Sequence[Hashable], second: Sequence[Hashable]) -> int:
    """The length of the longest common subsequence of any two sequences."""
    where: defaultdict[Hashable, int] = defaultdict(int)
    for place, token in enumerate(first):
        where[token] |= 1 << place
    every = (1 << len(first)) - 1
    state = every
    for token in second:
        shared = state & where[token]
        state = ((state + shared) | (state - shared)) & every
    return len(first) - state.bit_count()
