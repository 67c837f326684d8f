"""No result overwrites an input or the result of another input, and inputs that may never answer are refused."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import pytest

from components.tools.describe.describer import Describer
from components.tools.describe.folder import INDEX, RESULTS, ResultNames, describe_folder
from tests.support.command import hearsight
from tests.support.describe.world import drawn_image


def test_a_result_keeps_its_name_and_takes_no_other_file(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("an input")
    (tmp_path / "link.html").symlink_to("nowhere")
    names = ResultNames(tmp_path)
    assert names.path("page.html", tmp_path / "page.html").name == "page-2.html"
    assert names.path("link.html", "http://a.sample/").name == "link-2.html"
    assert names.path("page.html", Path("/b/page.html")).name == "page-3.html"
    assert names.path("sub/red.png.flac", "one") == tmp_path / "sub" / "red.png.flac"
    assert names.path("sub/red.png.flac", "two") == tmp_path / "sub" / "red.png-2.flac"
    with (tmp_path / INDEX).open("a") as index:
        index.write('{"result": "torn')
    for _ in range(2):
        again = ResultNames(tmp_path)
        assert again.path("page.html", Path("/b/../b/page.html")).name == "page-3.html"
        assert again.path("page.html", tmp_path / "page.html").name == "page-2.html"
    assert (tmp_path / "page.html").read_text() == "an input"


def test_two_folders_with_equal_names_keep_their_descriptions(english: Describer, tmp_path: Path) -> None:
    for folder, colour in (("a", "red"), ("b", "blue")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "same.png").write_bytes(drawn_image(colour))
    captions = {}
    for folder in ("a", "b", "a"):
        path = ResultNames(tmp_path / "out").path(RESULTS, tmp_path / folder)
        (result,) = describe_folder(english, tmp_path / folder, path, ["same.png"])
        captions[folder] = (path.name, json.loads(path.read_text())["caption"])
    assert result.reused
    assert captions == {"a": (RESULTS, "a red square"), "b": ("descriptions-2.jsonl", "a blue square")}


@pytest.mark.long
def test_pages_in_the_output_folder_and_of_equal_names_are_kept(project: Path, tmp_path: Path) -> None:
    pages = {}
    for folder, colour in (("a", "red"), ("b", "blue")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "i.png").write_bytes(drawn_image(colour))
        pages[folder] = tmp_path / folder / "page.html"
        pages[folder].write_bytes(b"<html lang=en><img src=i.png>")
    for _ in range(2):
        done = hearsight("describe", *map(str, pages.values()), "-o", "a", "--speak", cwd=tmp_path, HEARSIGHT_ROOT=str(project))
        assert done.returncode == 0
    assert {page.read_bytes() for page in pages.values()} == {b"<html lang=en><img src=i.png>"}
    assert b"a red square" in (tmp_path / "a" / "page-2.html").read_bytes()
    assert b"a blue square" in (tmp_path / "a" / "page-3.html").read_bytes()
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == [
        INDEX, "i.png", "page-0-2.flac", "page-0.flac", "page-2.html", "page-3.html", "page.html",
    ]  # fmt: skip


def test_pipes_sockets_devices_and_empty_paths_are_refused_in_one_line(project: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jpg")
    os.mkfifo(tmp_path / "page.html")
    (tmp_path / "file").touch()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        for words, message in [
            *((("describe", name), "is no regular file") for name in ("pipe.jpg", "page.html", "socket", "/dev/zero")),
            *((("feedback", "x", "--image", name), "is no regular file") for name in ("pipe.jpg", "socket", ".", "/dev/zero")),
            *(((*words, ""), "is empty") for words in (("describe",), ("describe", "x", "--out"))),
            *(((*words, ""), "is empty") for words in (("pairs",), ("verify-release",), ("say", "x", "--voice", "x", "--out"))),
        ]:
            done = hearsight(*words, cwd=tmp_path, HEARSIGHT_ROOT=str(project))
            lines = done.stderr.decode().splitlines()
            assert done.returncode == 2 and len(lines) == 1 and message in lines[0], (words, lines)
    assert (tmp_path / "page.html").is_fifo() and Path("/dev/null").is_char_device()
