"""Ratings of other tools come in without names, and items and ratings go out without names, sources or ranks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.core.errors import HearsightError
from components.core.graph import Graph, load_graph
from components.ratings.formats import read_ratings
from components.tools.rating_files import export_ratings, export_tasks, import_file, read_salt
from tests.support import make_output
from tests.support.command import hearsight
from tests.support.ratings.rated import item, key, use, votes_of

NAMES = ("ann@example.org", "Bob Other")
EXPORT = [
    {
        "data": {"item": key(number)},
        "annotations": [
            {
                "completed_by": {"id": 1, "email": name, "first_name": "Ann", "last_name": "Other"},
                "updated_by": name,
                "result": [{"type": "choices", "from_name": "verdict", "value": {"choices": ["GOOD"]}}],
                "created_at": "2026-01-01T00:00:00Z",
            }
            for name in NAMES
        ]
        + [{"completed_by": 9, "was_cancelled": True, "result": []}],
    }
    for number in range(2)
]


@pytest.fixture
def graph(tmp_path: Path) -> Graph:
    (tmp_path / "dvc.yaml").write_text("stages: {build_rating_items: {}, import_ratings: {}}")
    chain = {"build_rating_items": {"english": {}}, "import_ratings": {"english": {"input": "english/build_rating_items"}}}
    (tmp_path / "params.yaml").write_text(yaml.safe_dump({"chain": chain, "english": {"import_ratings": {}}}))
    return load_graph(tmp_path)


def stored(root: Path, name: str = "export.json", content: Any = EXPORT) -> Path:
    path = root / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_an_import_replaces_names_and_keeps_nothing_else_of_the_file(graph: Graph) -> None:
    told = import_file(graph, "english", stored(graph.root))
    assert told == {
        "written": "ratings/english/label_studio-export.csv", "format": "label_studio", "ratings": 4, "raters": 2, "left_out": 2
    }  # fmt: skip
    text = (graph.root / str(told["written"])).read_text()
    assert not any(word in text for word in ("@", "Ann", "Bob", "Other"))
    read = read_ratings(text.encode(), "copy")[1]
    assert all(rater.startswith("label_studio-") and len(rater) == 21 for rater in read["rater"].to_pylist())
    assert set(read["source"].to_pylist()) == {"label_studio"} and read["verdict"].to_pylist() == ["GOOD"] * 4


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


def test_a_file_without_answers_or_of_an_unknown_dataset_is_refused(graph: Graph) -> None:
    skipped = [{"data": {"item": "a"}, "annotations": [{"completed_by": 1, "was_cancelled": True}]}]
    with pytest.raises(HearsightError, match="all of them are skipped or empty"):
        import_file(graph, "english", stored(graph.root, content=skipped))
    with pytest.raises(HearsightError, match="is not in the chain of dataset 'german'"):
        import_file(graph, "german", stored(graph.root))
    with pytest.raises(HearsightError, match=r"missing\.csv: cannot be read"):
        import_file(graph, "english", graph.root / "missing.csv")


def make_items(root: Path) -> None:
    rows = [
        item(1, use("model", "english-t2t8x8-0", "r1"), image="00000/1.jpg"),
        item(2, use("retrieval", "mms-48-0", "q", rank=3), image="00000/2.jpg", audio="00000/2.flac", audio_sha256="f" * 64),
    ]
    make_output(root, "build_rating_items", [rows], media=[{"1.jpg": b"one", "2.jpg": b"two", "2.flac": b"sound"}])


def test_tasks_hold_what_a_rater_may_see_and_the_files_for_it(graph: Graph) -> None:
    make_items(graph.root)
    out = graph.root / "tasks"
    told = export_tasks(graph, "english", out, "https://files.example/")
    files = {path.relative_to(out).as_posix(): path.read_bytes() for path in out.rglob("*") if path.is_file()}
    assert told["items"] == 2 and set(told["files"]) < set(files)  # type: ignore[call-overload]
    assert files[f"images/{key(1)}.jpg"] == b"one" and files[f"speech/{key(2)}.flac"] == b"sound"
    text, speech = (json.loads(files[f"{name}.json"]) for name in ("text", "speech"))
    shown = json.dumps([text, speech])
    assert f"https://files.example/images/{key(1)}.jpg" in shown and f"https://files.example/speech/{key(2)}.flac" in shown
    assert "caption 1" in shown and not any(word in shown for word in ("caption 2", "t2t8x8", "mms", "rank", "r1"))


def test_exported_ratings_are_read_again(graph: Graph) -> None:
    ratings = votes_of(1, "gbg")
    make_output(graph.root, "import_ratings", [ratings])
    export_ratings(graph, "english", graph.root / "out")
    found, read = read_ratings((graph.root / "out").read_bytes(), "out")
    assert found == "csv"
    assert sorted(zip(read["rater"].to_pylist(), read["verdict"].to_pylist(), strict=True)) == [
        ("a", "GOOD"), ("b", "BAD"), ("c", "GOOD")
    ]  # fmt: skip


@pytest.mark.long
def test_the_commands_import_a_file_write_tasks_and_write_ratings(graph: Graph) -> None:
    root = str(graph.root)
    imported = hearsight("ratings", "import", str(stored(graph.root)), "--dataset", "english", HEARSIGHT_ROOT=root)
    assert imported.returncode == 0 and json.loads(imported.stdout)["ratings"] == 4
    make_items(graph.root)
    out = str(graph.root / "tasks")
    assert not hearsight("ratings", "tasks", "--out", out, HEARSIGHT_ROOT=root).returncode
    make_output(graph.root, "import_ratings", [votes_of(1, "g")])
    assert not hearsight("ratings", "write", "--out", f"{out}.csv", HEARSIGHT_ROOT=root).returncode
