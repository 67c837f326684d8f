"""References counted once, and candidates matched against them: what BLEU, ROUGE-L and all forms of CIDEr read.

A table holds, item by item, each n-gram of its references with its count in each of them. Work goes over blocks of items, so that
memory for temporaries stays bounded whatever the number of references.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from components.metrics.ngrams import (
    ORDER,
    Counts,
    Floats,
    Ints,
    NumberedCaptions,
    Numbering,
    Tokens,
    count_values,
    number_ngrams,
)

BLOCK = 1 << 18
"""Tokens of references worked on at a time: temporaries of some tens of MB."""


@dataclass(frozen=True, eq=False)
class NgramTable:
    """The n-grams of items' references, sorted by item, then n-gram, then reference.

    An entry is an n-gram of one reference; the entries of one n-gram of one item are a group.
    """

    captions: NumberedCaptions
    """All references, in the order of the items; without the places of their n-grams."""
    firsts: Ints
    """The first reference of each item; after the last item, the number of references."""
    keys: Ints
    """Of each group: item × (distinct n-grams) + n-gram; increasing."""
    bounds: Counts
    """The first entry of each group; after the last, the number of entries."""
    owners: NDArray[np.int32]
    """The reference of each entry."""
    counts: NDArray[np.int32]
    """How often the n-gram stands there."""

    @staticmethod
    def of(references: Sequence[Sequence[Tokens]], order: int = ORDER) -> NgramTable:
        """Counted from each item's tokenised references.

        Raises:
            ValueError: there is no item, an item has no reference, or a reference is a string.
        """
        if not len(references):
            raise ValueError("there are no items to score")
        for item, known in enumerate(references):
            if isinstance(known, str) or not len(known):
                raise ValueError(f"item {item} has no references: at least one tokenised caption is needed")
        captions = number_ngrams(list(chain.from_iterable(references)), order)
        firsts = np.concatenate([[0], np.cumsum([len(known) for known in references])])
        size, most = max(captions.numbering.size, 1), int(np.diff(firsts).max())
        if len(references) * size * most >= 1 << 62:
            raise ValueError("too many references to be counted at once: score the items in parts")
        item_of = np.repeat(np.arange(len(references)), np.diff(firsts))
        keys: list[Counts] = []
        starts: list[Counts] = []
        owners: list[Counts] = []
        counts: list[Counts] = []
        entries = 0
        for begin, end in _blocks(captions.starts[firsts], BLOCK):
            # One number holds item, n-gram and reference; sorted, it brings together what is compared later.
            codes, times = count_values(_codes(captions, item_of, firsts, begin, end, size, most))
            group, slot = np.divmod(codes, most)
            heads = np.flatnonzero(np.concatenate([[True], group[1:] != group[:-1]])) if len(group) else group
            keys.append(group[heads])
            starts.append(heads + entries)
            owners.append((slot + firsts[group // size]).astype(np.int32))
            counts.append(times.astype(np.int32))
            entries += len(codes)
        captions = replace(captions, places=(), grams=())  # They take most of the memory, and are counted now.
        starts.append(np.array([entries]))
        bounds = _joined(starts, np.int32 if entries < 1 << 31 else np.int64)
        return NgramTable(captions, firsts, _joined(keys, np.int64), bounds, _joined(owners, np.int32), _joined(counts, np.int32))

    @property
    def items(self) -> int:
        """Items."""
        return len(self.firsts) - 1

    @property
    def numbering(self) -> Numbering:
        """The numbers of the references' n-grams."""
        return self.captions.numbering

    @cached_property
    def frequencies(self) -> Ints:
        """In how many items' references each n-gram occurs."""
        return np.bincount(self.keys % max(self.numbering.size, 1), minlength=self.numbering.size)

    def norms(self, weights: Floats) -> Floats:
        """References × lengths: the Euclidean norm of count × weight over the reference's n-grams of each length.

        Args:
            weights: one an n-gram of ``numbering``.
        """
        orders = self.numbering.order
        squares = np.zeros(len(self.captions.lengths) * orders)
        for begin in range(0, len(self.keys), BLOCK):
            end = min(begin + BLOCK, len(self.keys))
            first, last = self.bounds[begin], self.bounds[end]
            gram = np.repeat(self.keys[begin:end] % self.numbering.size, np.diff(self.bounds[begin : end + 1]))
            place = self.owners[first:last] * np.int64(orders) + self.numbering.orders[gram]
            low, high = int(place.min()), int(place.max()) + 1
            squares[low:high] += np.bincount(place - low, (self.counts[first:last] * weights[gram]) ** 2)
        return np.sqrt(squares).reshape(-1, orders)

    def matches(self, candidates: Sequence[Tokens], items: Ints | None = None) -> Iterator[Match]:
        """The candidates matched in blocks, in order.

        Args:
            candidates: tokenised captions.
            items: the item of each; without it, one candidate an item, in order.

        Raises:
            ValueError: the two differ in length, or there is no such item.
        """
        rows = np.arange(self.items) if items is None else np.asarray(items, dtype=np.int64)
        if len(candidates) != len(rows):
            raise ValueError(f"{len(candidates)} candidates for {len(rows)} items: one a item is needed")
        if len(rows) and (rows.min() < 0 or rows.max() >= self.items):
            raise ValueError(
                f"a candidate is of item {int(rows.max() if rows.max() >= self.items else rows.min())}, of {self.items}"
            )
        held = self.captions.starts[self.firsts]
        cost = np.concatenate([[0], np.cumsum(held[rows + 1] - held[rows])])
        for begin, end in _blocks(cost, BLOCK):
            yield Match.of(self, candidates[begin:end], rows[begin:end])


