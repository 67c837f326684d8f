"""``hearsight search``: results as text and as a page, filters, and errors in one line."""

from __future__ import annotations

import io
import json
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from components.cli.main import main
from components.core.errors import HearsightError
from components.search.searcher import SEARCH, Searcher
from components.speech.audio.files import to_flac
from tests.support.html import Page
from tests.support.search_index.world import clip, drawn_image
from tests.support.settings_files import copy_settings


@pytest.fixture
def project(stage: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The built index in a project of its own."""
    copy_settings(stage.project)
    monkeypatch.setenv("HEARSIGHT_ROOT", str(stage.project))
    (tmp_path / "query.flac").write_bytes(to_flac(clip(6)))
    (tmp_path / "query.png").write_bytes(drawn_image(3))
    return tmp_path


def hearsight(monkeypatch: pytest.MonkeyPatch, *arguments: Any) -> int:
    monkeypatch.setattr(sys, "argv", ["hearsight", *map(str, arguments)])
    with pytest.raises(SystemExit) as left:
        main()
    return int(left.value.code or 0)


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_recordings_and_images_are_their_own_first_results_among_both_kinds(project: Path, monkeypatch: Any, capsys: Any) -> None:
    assert hearsight(monkeypatch, "search", project / "query.flac", "-k", 2) == 0
    output = lines(capsys)
    assert [(row["kind"], row["rank"]) for row in output] == [("image", 1), ("image", 2), ("speech", 1), ("speech", 2)]
    assert output[2]["key"] == "03es.0" and output[2]["captions"] == [{"language": "es", "caption": "<es> & caption 3"}]
    assert hearsight(monkeypatch, "search", project / "query.png", "-k", 1, "--kind", "image") == 0
    (row,) = lines(capsys)
    assert row["languages"] == ["es", "fr"] and Path(row["image"]).read_bytes()[:2] == b"\xff\xd8"
    assert output[0]["score"] >= output[1]["score"] and output[2]["score"] >= output[3]["score"]


def test_a_text_is_spoken_and_searched_as_speech(project: Path, monkeypatch: Any, capsys: Any) -> None:
    assert hearsight(monkeypatch, "search", "--text", "un petit chien", "--voice", "nanotts-fr-fr", "-k", 1) == 0
    told = capsys.readouterr()
    assert [json.loads(line)["kind"] for line in told.out.splitlines()] == ["image", "speech"]
    assert "spoken by nanotts-fr-fr" in told.err and "reads no text" in told.err
    assert hearsight(monkeypatch, "search", "--text", "un petit chien", "-k", 1) == 0  # in the index's first language
    assert "-es-es" in capsys.readouterr().err
    assert hearsight(monkeypatch, "search", project / "query.png", "--text", "both") == 2
    assert hearsight(monkeypatch, "search", "--text", "x" * 301) == 2


def test_standard_input_and_the_folder_of_an_index_serve_too(project: Path, stage: Any, monkeypatch: Any, capsys: Any) -> None:
    piped = SimpleNamespace(buffer=io.BytesIO((project / "query.png").read_bytes()), isatty=lambda: False)
    monkeypatch.setattr(sys, "stdin", piped)
    monkeypatch.delenv("HEARSIGHT_ROOT")
    assert hearsight(monkeypatch, "search", "-", "-i", stage.out, "-k", 1, "--kind", "speech") == 0
    assert [row["kind"] for row in lines(capsys)] == ["speech"]


def test_filters_keep_only_matching_results(project: Path, monkeypatch: Any, capsys: Any) -> None:
    assert hearsight(monkeypatch, "search", project / "query.png", "-k", 18, "--language", "fr", "--split", "test") == 0
    output = lines(capsys)
    assert len([r for r in output if r["kind"] == "image"]) == 4 and len([r for r in output if r["kind"] == "speech"]) == 4
    assert all("fr" in row["languages"] and row["splits"] == ["test"] for row in output)


def test_a_terminal_is_given_a_table(project: Path, monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert hearsight(monkeypatch, "search", project / "query.png", "-k", 2) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split()[:4] == ["kind", "rank", "score", "caption"] and len(rows) == 4 and rows[0].startswith("image")


def test_a_page_embeds_its_images_and_sound(project: Path, monkeypatch: Any, capsys: Any) -> None:
    assert hearsight(monkeypatch, "search", project / "query.flac", "-k", 3, "--page", project / "found.html") == 0
    page = Page((project / "found.html").read_text())
    assert len(page.of("audio")) == 1 + 3 and len(page.of("img")) == 3
    assert all(str(each["src"]).startswith("data:audio/flac;base64,") for each in page.of("audio"))
    assert all(str(each["src"]).startswith("data:image/jpeg;base64,") and each["alt"] for each in page.of("img"))
    assert "query.flac" in page.text and "<es> & caption 3" in page.text and capsys.readouterr().err == ""


def test_a_page_without_the_indexed_speech_says_so(project: Path, stage: Any, monkeypatch: Any, capsys: Any) -> None:
    moved = shutil.copytree(stage.out / SEARCH, project / "elsewhere")
    monkeypatch.delenv("HEARSIGHT_ROOT")
    monkeypatch.chdir(project)
    assert hearsight(monkeypatch, "search", "query.png", "-i", moved, "-k", 1, "--page", "found.html") == 0
    assert "no players" in capsys.readouterr().err
    page = Page((project / "found.html").read_text())
    assert not page.of("audio") and "audio not available" in page.text and len(page.of("img")) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["query.png", "-k", "0"], "cannot give 0 results: the index holds 18"),
        (["query.png", "-k", "19"], "ask for 1 to 18"),
        (["query.png", "--language", "de"], "known are es, fr"),
        (["query.png", "--split", "validation"], "known are test, train"),
        (["query.png", "--index", "nothing"], "known are stamps"),
        (["query.png", "--index", "./"], "no folder to search in"),
        (["none.png"], "no such file"),
        (["."], "is a folder"),
        (["query.png", "--page", "nowhere/found.html"], "no such folder"),
    ],
)
def test_an_impossible_request_gives_a_one_line_error_and_exit_code_2(
    project: Path, monkeypatch: Any, capsys: Any, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(project)
    assert hearsight(monkeypatch, "search", *arguments) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and error.startswith("hearsight: ") and message in error


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        ("index/embeddings.npy", "damaged"), ("index/items.parquet", "damaged"),
        ("index/index.json", "damaged"), ("search.json", "damaged"), ("model/weights.safetensors", "another model"),
        ("model/config.json", "config.json"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("how", ["cut", "changed", "gone"])
def test_a_damaged_folder_is_refused_with_the_name_of_the_file(
    stage: Any, tmp_path: Path, damage: str, expected: str, how: str
) -> None:
    folder = Path(shutil.copytree(stage.out / SEARCH, tmp_path / "search"))
    path = folder / damage
    data = path.read_bytes()
    path.unlink()
    if how == "cut":
        path.write_bytes(data[: len(data) // 2])
    elif how == "changed":
        path.write_bytes(b"\0" * 20 + data[20:])
    with pytest.raises(HearsightError, match="missing|no index|unfinished|not finished" if how == "gone" else expected) as caught:
        searcher = Searcher.open(folder)
        searcher.encoder.embed  # noqa: B018
    assert "\n" not in str(caught.value)


def test_a_filter_without_results_names_its_conditions(stage: Any) -> None:
    searcher = Searcher.open(stage.out / SEARCH)
    rows = tuple(range(len(searcher.index)))
    with pytest.raises(HearsightError, match="the filters leave no result: no image of language fr and split test"):
        searcher.find(np.ones(8, np.float32), 1, ("image",), language="fr", split="test", without=rows)
