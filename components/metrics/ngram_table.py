"""References counted once, and candidates matched against them: the input of BLEU, ROUGE-L and all forms of CIDEr.

A table has, for each item, each n-gram of its references with its count in each of them. Computation goes over blocks of items,
so that temporary memory is bounded for any number of references.
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
    number_ngrams,
    run_starts,
)

BLOCK = 1 << 18
"""Tokens of references processed together: temporaries of some tens of MB."""


@dataclass(frozen=True, eq=False)
class NgramTable:
    """The n-grams of items' references, sorted by item, then n-gram, then reference.

    An entry is an n-gram of one reference; the entries of one n-gram of one item are a group.
    """

    captions: NumberedCaptions
    """All references in the order of the items, without the positions of their n-grams."""
    firsts: Ints
    """Index of each item's first reference; at the end the number of references."""
    keys: Ints
    """Of each group: item × (distinct n-grams) + n-gram; increasing."""
    bounds: Counts
    """Index of each group's first entry; at the end the number of entries."""
    owners: NDArray[np.int32]
    """The reference of each entry."""
    counts: NDArray[np.int32]
    """Count of the n-gram in that reference."""

    @staticmethod
    def of(references: Sequence[Sequence[Tokens]], order: int = ORDER) -> NgramTable:
        """Count the n-grams of each item's tokenised references.

        Raises:
            ValueError: there are no items, an item has no reference, or a reference is a string.
        """
        if not len(references):
            raise ValueError("there are no items to score")
        for item, known in enumerate(references):
            if isinstance(known, str) or not len(known):
                raise ValueError(f"item {item} has no references: there must be at least one tokenised caption")
        captions = number_ngrams(list(chain.from_iterable(references)), order)
        firsts = np.concatenate([[0], np.cumsum([len(known) for known in references])])
        size, most = max(captions.numbering.size, 1), int(np.diff(firsts).max())
        if len(references) * size * most >= 1 << 62:
            raise ValueError("too many references to count at once: score the items in parts")
        item_of = np.repeat(np.arange(len(references)), np.diff(firsts))
        keys: list[Counts] = []
        starts: list[Counts] = []
        owners: list[Counts] = []
        counts: list[Counts] = []
        entries = 0
        for begin, end in _blocks(captions.starts[firsts], BLOCK):
            # One number encodes item, n-gram and reference, so that sorting groups equal ones.
            codes, times = np.unique(_codes(captions, item_of, firsts, begin, end, size, most), return_counts=True)
            group, slot = np.divmod(codes, most)
            heads = run_starts(group)
            keys.append(group[heads])
            starts.append(heads + entries)
            owners.append((slot + firsts[group // size]).astype(np.int32))
            counts.append(times.astype(np.int32))
            entries += len(codes)
        captions = replace(captions, places=(), grams=())  # They take most of the memory and are not needed after counting.
        starts.append(np.array([entries]))
        bounds = _joined(starts, np.int32 if entries < 1 << 31 else np.int64)
        return NgramTable(captions, firsts, _joined(keys, np.int64), bounds, _joined(owners, np.int32), _joined(counts, np.int32))

    @property
    def items(self) -> int:
        """Number of items."""
        return len(self.firsts) - 1

    @property
    def numbering(self) -> Numbering:
        """Numbering of the references' n-grams."""
        return self.captions.numbering

    @cached_property
    def frequencies(self) -> Ints:
        """Number of items whose references contain each n-gram."""
        return np.bincount(self.keys % max(self.numbering.size, 1), minlength=self.numbering.size)

    def norms(self, weights: Floats) -> Floats:
        """Return references × lengths: the Euclidean norm of count × weight over the reference's n-grams of each length.

        Args:
            weights: one for each n-gram of ``numbering``.
        """
        orders = self.numbering.order
        squares = np.zeros(len(self.captions.lengths) * orders)
        for begin in range(0, len(self.keys), BLOCK):
            end = min(begin + BLOCK, len(self.keys))
            first, last = self.bounds[begin], self.bounds[end]
            gram = np.repeat(self.keys[begin:end] % self.numbering.size, np.diff(self.bounds[begin : end + 1]))
            cell = self.owners[first:last] * np.int64(orders) + self.numbering.orders[gram]
            low, high = int(cell.min()), int(cell.max()) + 1
            squares[low:high] += np.bincount(cell - low, (self.counts[first:last] * weights[gram]) ** 2)
        return np.sqrt(squares).reshape(-1, orders)

    def matches(self, candidates: Sequence[Tokens], items: Ints | None = None) -> Iterator[Match]:
        """Yield the candidates matched in blocks, in order.

        Args:
            candidates: tokenised captions.
            items: the item of each candidate; None: one candidate an item, in order.

        Raises:
            ValueError: lengths differ, or an item is out of range.
        """
        rows = np.arange(self.items) if items is None else np.asarray(items, dtype=np.int64)
        if len(candidates) != len(rows):
            raise ValueError(f"{len(candidates)} candidates for {len(rows)} items: there must be one an item")
        if len(rows) and (rows.min() < 0 or rows.max() >= self.items):
            raise ValueError(
                f"a candidate is of item {int(rows.max() if rows.max() >= self.items else rows.min())}, of {self.items}"
            )
        token_starts = self.captions.starts[self.firsts]
        cost = np.concatenate([[0], np.cumsum(token_starts[rows + 1] - token_starts[rows])])
        for begin, end in _blocks(cost, BLOCK):
            yield Match.of(self, candidates[begin:end], rows[begin:end])


@dataclass(frozen=True, eq=False)
class Match:
    """A block of candidates with the references of their items; a slot is one candidate paired with one reference."""

    table: NgramTable
    items: Ints
    captions: NumberedCaptions
    """The candidates."""
    known: Ints
    """For each n-gram of the candidates' numbering, its number in the table's, or -1."""
    rows: Ints
    """Candidate of each distinct n-gram of each candidate."""
    grams: Ints
    """Number of that n-gram in the candidates' numbering."""
    counts: Ints
    """Count of that n-gram in that candidate."""
    entries: Ints
    """Entry in the table of each n-gram shared by a candidate and a reference."""
    sources: Ints
    """and its index in ``rows``."""

    @staticmethod
    def of(table: NgramTable, candidates: Sequence[Tokens], items: Ints) -> Match:
        """Match the candidates' n-grams with their references'."""
        captions = number_ngrams(candidates, table.numbering.order)
        size = max(captions.numbering.size, 1)
        owners = captions.owners
        codes = [owners[position] * size + gram for position, gram in zip(captions.places, captions.grams, strict=True)]
        keys, counts = np.unique(np.concatenate(codes), return_counts=True)
        rows, grams = np.divmod(keys, size)
        known = table.numbering.find(captions.numbering)
        in_table = np.flatnonzero(known[grams] >= 0)
        item_keys = items[rows[in_table]] * max(table.numbering.size, 1) + known[grams[in_table]]
        group = np.searchsorted(table.keys, item_keys)
        found = np.flatnonzero(table.keys[np.minimum(group, len(table.keys) - 1)] == item_keys) if len(table.keys) else group
        group, sources = group[found], in_table[found]
        entries, repeats = expand_ranges(table.bounds[group], table.bounds[group + 1])
        return Match(table, items, captions, known, rows, grams, counts, entries, np.repeat(sources, repeats))

    @cached_property
    def bounds(self) -> Ints:
        """Index of each candidate's first slot; at the end the number of slots."""
        table = self.table
        return np.concatenate([[0], np.cumsum(table.firsts[self.items + 1] - table.firsts[self.items])])

    @cached_property
    def references(self) -> Ints:
        """Reference of each slot."""
        return expand_ranges(self.table.firsts[self.items], self.table.firsts[self.items + 1])[0]

    @cached_property
    def slot_rows(self) -> Ints:
        """Candidate of each slot."""
        return np.repeat(np.arange(len(self.items)), np.diff(self.bounds))

    @cached_property
    def slots(self) -> Ints:
        """Slot of each shared n-gram."""
        row = self.rows[self.sources]
        return self.table.owners[self.entries] + (self.bounds[row] - self.table.firsts[self.items[row]])

    @cached_property
    def orders(self) -> NDArray[np.int8]:
        """Of each distinct n-gram of each candidate, its length minus one."""
        return self.captions.numbering.orders[self.grams]


def expand_ranges(begins: Counts, ends: Counts) -> tuple[Ints, Ints]:
    """Return all numbers of the ranges ``begins[i]`` to ``ends[i]``, concatenated, and each range's length."""
    lengths = np.asarray(ends, np.int64) - begins
    offsets = np.cumsum(lengths) - lengths
    return np.arange(int(lengths.sum())) + np.repeat(begins - offsets, lengths), lengths


def _joined(parts: list[Counts], kind: type[np.integer[Any]]) -> NDArray[Any]:
    """Concatenate the parts and clear the list to free memory."""
    joined = np.concatenate(parts, dtype=kind)
    parts.clear()
    return joined


def _codes(captions: NumberedCaptions, item_of: Ints, firsts: Ints, begin: int, end: int, size: int, most: int) -> Ints:
    """Return (item × n-grams + n-gram) × references + reference for each position of an n-gram in these items."""
    first, last = captions.starts[firsts[begin]], captions.starts[firsts[end]]
    owner = np.repeat(np.arange(firsts[begin], firsts[end]), captions.lengths[firsts[begin] : firsts[end]])
    item = item_of[owner]
    base = item * size * most + (owner - firsts[item])
    codes = []
    for positions, gram in zip(captions.places, captions.grams, strict=True):
        low, high = np.searchsorted(positions, (first, last))
        codes.append(base[positions[low:high] - first] + gram[low:high] * most)
    return np.concatenate(codes)


def _blocks(costs: Ints, most: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of items of about ``most`` cost each, from the cumulative costs; none is empty."""
    total = int(costs[-1])
    edges = np.searchsorted(costs, np.arange(most, total, most)).tolist()
    yield from pairwise(sorted({0, *edges, len(costs) - 1}))