@dataclass(frozen=True, eq=False)
class Match:
    """Some candidates beside the references of their items; a slot is one candidate beside one reference."""

    table: NgramTable
    items: Ints
    captions: NumberedCaptions
    """The candidates."""
    known: Ints
    """For each n-gram of the candidates' numbering, its number in the table's, or -1."""
    rows: Ints
    """Of each distinct n-gram of each candidate: the candidate,"""
    grams: Ints
    """its number among the candidates' n-grams,"""
    counts: Ints
    """and how often it stands there."""
    entries: Ints
    """Where a candidate and a reference share an n-gram: the table's entry,"""
    sources: Ints
    """and the place in ``rows``."""

    @staticmethod
    def of(table: NgramTable, candidates: Sequence[Tokens], items: Ints) -> Match:
        """The candidates' n-grams and those that their references share."""
        captions = number_ngrams(candidates, table.numbering.order)
        size = max(captions.numbering.size, 1)
        owners = captions.owners
        codes = [owners[place] * size + gram for place, gram in zip(captions.places, captions.grams, strict=True)]
        keys, counts = count_values(np.concatenate(codes))
        rows, grams = np.divmod(keys, size)
        known = table.numbering.find(captions.numbering)
        there = np.flatnonzero(known[grams] >= 0)
        wanted = items[rows[there]] * max(table.numbering.size, 1) + known[grams[there]]
        group = np.searchsorted(table.keys, wanted)
        hit = np.flatnonzero(table.keys[np.minimum(group, len(table.keys) - 1)] == wanted) if len(table.keys) else group
        group, sources = group[hit], there[hit]
        entries, repeats = expand_ranges(table.bounds[group], table.bounds[group + 1])
        return Match(table, items, captions, known, rows, grams, counts, entries, np.repeat(sources, repeats))

    @cached_property
    def bounds(self) -> Ints:
        """The first slot of each candidate; after the last, the number of slots."""
        table = self.table
        return np.concatenate([[0], np.cumsum(table.firsts[self.items + 1] - table.firsts[self.items])])

    @cached_property
    def references(self) -> Ints:
        """The reference of each slot."""
        return expand_ranges(self.table.firsts[self.items], self.table.firsts[self.items + 1])[0]

    @cached_property
    def slot_rows(self) -> Ints:
        """The candidate of each slot."""
        return np.repeat(np.arange(len(self.items)), np.diff(self.bounds))

    @cached_property
    def slots(self) -> Ints:
        """The slot of each shared n-gram."""
        row = self.rows[self.sources]
        return self.table.owners[self.entries] + (self.bounds[row] - self.table.firsts[self.items[row]])

    @cached_property
    def orders(self) -> NDArray[np.int8]:
        """Of each distinct n-gram of each candidate, its length less one."""
        return self.captions.numbering.orders[self.grams]


def expand_ranges(begins: Counts, ends: Counts) -> tuple[Ints, Ints]:
    """All numbers of the ranges ``begins[i]`` to ``ends[i]``, one range after another, and each range's length."""
    lengths = np.asarray(ends, np.int64) - begins
    offsets = np.cumsum(lengths) - lengths
    return np.arange(int(lengths.sum())) + np.repeat(begins - offsets, lengths), lengths


def _joined(parts: list[Counts], kind: type[np.integer[Any]]) -> NDArray[Any]:
    """The parts one after another; they are let go."""
    joined = np.concatenate(parts, dtype=kind)
    parts.clear()
    return joined


def _codes(captions: NumberedCaptions, item_of: Ints, firsts: Ints, begin: int, end: int, size: int, most: int) -> Ints:
    """(item × n-grams + n-gram) × references + reference of each place at which an n-gram of these items begins."""
    first, last = captions.starts[firsts[begin]], captions.starts[firsts[end]]
    owner = np.repeat(np.arange(firsts[begin], firsts[end]), captions.lengths[firsts[begin] : firsts[end]])
    item = item_of[owner]
    base = item * size * most + (owner - firsts[item])
    codes = []
    for place, gram in zip(captions.places, captions.grams, strict=True):
        low, high = np.searchsorted(place, (first, last))
        codes.append(base[place[low:high] - first] + gram[low:high] * most)
    return np.concatenate(codes)


def _blocks(costs: Ints, most: int) -> Iterator[tuple[int, int]]:
    """Ranges of items of about ``most`` each, from the running sum of their costs; none is empty."""
    total = int(costs[-1])
    edges = np.searchsorted(costs, np.arange(most, total, most)).tolist()
    yield from pairwise(sorted({0, *edges, len(costs) - 1}))
