"""The index on disk: whole or refused, searched among the rows asked for, and clear about what it cannot do."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from components.core.errors import HearsightError
from components.search.index import SearchIndex, build_index
from components.search.nearest import nearest

MODEL = "a" * 64


def items(n: int) -> pa.Table:
    """n items, of images and speech by turns."""
    return pa.table({"key": [f"k{row}" for row in range(n)], "kind": ["image", "speech"] * (n // 2) + ["image"] * (n % 2)})


def indexed(folder: Path, vectors: NDArray[np.float32], **options: Any) -> SearchIndex:
    """An index of ``vectors``, opened."""
    build_index(folder, vectors, items(len(vectors)), MODEL, **options)
    return SearchIndex.open(folder, MODEL)


@pytest.fixture(scope="module")
def vectors() -> NDArray[np.float32]:
    draw = np.random.default_rng(3)
    return draw.standard_normal((200, 24)).astype(np.float32)[draw.integers(0, 90, 200)]


@pytest.fixture(scope="module")
def index(vectors: NDArray[np.float32], tmp_path_factory: pytest.TempPathFactory) -> SearchIndex:
    return indexed(tmp_path_factory.mktemp("index"), vectors)


def test_a_built_index_is_searched_exactly(index: SearchIndex, vectors: NDArray[np.float32]) -> None:
    assert (index.embeddings == vectors).all() and not index.embeddings.flags.writeable
    assert index.contents.kinds == {"image": 100, "speech": 100} and len(index) == 200 and index.contents.dimension == 24
    assert index.item(5) == {"key": "k5", "kind": "speech"}
    rows, scores = index.search(vectors[:6], 10)
    for query in range(6):
        products = vectors.astype(float) @ vectors[query].astype(float)
        assert rows[query].tolist() == sorted(range(200), key=lambda row: (-products[row].round(9), row))[:10]
        np.testing.assert_allclose(scores[query], products[rows[query]], rtol=1e-9)
    assert index.search(vectors[:2], 1000)[0].shape == (2, 200)


def test_arrays_of_any_size_and_dtype_make_the_same_files(vectors: NDArray[np.float32], tmp_path: Path) -> None:
    build_index(tmp_path / "whole", vectors, items(200), MODEL)
    pieces = iter([vectors[:1], vectors[1:1], vectors[1:150].astype(float), vectors[150:]])
    build_index(tmp_path / "pieces", pieces, items(200), MODEL)
    for name in ("embeddings.npy", "items.parquet", "index.json"):
        assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "pieces" / name).read_bytes()
    assert (np.load(tmp_path / "whole" / "embeddings.npy") == vectors).all()


@pytest.mark.parametrize("chosen", [np.arange(200) % 3 == 1, (np.arange(200) > 40) & (np.arange(200) < 99), np.arange(200) == 7])
def test_only_the_rows_of_a_mask_are_found(index: SearchIndex, vectors: NDArray[np.float32], chosen: NDArray[np.bool_]) -> None:
    rows, scores = index.search(vectors[:3], 20, chosen)
    numbers = np.flatnonzero(chosen)
    among, wanted = nearest(vectors[chosen], vectors[:3], 20)
    assert (rows == numbers[among]).all() and (scores == wanted).all()


@pytest.mark.parametrize(
    ("queries", "message"),
    [
        (np.ones((2, 23)), "dimension 24"),
        (np.ones(24), "dimension 24"),
        ([["a"] * 24], "<U1"),
        (np.ones((2, 24), complex), "dimension 24"),
        (np.full((1, 24), np.nan), "not finite"),
        (np.full((1, 24), 1e300), "not finite"),
    ],
)
def test_invalid_queries_are_refused_with_one_line(index: SearchIndex, queries: Any, message: str) -> None:
    with pytest.raises(HearsightError) as caught:
        index.search(queries, 3)
    assert message in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("embeddings", "table", "message"),
    [
        (np.ones((3, 4)), items(2), "3 embeddings for 2 items"),
        (np.ones((3, 4)), items(4), "3 embeddings for 4 items"),
        ([np.ones((1, 4)), np.ones((1, 5))], items(2), "embedding 1 has 5 dimensions"),
        (np.array([[1.0, 2.0], [np.nan, 1.0]]), items(2), "embeddings 0 to 1 is not finite"),
        ([np.ones((1, 2)), np.array([[1e300, 2.0]])], items(2), "embeddings 1 to 1 is not finite"),
        (np.array([[1e35, 2.0], [1.0, 1.0]]), items(2), "norm is above 1e+30"),
        (np.ones((2, 4), int), items(2), "floating-point"),
        (np.ones(4), items(4), "rows × dimension"),
        (np.ones((2, 0)), items(2), "rows × dimension"),
        (np.ones((0, 4)), items(0), "there is no item"),
        (np.ones((2, 4)), items(2).drop_columns("key"), "without a key"),
        (np.ones((1, 4)), pa.table({"key": ["a"], "kind": ["smell"]}), "one of the kinds image, speech"),
        (np.ones((1, 4)), pa.table({"key": ["a"], "kind": [None]}), "one of the kinds image, speech"),
    ],
)
def test_invalid_input_is_refused_and_leaves_no_index(embeddings: Any, table: pa.Table, message: str, tmp_path: Path) -> None:
    with pytest.raises(HearsightError) as caught:
        build_index(tmp_path, embeddings, table, MODEL)
    assert message in str(caught.value) and "\n" not in str(caught.value)
    with pytest.raises(HearsightError, match=r"holds (no index|an index that was not finished)"):
        SearchIndex.open(tmp_path)


def test_an_index_of_another_model_is_refused(tmp_path: Path) -> None:
    indexed(tmp_path, np.ones((2, 3), np.float32))
    assert len(SearchIndex.open(tmp_path)) == 2
    with pytest.raises(HearsightError, match=r"another model \(aaaaaaaaaaaa…\) than the queries' \(bbbbbbbbbbbb"):
        SearchIndex.open(tmp_path, "b" * 64)


def test_an_index_of_another_version_is_refused(tmp_path: Path) -> None:
    indexed(tmp_path, np.ones((2, 3), np.float32))
    result = json.loads((tmp_path / "index.json").read_text())
    (tmp_path / "index.json").write_text(json.dumps(result | {"version": 99}))
    with pytest.raises(HearsightError, match="version 99"):
        SearchIndex.open(tmp_path)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    indexed(folder, np.ones((40, 3), np.float32))
    return folder


DAMAGES = {
    "missing": lambda data: None,
    "short": lambda data: data[:-5],
    "empty": lambda data: b"",
    "a bit": lambda data: data[:-9] + bytes([data[-9] ^ 64]) + data[-8:],
}


@pytest.mark.parametrize(
    ("name", "how"),
    [
        *((name, how) for name in ("embeddings.npy", "items.parquet") for how in DAMAGES),
        *(("index.json", how) for how in ("short", "empty")),
    ],
)
def test_a_damaged_index_is_refused(name: str, how: str, whole: Path, tmp_path: Path) -> None:
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    path = tmp_path / name
    data = DAMAGES[how](path.read_bytes())
    path.unlink()
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(HearsightError) as caught:
        SearchIndex.open(tmp_path)
    assert str(tmp_path) in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "expected",
    ["[]", "3", "{}", '{"version": 1}', '{"version": 1, "n": 2, "dimension": 3, "kinds": {}, "model": "", "files": {}}'],
)
def test_an_invalid_description_is_refused(expected: str, tmp_path: Path) -> None:
    indexed(tmp_path, np.ones((2, 3), np.float32))
    (tmp_path / "index.json").write_text(expected)
    with pytest.raises(HearsightError) as caught:
        SearchIndex.open(tmp_path)
    assert "index.json" in str(caught.value) and "\n" not in str(caught.value)


def test_an_interrupted_build_leaves_no_index(tmp_path: Path) -> None:
    indexed(tmp_path, np.ones((2, 3), np.float32))

    def broken() -> Any:
        yield np.ones((1, 3), np.float32)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_index(tmp_path, broken(), items(2), MODEL)
    with pytest.raises(HearsightError, match="not finished"):
        SearchIndex.open(tmp_path)
    assert not list(tmp_path.glob("*.tmp"))
    assert len(indexed(tmp_path, np.ones((3, 3), np.float32))) == 3
