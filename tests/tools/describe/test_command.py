"""``hearsight describe`` prints, writes, speaks, resumes, and ends with exit code 2 if any image failed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import hearsight
from tests.support.describe.world import drawn_image

pytestmark = pytest.mark.long


def describe(project: Path, *words: str, cwd: Path) -> tuple[int, list[dict[str, Any]], str]:
    done = hearsight("describe", *words, cwd=cwd, HEARSIGHT_ROOT=str(project))
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr.decode()


def test_an_image_gives_a_json_line_and_speech(project: Path, tmp_path: Path) -> None:
    (tmp_path / "red.png").write_bytes(drawn_image("red"))
    code, (line,), _ = describe(project, "red.png", "--speak", "--out", "spoken", cwd=tmp_path)
    assert code == 0 and line["file"] == "red.png" and line["alt"] == line["caption"] == "a red square"
    assert set(line) == {
        "file", "alt", "caption", "language", "confidence", "sure", "word", "evidence", "source", "model", "version",
        "trained_on", "limits", "text", "usd",
    }  # fmt: skip
    assert (tmp_path / "spoken" / "red.png.flac").read_bytes().startswith(b"fLaC")


def test_a_folder_is_resumed_by_content_and_a_damaged_file_stops_nothing(project: Path, tmp_path: Path) -> None:
    images = tmp_path / "images"
    (images / "sub").mkdir(parents=True)
    for name in ("red", "blue", "sub/green"):
        (images / f"{name}.png").write_bytes(drawn_image(Path(name).name))
    (images / "bad.jpg").write_bytes(b"\xff\xd8\xff\xe0nothing")
    (images / ".hidden.png").write_bytes(drawn_image("white"))
    code, lines, errors = describe(project, "images", "--out", "out", cwd=tmp_path)
    assert code == 2 and errors.count("bad.jpg") == 1 and "Traceback" not in errors
    assert [(line["file"], line["caption"]) for line in lines] == [
        ("blue.png", "a blue square"), ("red.png", "a red square"), ("sub/green.png", "a green square"),
    ]  # fmt: skip
    results = tmp_path / "out" / "descriptions.jsonl"
    before = results.read_text()
    # A killed run leaves a torn line; a changed image is described again, and one that is gone has no line.
    results.write_text(before + '{"file": "torn')
    (images / "red.png").write_bytes(drawn_image("black"))
    (images / "bad.jpg").unlink()
    code, lines, errors = describe(project, "images", "--out", "out", cwd=tmp_path)
    assert code == 0 and [(line["file"], line["caption"]) for line in lines] == [("red.png", "a black square")]
    assert "3 images, 2 of them described before" in errors
    kept = [json.loads(line) for line in results.read_text().splitlines()]
    assert [line["file"] for line in kept] == ["blue.png", "red.png", "sub/green.png"]
    code, lines, _ = describe(project, "images", "--out", "out", "--model", "english-t2t8x8", cwd=tmp_path)
    assert code == 0 and len(lines) == 3


def test_a_page_is_written_as_html_or_as_json(project: Path, tmp_path: Path) -> None:
    (tmp_path / "red.png").write_bytes(drawn_image("red"))
    (tmp_path / "page.html").write_bytes(b"<html lang=en><img src=red.png>")
    code, (line,), _ = describe(project, "page.html", "--out", "out", cwd=tmp_path)
    assert code == 0 and (line["file"], line["src"]) == ("page.html image 0", "red.png")
    assert (tmp_path / "out" / "page.html").read_bytes() == (
        b'<html lang=en><img alt="a red square" data-hearsight="proposed" src=red.png>'
    )
    describe(project, "page.html", "--out", "out", "--format", "json", cwd=tmp_path)
    (image,) = json.loads((tmp_path / "out" / "page.json").read_text())["images"]
    assert (image["position"], image["alt"], image["address"]) == (0, "a red square", "")


def test_what_cannot_be_described_is_one_line_and_exit_code_2(project: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for words, message in [
        (("none.png",), "there is no such file"),
        (("empty",), "holds no images"),
        (("http://127.0.0.1/a.png",), "private_address"),
        (("none.png", "--language", "pt"), "datasets/captioners.yaml"),
        (("none.png", "--sure", "7"), "--sure"),
    ]:
        code, lines, errors = describe(project, *words, cwd=tmp_path)
        assert code == 2 and not lines and message in errors and len(errors.splitlines()) == 1
