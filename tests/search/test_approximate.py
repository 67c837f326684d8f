"""The approximate index: what it finds is scored exactly, what it misses is told, and it belongs to one exact index."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from components.core.errors import HearsightError
from components.search.approximate import DESCRIPTION, GRAPH, ApproximateIndex, GraphSettings
from components.search.index import SearchIndex
from tests.search.indexes import MODEL, brute, indexed

SETTINGS = GraphSettings(draws=50, search_width=64)


@pytest.fixture(scope="module")
def vectors() -> NDArray[np.float32]:
    """Twenty clusters of norms between ½ and 2, with duplicates."""
    draw = np.random.default_rng(0)
    centres = draw.standard_normal((20, 32))
    near = centres[draw.integers(0, 20, 700)] + 0.4 * draw.standard_normal((700, 32))
    return (near * draw.uniform(0.5, 2, (700, 1))).astype(np.float32)[draw.integers(0, 700, 1000)]


@pytest.fixture(scope="module")
def index(vectors: NDArray[np.float32], tmp_path_factory: pytest.TempPathFactory) -> SearchIndex:
    result = indexed(tmp_path_factory.mktemp("approximate"), vectors)
    ApproximateIndex.build(result, SETTINGS, threads=1)
    return result


def test_recall_equals_brute_force(index: SearchIndex, vectors: NDArray[np.float32]) -> None:
    # So narrow a search that it misses some.
    result = ApproximateIndex.build(index, GraphSettings(connectivity=4, build_width=4, search_width=4, spare=1), threads=1)
    rows, scores = result.search(vectors[:40], 10)
    reference = np.array(brute(vectors, vectors[:40], 10)[1])
    share = float((scores >= reference[:, -1:]).mean())
    assert 0.05 < share < 1 and result.recall_at([10], vectors[:40])["at"]["10"] == pytest.approx(share)
    wide = vectors.astype(np.float64)
    for query in range(40):
        there = rows[query] >= 0
        assert np.allclose(wide[rows[query][there]] @ wide[query], scores[query][there], rtol=1e-12)
        order = list(zip(-scores[query][there], rows[query][there], strict=True))
        assert order == sorted(order) and len({row for _, row in order}) == there.sum()
    ApproximateIndex.build(index, SETTINGS, threads=1)


def test_a_saved_graph_returns_the_results_of_the_built_one_and_its_recall(index: SearchIndex) -> None:
    built, opened = ApproximateIndex.build(index, SETTINGS, threads=1), ApproximateIndex.open(index)
    queries = index.embeddings[:30]
    for one, other in zip(built.search(queries, 20), opened.search(queries, 20), strict=True):
        assert (one == other).all()
    assert opened.contents == built.contents == ApproximateIndex.open(index, verify=False).contents
    recall = opened.contents.recall
    assert recall["queries"] == 50 and recall["of"] == "drawn" and set(recall["at"]) == {"1", "10", "100"}
    assert recall["at"]["10"] > 0.95 and recall["at"]["100"] > 0.9
    assert opened.contents.library.startswith("usearch ")


def test_one_thread_makes_one_graph(index: SearchIndex) -> None:
    first = (index.folder / GRAPH).read_bytes()
    ApproximateIndex.build(index, SETTINGS, threads=1)
    assert (index.folder / GRAPH).read_bytes() == first


def test_largest_dot_products_are_found_though_norms_differ(index: SearchIndex, vectors: NDArray[np.float32]) -> None:
    queries = np.random.default_rng(4).standard_normal((40, 32)).astype(np.float32)
    assert ApproximateIndex.open(index).recall_at([10], queries)["at"]["10"] > 0.9


def test_one_query_no_query_and_large_k(index: SearchIndex, vectors: NDArray[np.float32]) -> None:
    opened = ApproximateIndex.open(index)
    rows, scores = opened.search(vectors[:1], 5, exclude=[[0]])
    assert rows.shape == scores.shape == (1, 5) and 0 not in rows
    assert opened.search(np.empty((0, 32)), 5)[0].shape == (0, 5)
    rows, _ = opened.search(vectors[:2], 5000)
    assert rows.shape == (2, 1000) and (rows >= 0).any()
    assert (opened.search(np.zeros((1, 32)), 3)[1] == 0).all()


def test_a_tiny_index_and_equal_vectors_have_a_graph_too(tmp_path: Path) -> None:
    for name, vectors in {"one": np.ones((1, 4)), "zeros": np.zeros((5, 4)), "large": np.full((30, 4), 1e4)}.items():
        index = indexed(tmp_path / name, vectors.astype(np.float32))
        result = ApproximateIndex.build(index, SETTINGS, threads=1)
        rows, _ = result.search(np.ones((2, 4)), 1)
        assert (rows >= 0).all() and all(value == 1 for value in result.contents.recall["at"].values())


def test_a_graph_of_other_embeddings_or_damaged_or_missing_is_refused(tmp_path: Path) -> None:
    vectors = np.random.default_rng(0).standard_normal((50, 8)).astype(np.float32)
    index = indexed(tmp_path, vectors)
    with pytest.raises(HearsightError, match="has no approximate index"):
        ApproximateIndex.open(index)
    ApproximateIndex.build(index, SETTINGS, threads=1)
    with pytest.raises(HearsightError, match="of other embeddings"):
        ApproximateIndex.open(indexed(tmp_path, vectors * 2))
    index = indexed(tmp_path, vectors)
    whole = (tmp_path / GRAPH).read_bytes()
    for damaged in (whole[:-3], whole[:-3] + b"abc", b""):
        (tmp_path / GRAPH).write_bytes(damaged)
        with pytest.raises(HearsightError, match="is damaged"):
            ApproximateIndex.open(index)
    (tmp_path / GRAPH).write_bytes(whole)
    result = json.loads((tmp_path / DESCRIPTION).read_text())
    for text in ("", "[]", "{}", json.dumps(result | {"settings": {}}), json.dumps(result | {"version": 7})):
        (tmp_path / DESCRIPTION).write_text(text)
        with pytest.raises(HearsightError, match=r"is damaged|has version 7"):
            ApproximateIndex.open(index)


def test_bad_queries_are_refused_as_by_the_exact_search(index: SearchIndex) -> None:
    opened = ApproximateIndex.open(index)
    for queries, k, result in (
        (np.ones((1, 3)), 1, "dimension 32"),
        (np.full((1, 32), np.nan), 1, "finite"),
        (np.ones((1, 32)), 0, "k is 0"),
    ):
        with pytest.raises(HearsightError, match=result):
            opened.search(queries, k)
    with pytest.raises(HearsightError, match="connectivity is 1"):
        GraphSettings(connectivity=1)


def test_without_the_library_one_line_says_how_to_install_it(index: SearchIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "usearch", None)
    for ask in (lambda: ApproximateIndex.open(index), lambda: ApproximateIndex.build(index)):
        with pytest.raises(HearsightError, match=r"pip install 'hearsight\[ann\]'"):
            ask()
    assert SearchIndex.open(index.folder, MODEL).search(np.ones((1, 32)), 1)[0].shape == (1, 1)
