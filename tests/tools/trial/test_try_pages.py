"""`hearsight try --pages`: the alt-texts of pages and archives, judged with the page around each image."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from components.tools.trial import TEXT, summary_rows, table_row
from tests.support import command
from tests.support.knowledge.dictionary import EXTRACT

HEADLINE = "Town closes its beach as the season ends"
PAGE = f"""<!doctype html><html lang="en"><title>{HEADLINE} - The Paper</title><h1>{HEADLINE}</h1>
<img src="/teaser.jpg" alt="{HEADLINE}"><img src="/dog.jpg" alt="A dog runs on the beach."><img src="/line.gif" alt="">
<a href="/next"><img src="/next.jpg" alt="A man sits on a bench in the park"></a>
<button><img src="/search.png" alt="A woman looks at the man on the street"></button></html>"""


def tried(*words: str, stdin: bytes = b"") -> CompletedProcess[bytes]:
    return command.hearsight("try", *words, stdin=stdin, HEARSIGHT_WORDNET=str(EXTRACT))


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "page.html"
    path.write_text(PAGE)
    return path


def warc(path: Path, url: str) -> Path:
    body = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + PAGE.encode()
    head = f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nContent-Type: application/http; msgtype=response\r\n"
    path.write_bytes(gzip.compress(head.encode() + b"Content-Length: %d\r\n\r\n" % len(body) + body + b"\r\n\r\n"))
    return path


def test_each_image_gives_one_json_object_with_its_page(page: Path, tmp_path: Path) -> None:
    done = tried("--pages", str(page), str(warc(tmp_path / "crawl.warc.gz", "http://news.example/dog")))
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, done.stderr
    assert [(line["position"], line["rule"]) for line in lines] == [
        (0, "repeats_heading"), (1, None), (3, None), (4, None),
    ] * 2  # fmt: skip
    assert lines[1]["caption"] == "a dog runs on the beach."
    assert {line["page"] for line in lines[:4]} == {page.as_uri()} and lines[4]["page"] == "http://news.example/dog"
    assert lines[5]["image"] == "http://news.example/dog.jpg"


def test_the_profile_of_the_paper_reads_the_text_alone(page: Path) -> None:
    rules = [json.loads(line)["rule"] for line in tried("--pages", "-d", "paper", str(page)).stdout.splitlines()]
    assert "repeats_heading" not in rules and len(rules) == 4


def test_what_is_no_page_is_named_and_the_other_files_are_judged(page: Path, tmp_path: Path) -> None:
    (tmp_path / "no.bin").write_bytes(b"\x00\x01nothing")
    done = tried("--pages", str(tmp_path / "no.bin"), str(page), str(tmp_path / "missing.html"))
    assert done.returncode == 2 and len(done.stdout.splitlines()) == 4
    assert b"no.bin" in done.stderr and b"missing.html" in done.stderr and done.stderr.count(b"\n") == 2


def test_a_page_comes_from_standard_input_and_one_without_images_gives_nothing() -> None:
    assert len(tried("--pages", "-", stdin=PAGE.encode()).stdout.splitlines()) == 4
    empty = tried("--pages", "-", stdin=b"<html><p>No image.</html>")
    assert (empty.returncode, empty.stdout) == (0, b"")


@pytest.mark.parametrize("words", [("a.html",), ("--pages",), ("--pages", "--posts", "a.html"), ("--posts", "a.html")])
def test_files_without_the_option_and_the_option_without_files_are_refused(words: tuple[str, ...]) -> None:
    done = tried(*words)
    assert done.returncode == 2 and done.stdout == b"" and done.stderr.count(b"\n") == 1 and b"--pages FILE" in done.stderr


def test_the_tables_for_people_count_every_text_once() -> None:
    kept = {"rule": None, "alt": "A dog", "caption": "a dog", "value": None, "threshold": None}
    dropped = {"rule": "control", "alt": "Search", "caption": None, "value": "a button", "threshold": "no button"}
    assert table_row(kept) == {"verdict": "kept", TEXT: "a dog", "value": ""}
    assert table_row(dropped) == {"verdict": "control", TEXT: "Search", "value": "a button"}
    assert summary_rows([kept, dropped, dropped]) == [
        {"verdict": "kept", "texts": "1", "share": "33.3 %"},
        {"verdict": "control", "texts": "2", "share": "66.7 %"},
    ]
    assert summary_rows([dropped])[0] == {"verdict": "kept", "texts": "0", "share": "0.0 %"}
