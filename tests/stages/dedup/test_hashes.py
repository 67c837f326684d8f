"""The index of perceptual hashes finds exactly the pairs that a comparison of every pair finds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as trying
from hypothesis import strategies as st

from components.stages.dedup import hashes as module
from components.stages.dedup.hashes import block_masks, near_all, near_equal, near_hashes


def found(pairs) -> list[tuple[int, int]]:
    return sorted((a, b) for i, j in pairs for a, b in zip(i.tolist(), j.tolist(), strict=True))


def naive(values: list[int], most: int) -> list[tuple[int, int]]:
    count = range(len(values))
    return [(a, b) for a in count for b in count if a < b and (values[a] ^ values[b]).bit_count() <= most]


@st.composite
def alike(draw) -> list[int]:
    """Hashes of which many are some bits away from another, as those of images are; equal ones too."""
    values = draw(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=6))
    for _ in range(draw(st.integers(0, 30))):
        changed = draw(st.sampled_from(values))
        for bit in draw(st.sets(st.integers(0, 63), max_size=9)):
            changed ^= 1 << bit
        values.append(changed)
    return draw(st.permutations(values))


@trying(deadline=None)
@given(alike(), st.integers(0, 12), st.integers(1, 4))
def test_every_number_of_equal_blocks_gives_the_pairs_of_the_naive_search_once(values, most, equal):
    bits = np.array(values, np.uint64)
    assert found(near_equal(bits, most, equal)) == found(near_all(bits, most)) == naive(values, most)


@pytest.mark.parametrize("most", [0, 6, 12, 61, 64])
@pytest.mark.parametrize("same", [0, 30, 60], ids=["uniform", "half equal", "nearly all equal"])
def test_many_hashes_have_the_pairs_of_all_comparisons(most, same, monkeypatch):
    monkeypatch.setattr(module, "FEW", 100)
    drawn = np.random.default_rng(most).integers(0, 2**64, 600, dtype=np.uint64)
    bits = drawn & np.uint64((1 << (64 - same)) - 1)
    bits[200:300] = bits[:100] ^ np.uint64(0b101)
    assert found(near_hashes(bits, most)) == found(near_all(bits, most))


@pytest.mark.parametrize("number", [1, 2, 7, 10, 64])
def test_blocks_cover_each_bit_once(number):
    masks = block_masks(number).tolist()
    assert sum(masks) == 2**64 - 1
    assert all(one & other == 0 for one in masks for other in masks if one is not other)


def test_keys_that_collide_change_nothing(monkeypatch):
    monkeypatch.setattr(module, "_MIX", np.uint64(0))  # every key is equal
    values = [0, 1, 3, 2**63, 2**63 + 1]
    assert found(near_equal(np.array(values, np.uint64), 1, 2)) == naive(values, 1)
