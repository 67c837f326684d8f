"""Near-duplicate images share a group; the same words about the same image are kept once (perceptual hashes, no posts)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as trying
from hypothesis import strategies as st

from components.core.errors import HearsightError
from components.stages.dedup import PerceptualHash
from components.stages.dedup.groups import Groups
from components.stages.dedup.hashes import near_hashes
from tests.stages.dedup.support import dedup, post, settings, verdicts

HASHES = st.lists(st.integers(0, 2**64 - 1).map(lambda n: f"{n & 0x3F:016x}"), max_size=24)
BY_HASH = settings(signal=PerceptualHash(max_distance=4), posts=None)


def naive(hashes: list[str], most: int) -> list[set[int]]:
    groups = [{n} for n in range(len(hashes))]
    for one in range(len(hashes)):
        for other in range(one):
            if (int(hashes[one], 16) ^ int(hashes[other], 16)).bit_count() <= most:
                a, b = (next(g for g in groups if n in g) for n in (one, other))
                if a is not b:
                    groups.remove(a)
                    groups.remove(b)
                    groups.append(a | b)
    return groups


@trying(deadline=None)
@given(HASHES, st.integers(0, 4), st.integers(1, 5), st.integers(1, 5), st.integers(1, 4))
def test_groups_are_the_connected_components_for_any_block_size(hashes, most, rows, columns, pending):
    from unittest.mock import patch

    groups = Groups(len(hashes))
    with patch("components.stages.dedup.hashes.ROWS", rows), patch("components.stages.dedup.hashes.COLUMNS", columns):
        pairs = list(near_hashes(np.array([int(text, 16) for text in hashes], np.uint64), most))
    with patch("components.stages.dedup.groups.PENDING", pending):
        for i, j in pairs:
            groups.add(i, j)
    result: dict[int, set[int]] = {}
    for index, label in enumerate(groups.labels().tolist()):
        result.setdefault(label, set()).add(index)
    assert sorted(map(sorted, result.values())) == sorted(map(sorted, naive(hashes, most)))
    assert all(label == min(members) for label, members in result.items())


def caption(key, phash, words, **more):
    return {k: v for k, v in post(key, key.encode(), words, phash=f"{phash:016x}", **more).items() if k != "data"}


def test_an_equal_caption_of_a_near_duplicate_is_dropped_in_any_order(tmp_path):
    one, two, other = caption("b", 0b0, "a cat"), caption("a", 0b11, "a cat"), caption("c", 2**40 - 1, "a cat")
    forward, _ = dedup(tmp_path / "f", [[one, two], [other]], BY_HASH)
    backward, _ = dedup(tmp_path / "b", [[other], [two, one]], BY_HASH)
    assert sorted(forward.table()["key"].to_pylist()) == sorted(backward.table()["key"].to_pylist()) == ["a", "c"]
    assert verdicts(forward)["b"] == verdicts(backward)["b"] == ("duplicate_pair", "same as a", "4", "group a")


def test_another_caption_of_a_near_duplicate_is_kept_as_a_reference(tmp_path):
    done, _ = dedup(tmp_path, [[caption("a", 0, "a cat"), caption("b", 1, "a sleeping cat")]], BY_HASH)
    assert [(r["key"], r["group"]) for r in done.table().to_pylist()] == [("a", "a"), ("b", "a")]


def test_the_representative_is_the_earliest_then_largest_then_the_one_with_the_smallest_key(tmp_path):
    rows = [
        caption("a", 0, "one", posted="2026-02-01T00:00:00Z"),
        caption("b", 0, "one", posted="2026-01-01T00:00:00Z"),
        caption("c", 0, "one"),
        caption("d", 2**40 - 1, "two"),
        caption("e", 2**40 - 1, "two", width=20, height=20),
        caption("f", 2**40 - 1, "two", width=20, height=20),
    ]
    done, _ = dedup(tmp_path, [rows], BY_HASH)
    assert [(r["key"], r["group"]) for r in done.table().to_pylist()] == [("b", "b"), ("e", "e")]


@pytest.mark.parametrize(("posts", "where"), [({"caption_distance": 1.0}, "caption_distance"), ({"grid": [0.1, -0.1]}, "grid")])
def test_a_distance_out_of_range_is_refused(tmp_path, posts, where):
    params = settings()
    with pytest.raises(HearsightError, match=where):
        dedup(tmp_path, [[]], params.model_copy(update={"posts": params.posts.model_copy(update=posts)}))


def test_no_records_and_empty_shards_pass(tmp_path):
    assert dedup(tmp_path / "none", [], settings())[0].table().num_rows == 0
    assert dedup(tmp_path / "empty", [[], []], settings())[0].table().num_rows == 0
    assert dedup(tmp_path / "hash", [[]], BY_HASH)[0].table().num_rows == 0
