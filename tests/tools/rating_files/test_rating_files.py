"""Ratings of other tools come in without names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from components.core.errors import HearsightError
from components.core.graph import Graph, load_graph
from components.ratings.formats import csv
from components.tools.rating_files import import_file, read_salt
from tests.support.command import hearsight
from tests.support.ratings.rated import key

NAMES = ("ann@example.org", "Bob Other")
ROWS = [f"{key(number)},{name},GOOD,2026-01-01,by Ann Other\n" for number in range(2) for name in NAMES]
EXPORT = "item,rater,verdict,time,comment\n" + "".join(ROWS)


@pytest.fixture
def graph(tmp_path: Path) -> Graph:
    (tmp_path / "dvc.yaml").write_text("stages: {build_rating_items: {}, import_ratings: {}}")
    chain = {"build_rating_items": {"english": {}}, "import_ratings": {"english": {"input": "english/build_rating_items"}}}
    (tmp_path / "params.yaml").write_text(yaml.safe_dump({"chain": chain, "english": {"import_ratings": {}}}))
    return load_graph(tmp_path)


def stored(root: Path, content: str = EXPORT) -> Path:
    path = root / "export.csv"
    path.write_text(content)
    return path


def test_an_import_replaces_names_and_keeps_nothing_else_of_the_file(graph: Graph) -> None:
    told = import_file(graph, "english", stored(graph.root))
    assert told == {"written": "ratings/english/csv-export.csv", "ratings": 4, "raters": 2}
    text = (graph.root / str(told["written"])).read_text()
    assert not any(word in text for word in ("@", "Ann", "Bob", "Other"))
    read = csv.read(text.encode(), "copy")
    assert all(rater.startswith("csv-") and len(rater) == 12 for rater in read["rater"].to_pylist())
    assert set(read["source"].to_pylist()) == {"csv"} and read["verdict"].to_pylist() == ["GOOD"] * 4


def test_a_rater_keeps_a_pseudonym_in_one_project_and_has_another_in_the_next(graph: Graph, tmp_path: Path) -> None:
    first = import_file(graph, "english", stored(tmp_path))
    copy = graph.root / str(first["written"])
    was = copy.read_bytes()
    import_file(graph, "english", stored(tmp_path))
    assert copy.read_bytes() == was
    (graph.root / ".hearsight/ratings/salt").write_text("0" * 32)
    import_file(graph, "english", stored(tmp_path))
    assert copy.read_bytes() != was


def test_the_salt_is_readable_by_its_owner_only_and_a_damaged_one_is_named(graph: Graph) -> None:
    salt, path = read_salt(graph.root), graph.root / ".hearsight/ratings/salt"
    assert read_salt(graph.root) == salt and path.stat().st_mode & 0o077 == 0
    path.write_text("salt")
    with pytest.raises(HearsightError, match="is not a salt"):
        read_salt(graph.root)


def test_a_file_without_ratings_or_of_an_unknown_dataset_is_refused(graph: Graph) -> None:
    with pytest.raises(HearsightError, match="holds no rating"):
        import_file(graph, "english", stored(graph.root, "item,rater,verdict\n"))
    with pytest.raises(HearsightError, match="is not in the chain of dataset 'german'"):
        import_file(graph, "german", stored(graph.root))
    with pytest.raises(HearsightError, match=r"missing\.csv: cannot be read"):
        import_file(graph, "english", graph.root / "missing.csv")


@pytest.mark.long
def test_the_command_imports_a_file(graph: Graph) -> None:
    root = str(graph.root)
    imported = hearsight("ratings", "import", str(stored(graph.root)), "--dataset", "english", HEARSIGHT_ROOT=root)
    assert imported.returncode == 0 and json.loads(imported.stdout)["ratings"] == 4
