"""The index on disk: whole or refused, filtered as asked, and clear about what it cannot do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from components.core.errors import HearsightError
from components.search import scan
from components.search.index import SearchIndex, build_index
from tests.search.indexes import MODEL, brute, indexed, items

LANGUAGES = ["fr", "es", "fr", None]


@pytest.fixture(scope="module")
def vectors() -> NDArray[np.float32]:
    draw = np.random.default_rng(3)
    return draw.standard_normal((200, 24)).astype(np.float32)[draw.integers(0, 90, 200)]


@pytest.fixture(scope="module")
def index(vectors: NDArray[np.float32], tmp_path_factory: pytest.TempPathFactory) -> SearchIndex:
    return indexed(tmp_path_factory.mktemp("index"), vectors, language=[LANGUAGES[row % 4] for row in range(200)])


def test_a_built_index_is_searched_exactly(index: SearchIndex, vectors: NDArray[np.float32]) -> None:
    assert (index.embeddings == vectors).all() and not index.embeddings.flags.writeable
    assert index.contents.kinds == {"image": 100, "speech": 100} and len(index) == 200 and index.dimension == 24
    assert index.item(5) == {"key": "k5", "kind": "speech", "language": "es"}
    rows, scores = index.search(vectors[:6], 10)
    assert (rows.tolist(), scores.tolist()) == brute(vectors, vectors[:6], 10)
    assert rows.dtype == np.int64 and scores.dtype == np.float64


def test_blocks_of_any_size_and_dtype_make_the_same_files(vectors: NDArray[np.float32], tmp_path: Path) -> None:
    build_index(tmp_path / "whole", vectors, items(200), MODEL)
    build_index(
        tmp_path / "pieces", iter([vectors[:1], vectors[1:1], vectors[1:150].astype(float), vectors[150:]]), items(200), MODEL
    )
    for name in ("embeddings.npy", "norms.npy", "items.parquet", "index.json"):
        assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "pieces" / name).read_bytes()
    assert (np.load(tmp_path / "whole" / "embeddings.npy") == vectors).all()


def test_large_k_gives_all_rows(index: SearchIndex, vectors: NDArray[np.float32]) -> None:
    rows, scores = index.search(vectors[:2], 1000)
    assert rows.shape == scores.shape == (2, 200)
    assert rows.tolist() == brute(vectors, vectors[:2], 200)[0]


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({"kind": "image"}, lambda row: row % 2 == 0),
        ({"kind": ["image", "speech"]}, lambda row: True),
        ({"language": "fr"}, lambda row: row % 4 in (0, 2)),
        ({"language": ["es", None], "kind": "speech"}, lambda row: row % 4 in (1, 3)),
        ({"key": "k7"}, lambda row: row == 7),
    ],
)
def test_conditions_select_matching_rows(index: SearchIndex, vectors: NDArray[np.float32], where: Any, expected: Any) -> None:
    wanted = [row for row in range(200) if expected(row)]
    assert index.select(where).tolist() == wanted
    rows, scores = index.search(vectors[:3], 20, where=where)
    assert (rows.tolist(), scores.tolist()) == brute(vectors, vectors[:3], 20, wanted)


@pytest.mark.parametrize("share", [0.02, 0.5, 0.8, 1.0])
def test_any_subset_of_rows_is_searched_exactly(share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "ROWS_AT_ONCE", 64)
    draw = np.random.default_rng(5)
    vectors = draw.standard_normal((2000, 8)).astype(np.float32)
    mask = draw.random(2000) < share
    result = scan.scan(
        scan.Matrix(vectors, np.linalg.norm(vectors, axis=1) * 1.01, np.flatnonzero(mask)), vectors[:4], 7, threads=2
    )
    assert result[0].tolist() == brute(vectors, vectors[:4], 7, np.flatnonzero(mask).tolist())[0]


def test_a_selective_filter_multiplies_only_what_it_leaves(index: SearchIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    multiplied = 0
    block = scan.Matrix.block

    def counted(self: scan.Matrix, start: int, stop: int) -> Any:
        nonlocal multiplied
        result = block(self, start, stop)
        multiplied += len(result[0])
        return result

    monkeypatch.setattr(scan.Matrix, "block", counted)
    index.search(np.ones((1, 24), np.float32), 3, rows=[3, 50, 51, 120, 199])
    assert multiplied == 5
    multiplied = 0
    index.search(np.ones((1, 24), np.float32), 3, rows=np.arange(200) % 10 < 9)
    assert multiplied <= 200


def test_rows_and_masks_and_conditions_narrow_one_another(index: SearchIndex, vectors: NDArray[np.float32]) -> None:
    some = [9, 8, 7, 150, 7]
    mask = np.isin(np.arange(200), some)
    by_rows, by_mask = (index.search(vectors[:2], 9, rows=rows)[0].tolist() for rows in (some, mask))
    assert by_rows == by_mask == brute(vectors, vectors[:2], 9, sorted({*some}))[0]
    assert set(index.search(vectors[:2], 9, rows=some, where={"kind": "image"})[0].ravel().tolist()) == {8, 150}


def test_excluded_rows_are_not_found(index: SearchIndex, vectors: NDArray[np.float32]) -> None:
    own = np.arange(4)[:, None]
    rows, scores = index.search(vectors[:4], 5, exclude=own)
    for number in range(4):
        rest = [row for row in range(200) if row != number]
        wanted = brute(vectors, vectors[number : number + 1], 5, rest)
        assert ([rows[number].tolist()], [scores[number].tolist()]) == wanted
    assert not {0, 1} & set(index.search(vectors[:4], 200, exclude=[0, 1])[0].ravel().tolist())
    rows, scores = index.search(vectors[:2], 3, rows=[4, 5, 6], exclude=np.array([[4, 5], [-1, -1]]))
    assert rows[0].tolist() == [6, -1, -1] and scores[0].tolist()[1:] == [-np.inf] * 2 and set(rows[1]) == {4, 5, 6}


def test_progress_is_shown_only_when_asked(index: SearchIndex, capsys: pytest.CaptureFixture[str]) -> None:
    index.search(np.ones((1, 24)), 1)
    assert not capsys.readouterr().err
    index.search(np.ones((1, 24)), 1, progress=True)
    assert "searching" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"queries": np.ones((2, 23))}, "dimension 24"),
        ({"queries": np.ones(24)}, "dimension 24"),
        ({"queries": [["a"] * 24]}, "<U1"),
        ({"queries": np.ones((2, 24), complex)}, "dimension 24"),
        ({"queries": [[1.0], [1.0, 2.0]]}, "not numeric"),
        ({"queries": np.full((1, 24), np.nan)}, "query 0 holds a number that is not finite"),
        ({"queries": np.full((1, 24), 1e300)}, "query 0 holds a number that is not finite"),
        ({"k": 0}, "k is 0"),
        ({"k": -3}, "k is -3"),
        ({"k": 2.5}, "k is 2.5"),
        ({"where": {"colour": "red"}}, "no column 'colour'"),
        ({"where": {"language": "xx"}}, "no item has language = 'xx'"),
        ({"where": {"kind": 3}}, "not a value of column 'kind'"),
        ({"where": {"kind": []}}, "no row to search"),
        ({"rows": []}, "no row to search"),
        ({"rows": [200]}, "no row 200"),
        ({"rows": [-1]}, "no row -1"),
        ({"rows": [True]}, "a mask of shape (1,)"),
        ({"rows": [0.5]}, "rows are float64"),
        ({"exclude": [[0], [1]]}, "for 1 queries"),
        ({"exclude": list(range(200))}, "no row to search"),
    ],
)
def test_invalid_searches_are_refused_with_one_line(index: SearchIndex, asked: dict[str, Any], message: str) -> None:
    with pytest.raises(HearsightError) as caught:
        index.search(**{"queries": np.ones((1, 24)), "k": 3} | asked)
    assert message in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("embeddings", "table", "message"),
    [
        (np.ones((3, 4)), items(2), "more embeddings than the 2 items"),
        (np.ones((3, 4)), items(4), "3 embeddings for 4 items"),
        ([np.ones((1, 4)), np.ones((1, 5))], items(2), "embedding 1 has 5 dimensions"),
        (np.array([[1.0, 2.0], [np.nan, 1.0]]), items(2), "embedding 1 holds a number that is not finite"),
        (np.array([[1.0, 2.0], [np.inf, 1.0]]), items(2), "embedding 1 holds a number that is not finite"),
        (np.array([[1e300, 2.0], [1.0, 1.0]]), items(2), "embedding 0 holds a number that is not finite"),
        (np.array([[1e35, 2.0], [1.0, 1.0]]), items(2), "embedding 0 has a norm above 1e+30"),
        (np.ones((2, 4), int), items(2), "floating-point"),
        (np.ones(4), items(4), "rows × dimension"),
        (np.ones((2, 0)), items(2), "rows × dimension"),
        (np.ones((0, 4)), items(0), "no item to index"),
        (np.ones((2, 4)), items(2).drop_columns("key"), "no column key"),
        (np.ones((2, 4)), items(2).drop_columns("kind"), "no column kind"),
        (np.ones((1, 4)), pa.table({"key": ["a"], "kind": ["smell"]}), "has the kind 'smell'"),
        (np.ones((1, 4)), pa.table({"key": ["a"], "kind": [None]}), "no kind"),
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
    with pytest.raises(HearsightError, match="no digest"):
        build_index(tmp_path, np.ones((2, 3)), items(2), "")


def test_an_index_of_another_version_is_refused(tmp_path: Path) -> None:
    indexed(tmp_path, np.ones((2, 3), np.float32))
    result = json.loads((tmp_path / "index.json").read_text())
    (tmp_path / "index.json").write_text(json.dumps(result | {"version": 99}))
    with pytest.raises(HearsightError, match="version 99"):
        SearchIndex.open(tmp_path)


DAMAGES = {
    "missing": lambda data: None,
    "short": lambda data: data[:-5],
    "empty": lambda data: b"",
    "a bit": lambda data: data[:-9] + bytes([data[-9] ^ 64]) + data[-8:],
}


@pytest.mark.parametrize(
    ("name", "how"),
    [
        *((name, how) for name in ("embeddings.npy", "norms.npy", "items.parquet") for how in DAMAGES),
        *(("index.json", how) for how in ("short", "empty")),
    ],
)
def test_a_damaged_index_is_refused(name: str, how: str, tmp_path: Path) -> None:
    indexed(tmp_path, np.ones((40, 3), np.float32))
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
