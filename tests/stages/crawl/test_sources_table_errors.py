"""Untrusted tables of existing sets: file names stay inside the image folder, other layouts are one clear error line."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import tracemalloc

import pytest

from components.core.errors import HearsightError
from components.stages.crawl.sources.layouts import layout_named
from tests.support.crawl import sets
from tests.support.crawl.sets import dropped, records


def test_no_file_outside_the_image_folder_is_read(table, tmp_path):
    folder = sets.images(tmp_path / "set" / "images")
    secret = tmp_path / "set" / "secret.jpg"
    shutil.copy(folder / sets.NAMES[0], secret)
    (folder / "way-out.jpg").symlink_to(secret)
    (folder / "deep").symlink_to(tmp_path / "set")
    (folder / "loop.jpg").symlink_to("loop.jpg")
    (folder / "inside.jpg").symlink_to(sets.NAMES[1])
    os.mkfifo(folder / "pipe.jpg")
    (folder / "large.jpg").write_bytes(b"\xff" * 2_000_000)
    names = [
        "../secret.jpg",
        str(secret),
        "way-out.jpg",
        "deep/secret.jpg",
        "loop.jpg",
        "pipe.jpg",
        "large.jpg",
        "..",
        "x\0.jpg",
        "%2e%2e/secret.jpg",
        "inside.jpg",
        "x" * 300 + ".jpg",
    ]
    posts = [{"user": "u", "filename": name, "caption": f"Caption {at}.", "date": ""} for at, name in enumerate(names)]
    (tmp_path / "dataset.json").write_text(json.dumps(posts))
    output = table("pracegover", "dataset.json", image_folder="set/images", language="pt")
    assert [url for _, url, _ in records(output)] == ["file:inside.jpg"]
    rules = dropped(output)
    assert [rules[number] for number in (1, 2, 3, 4, 8, 9)] == ["outside_folder"] * 6
    assert [rules[number] for number in (5, 6, 10, 12)] == ["missing_file"] * 4 and rules[7] == "image_too_large"


def test_a_second_run_reads_neither_the_table_nor_the_images(table, tmp_path):
    sets.images(tmp_path / "images")
    sets.flickr8k(tmp_path / "tokens.txt")
    first = table("flickr8k", "tokens.txt", image_folder="images").digest
    shutil.rmtree(tmp_path / "images")
    (tmp_path / "tokens.txt").unlink()
    assert table("flickr8k", "tokens.txt", image_folder="images").digest == first


def test_a_changed_table_does_not_change_a_complete_snapshot(table, tmp_path):
    sets.cc3m(tmp_path / "train.tsv")
    first = table("cc3m", "train.tsv").digest
    sets.cc3m(tmp_path / "train.tsv", f"a cup\t{sets.WEB}/0006.jpg\n".encode())
    assert table("cc3m", "train.tsv").digest == first
    with pytest.raises(HearsightError, match=r"made of other inputs or settings .* new name"):
        table("cc3m", "train.tsv", language="de")
    assert table("cc3m", "train.tsv", snapshot="next").table().num_rows == 3


@pytest.mark.parametrize(
    ("layout", "content"),
    [("cc3m", b""), ("flickr8k", gzip.compress(b"")), ("coco", b'{"images": [], "annotations": []}'), ("pracegover", b"[]")],
    ids=["cc3m", "flickr8k", "coco", "pracegover"],  # the time in a gzip header would be part of the name
)
def test_a_table_without_rows_says_so_in_one_line(table, tmp_path, layout, content):
    (tmp_path / "set.x").write_bytes(content)
    with pytest.raises(HearsightError, match=r"^set\.x: holds no rows"):
        table(layout, "set.x", image_folder="" if layout == "cc3m" else ".")


@pytest.mark.long
@pytest.mark.parametrize(
    ("layout", "content", "message"),
    [
        (
            "cc12m",
            b"caption\thttp://meadow.sample/a.jpg\n",
            r"set\.x: line 1: is not of the layout 'cc12m': 'caption' is",
        ),
        (
            "cc3m",
            b"http://meadow.sample/a.jpg\tcaption\n" * 30,
            r"line 1: .*none of its first 20 lines fits — a line is caption",
        ),
        ("cc3m", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "byte 0x89 at 0"),
        ("cc3m_labels", b"caption\thttp://meadow.sample/a.jpg\n", "2 fields"),
        ("flickr8k", b"a.jpg,caption\n", "is not of the layout 'flickr8k': 1 field"),
        ("coco", b'{"images": [],\n "annotations": [}', r"set\.x: line 2: is not JSON"),
        ("coco", b'{"images": []}', "it has no list 'annotations'"),
        ("coco", b"[" * 100_000, "is not JSON|nests too deeply"),
        ("karpathy", b'{"images": [{"file_name": "a.jpg"}]}', "element 1: no 'filename'"),
        ("pracegover", b'"posts"', "it holds no posts"),
        ("pracegover", b'{"images": [], "annotations": []}', "element 1: list"),
        ("pracegover", b'\n["\xff"]', "line 2: is not JSON: it is not UTF-8"),
    ],
)
def test_a_file_of_another_layout_is_a_one_line_error_with_location(table, tmp_path, layout, content, message):
    (tmp_path / "set.x").write_bytes(content)
    (tmp_path / "images").mkdir()
    folder = "images" if layout_named(layout).has_files else ""
    with pytest.raises(HearsightError, match=message) as caught:
        table(layout, "set.x", image_folder=folder)
    assert "\n" not in str(caught.value)


@pytest.mark.long
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"layout": "cc4m"}, "'cc4m' is no layout"),
        ({"inputs": []}, "inputs: is empty"),
        ({"inputs": ["no.tsv"]}, r"no\.tsv: is no file"),
        ({"inputs": ["no-*.tsv"]}, "no file matches"),
        ({"sample": 2}, "asks for 2 of 1 inputs"),
        ({"language": ""}, "is no language"),
        ({"image_folder": "web"}, "names images by address"),
        ({"layout": "flickr8k"}, "names images by file"),
        ({"layout": "flickr8k", "image_folder": "nowhere"}, "is not of the layout"),
    ],
)
def test_invalid_settings_are_one_line_errors(table, tmp_path, changes, message):
    sets.cc3m(tmp_path / "train.tsv")
    values = {"layout": "cc3m", "inputs": ["train.tsv"]} | changes
    with pytest.raises(HearsightError, match=message) as caught:
        table(values.pop("layout"), *values.pop("inputs"), **values)
    assert "\n" not in str(caught.value)


def test_a_very_long_line_uses_bounded_memory(tmp_path):
    path = tmp_path / "set.tsv"
    with path.open("wb") as handle:
        handle.truncate(100_000_000)
        handle.seek(0, 2)
        handle.write(f"\na kite\t{sets.WEB}/0000.jpg\n".encode())
    tracemalloc.start()
    rows = list(layout_named("cc3m").rows(path, "set.tsv"))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [row.rule for row in rows] == ["row_too_long", ""] and peak < 10_000_000
