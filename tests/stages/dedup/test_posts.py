"""Duplicate posts are those of the paper's algorithm 1 over full float64 matrices, found without them."""

from __future__ import annotations

from collections import Counter
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as trying
from hypothesis import strategies as st

from components.core.errors import HearsightError
from components.stages.dedup import captions
from components.stages.dedup.close_pairs import DECIMALS, close_rows
from components.stages.dedup.posts import PostPairs


def matrices(rows: np.ndarray, vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """D_cpt and D_img: one minus the cosine, in float64, 1 where a vector is empty."""
    result = []
    for matrix in (rows, vectors.astype(np.float64)):
        lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
        unit = matrix / np.where(lengths > 0, lengths, 1)
        result.append(np.round(1.0 - unit @ unit.T, DECIMALS))
    return result[0], result[1]


def algorithm_1(cpt: np.ndarray, img: np.ndarray, t_cpt: float, t_img: float) -> tuple[set[tuple[int, int]], list[list[int]]]:
    """The paper's listing: a similarity graph, then a depth-first search from every post not yet visited."""
    n = len(cpt)
    graph = [[0] * n for _ in range(n)]
    edges = set()
    for i in range(n):
        for j in range(i + 1, n):
            if img[i][j] <= t_img and cpt[i][j] <= t_cpt:
                graph[i][j] = graph[j][i] = 1
                edges.add((i, j))
    visited: set[int] = set()
    clusters = []
    for start in range(n):
        if start not in visited:
            members, waiting = [], [start]
            while waiting:
                node = waiting.pop()
                if node not in visited:
                    visited.add(node)
                    members.append(node)
                    waiting += [other for other in range(n) if graph[node][other]]
            clusters.append(sorted(members))
    return edges, clusters


def found_pairs(texts: list[str], vectors: np.ndarray, t_cpt: float, t_img: float, idf: str = "corpus"):
    counts = [Counter(captions.words(text, frozenset({"the", "of"}))) for text in texts]
    distinct, of = captions.fold(counts)
    weights = captions.corpus_idf(counts) if idf == "corpus" else captions.language_idf(set().union(*distinct, set()), ["en"])
    rows = captions.vectors(distinct, weights)
    pairs = [
        pair
        for block in PostPairs(rows, of, vectors, np.arange(len(texts))).within(t_img, t_cpt)
        for pair in zip(*map(np.ndarray.tolist, block), strict=True)
    ]
    return pairs, np.asarray(rows.todense())[of] if len(texts) else np.empty((0, 0))


WORDS = ("dog", "cat", "red", "sun", "sea", "of", "the", "tree", "x")
TEXTS = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
LEVELS = st.integers(0, 3)
THRESHOLDS = st.sampled_from([0.0, 0.02, 0.05, 0.1, 0.2, 0.5, 0.9])


@trying(deadline=None, max_examples=80)
@given(
    st.lists(st.tuples(TEXTS, st.tuples(LEVELS, LEVELS, LEVELS)), max_size=14),
    THRESHOLDS,
    THRESHOLDS,
    st.integers(0, 3),
    st.booleans(),
)
def test_the_pairs_and_clusters_are_algorithm_1s(posts, t_cpt, t_img, small, corpus):
    texts, levels = [text for text, _ in posts], np.array([level for _, level in posts], np.float16).reshape(-1, 3)
    with (
        patch("components.stages.dedup.posts.SMALL", small),
        patch("components.stages.dedup.posts.BLOCK", 2),
        patch("components.stages.dedup.close_pairs.PRODUCTS", 3),
    ):
        pairs, rows = found_pairs(texts, levels, t_cpt, t_img, "corpus" if corpus else "language")
    edges, _ = algorithm_1(*matrices(rows, levels), t_cpt, t_img)
    assert sorted(pairs) == sorted(edges)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_every_pair_is_found_among_hundreds_of_posts_that_repeat_others_with_changes(seed):
    source, words = np.random.default_rng(seed), np.array([f"word{number}" for number in range(500)])
    shows = source.integers(0, 60, 400)
    captions_of = source.choice(words, (60, 20))[shows]
    changed = np.where(source.random(captions_of.shape) < 0.05, source.choice(words, captions_of.shape), captions_of)
    images = source.gamma(0.3, 1.0, (60, 1280))[shows]
    features = np.maximum(images * (1 + 0.3 * source.random((400, 1)) * source.standard_normal(images.shape)), 0).astype(
        np.float16
    )
    for t in (0.02, 0.1, 0.2):
        pairs, rows = found_pairs([" ".join(line) for line in changed], features, t, t)
        edges, _ = algorithm_1(*matrices(rows, features), t, t)
        assert sorted(pairs) == sorted(edges) and len(edges) > 20


def test_a_distance_equal_to_the_threshold_counts():
    # Cosines of (3, 4) and (4, 3) with (1, 0): .6 and .8, so distances .4 and .2 exactly as decimals say them.
    vectors = np.array([[1, 0], [3, 4], [4, 3]], np.float16)
    texts = ["dog"] * 3
    assert [sorted(found_pairs(texts, vectors, 0.0, t)[0]) for t in (0.199, 0.2, 0.4)] == [
        [(1, 2)], [(0, 2), (1, 2)], [(0, 1), (0, 2), (1, 2)],
    ]  # fmt: skip


def test_identical_captions_of_different_images_and_captions_of_stop_words_are_not_joined():
    images = np.eye(3, dtype=np.float16)
    assert found_pairs(["red dog"] * 3, images, 0.2, 0.2)[0] == []
    assert found_pairs(["of the"] * 3, np.ones((3, 4), np.float16), 0.2, 0.2)[0] == []
    assert found_pairs(["red dog"], images[:1], 0.2, 0.2)[0] == []
    assert found_pairs([], images[:0], 0.2, 0.2)[0] == []


def test_thousands_of_posts_with_one_text_are_compared_in_blocks():
    vectors = np.repeat(np.eye(4, dtype=np.float16), 50, axis=0)
    pairs, _ = found_pairs(["red dog"] * 200, vectors, 0.1, 0.1)
    assert len(set(pairs)) == len(pairs) == 4 * 50 * 49 // 2


@pytest.mark.parametrize("small", [0, 4096])
def test_images_that_a_signal_matches_count_as_near_in_blocks_and_alone(small):
    vectors, rows = np.eye(3, dtype=np.float16), captions.vectors([{"red": 1, "dog": 1}], {"red": 1.0, "dog": 1.0})
    image = np.array([0, 1, 2, 1])
    pairs = PostPairs(rows, np.zeros(4, np.int64), vectors, image)
    with patch("components.stages.dedup.posts.SMALL", small), patch("components.stages.dedup.posts.BLOCK", 2):
        near = [p for i, j in pairs.within(0.1, 0.1, lambda a, b: a + b == 1) for p in zip(i.tolist(), j.tolist(), strict=True)]
    assert sorted(near) == [(0, 1), (0, 3), (1, 3)]


def test_captions_that_share_only_frequent_words_are_still_found():
    texts = [f"red sun {word}" for word in ("dog", "cat", "dog")]
    rows = captions.vectors([Counter(text.split()) for text in texts], {"red": 9.0, "sun": 9.0, "dog": 0.1, "cat": 0.1})
    assert [pair.tolist() for pair in close_rows(rows, 0.01)] == [[0, 0, 1], [1, 2, 2]]


def test_an_added_caption_changes_no_distance_of_others():
    few = captions.language_idf({"gato", "azul"}, ["pt"])
    more = captions.language_idf({"gato", "azul", "paralelepípedo", "xyzzyq"}, ["pt"])
    assert {word: more[word] for word in few} == few
    assert few["azul"] < more["paralelepípedo"] < more["xyzzyq"]


def test_a_language_without_stop_words_is_named():
    with pytest.raises(HearsightError, match="'xx'"):
        captions.stop_words(("pt", "xx"))
    assert "não" in captions.stop_words(("pt",))
