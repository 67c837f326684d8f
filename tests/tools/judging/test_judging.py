"""`hearsight ratings judge`: a page of kept captions with images, alt-texts and pages; verdicts; the precision."""

from __future__ import annotations

import json
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.support import make_output, row
from tests.support.command import hearsight
from tests.support.ratings.made_items import described, drawn_image
from tests.support.settings_files import copy_settings


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project whose datasets english, of pages, and portuguese, of posts, have a split and the crawl with its images."""
    copy_settings(tmp_path)
    for dataset in ("english", "portuguese"):
        media = {f"{number}.jpg": drawn_image(number) for number in range(5)}
        rows = [
            row("split", key=f"{number:016x}", media=f"00000/{number}.jpg", caption=described(number), alt=f"<b>{number}</b>",
                page_url=f"http://a.example/{number}?a=1&b=2")
            for number in range(5)
        ]  # fmt: skip
        make_output(tmp_path, "split", [rows], dataset)
        make_output(tmp_path, "crawl", [[]], dataset, [media])
    return tmp_path


def judged(project: Path, *words: str) -> CompletedProcess[bytes]:
    return hearsight("ratings", "judge", *words, cwd=project, HEARSIGHT_ROOT=str(project))


@pytest.mark.parametrize("dataset", ["english", "portuguese"])
def test_the_page_shows_each_caption_with_image_alt_text_and_page_and_the_verdicts_give_the_precision(project, dataset) -> None:
    first = json.loads(judged(project, "-d", dataset).stdout)
    page = (project / first["page"]).read_text()
    assert first["captions"] == 5 and "precision" not in first
    assert page.count("data:image/jpeg;base64,") == 5 and page.count("&lt;b&gt;") == 5
    assert all(described(number) in page for number in range(5)) and 'href="http://a.example/3?a=1&amp;b=2"' in page
    second = json.loads(judged(project, "-d", dataset, "--wrong", "2, 5").stdout)
    assert (second["judged"], second["precision"]) == (5, 0.6)
    assert 0 < second["low"] < 0.6 < second["high"] < 1
    assert "Precision 60.0 %" in (project / second["page"]).read_text()
    assert json.loads(judged(project, "-d", dataset, "--wrong", "none").stdout)["precision"] == 1


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--wrong", "6"), "no caption 6"),
        (("--wrong", "two"), "'two' is no number"),
        (("-d", "stamps"), "dvc repro split@stamps"),
        (("-d", "nothing"), "nothing"),
    ],
)
def test_what_cannot_be_judged_is_refused_in_one_line(project, words, problem) -> None:
    done = judged(project, *words)
    assert done.returncode and problem in done.stderr.decode() and len(done.stderr.decode().splitlines()) <= 2
    assert not (project / "ratings" / "kept").exists()
