"""Near-duplicate pictures share a group; the same words about the same picture are kept once."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from components.core.boundary import Boundary
from components.dedup import Params, run
from components.dedup.groups import group_by_distance
from tests.support import make_boundary, make_stage, row

HASHES = st.lists(st.integers(0, 2**64 - 1).map(lambda n: f"{n & 0x3F:016x}"), max_size=24)


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


@settings(deadline=None)
@given(HASHES, st.integers(0, 4))
def test_groups_are_the_connected_components(hashes, most):
    labels = group_by_distance(hashes, most)
    found: dict[int, set[int]] = {}
    for index, label in enumerate(labels):
        found.setdefault(label, set()).add(index)
    assert sorted(map(sorted, found.values())) == sorted(map(sorted, naive(hashes, most)))


def dedup(tmp_path, shards, most=4):
    source = make_boundary(tmp_path, "hypernymize", shards)
    stage = make_stage(tmp_path, "dedup", params=Params(max_distance=most), inputs={"input": source})
    run(stage)
    stage.finish()
    return Boundary(stage.out)


def caption(key, phash, words):
    return row("hypernymize", key=key, phash=f"{phash:016x}", caption=words)


def test_the_same_words_on_a_near_duplicate_are_dropped_whatever_the_order(tmp_path):
    one, two, other = caption("b", 0b0, "a cat"), caption("a", 0b11, "a cat"), caption("c", 2**40 - 1, "a cat")
    forward = dedup(tmp_path / "f", [[one, two], [other]])
    backward = dedup(tmp_path / "b", [[other], [two, one]])
    assert sorted(forward.table()["key"].to_pylist()) == sorted(backward.table()["key"].to_pylist()) == ["a", "c"]
    row_ = next(r for r in forward.ledger().to_pylist() if r["key"] == "b")
    assert (row_["rule"], row_["value"]) == ("duplicate_pair", "same as a")


def test_other_words_on_a_near_duplicate_stay_as_another_reference(tmp_path):
    kept = dedup(tmp_path, [[caption("a", 0, "a cat"), caption("b", 1, "a sleeping cat")]]).table().to_pylist()
    assert [(r["key"], r["group"]) for r in kept] == [("a", "a"), ("b", "a")]
