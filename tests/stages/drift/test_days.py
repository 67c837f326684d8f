"""Days of posts: what is new is counted, a changed day warns in its check and on its page, a repeated one changes nothing."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import pytest

from components.core.digests import sha256_file
from components.core.errors import HearsightError
from components.stages.check import check
from components.stages.drift.history import before, history_path, read_history
from tests.stages.drift.support import Measure
from tests.support import PROJECT
from tests.support.crawl.social import Social

USUAL = {"least_days": 4}
PEOPLE = 8


def people(web: Social) -> None:
    for number in range(PEOPLE):
        web.person(f"p{number}")


def usual_posts(web: Social, day: int, source: random.Random) -> None:
    """Add a day's posts: two of three accounts write one of some words."""
    for number in range(PEOPLE):
        if source.random() < 0.67:
            words = " ".join(["palavra"] * source.randint(5, 9))
            web.post(f"p{number}", day * 1000 + number * 10 + 1, f"<p>#PraCegoVer {words}</p>")


def line(root: Path, snapshot: str) -> dict:
    (found,) = [day for day in read_history(history_path(root, "portuguese")) if day.snapshot == snapshot]
    return {name: (family.of, family.counts) for name, family in found.families.items()}


@pytest.mark.long
def test_the_counts_are_those_of_the_days_new_records_and_of_all_requests(social: Social, measure_day: Measure, tmp_path: Path):
    people(social)
    for number in range(3):
        social.post(f"p{number}", number + 1, "<p>#PraCegoVer a b c</p>")
    social.post("p0", 10, "<p>#PraCegoVer dropped by the split</p>")
    measure_day("day-1")
    first = line(tmp_path, "day-1")
    assert first["owners/candidates"] == (4, {"largest": 2, "distinct": 3})
    assert first["pass rates/split"] == (4, {"kept": 3, "duplicate_across_sides": 1})
    social.post("p0", 101, "<p>#PraCegoVer two words</p>", language="en")
    social.post("p5", 102, "<p>#PraCegoVer two words</p>", language="en")
    social.people["p1"].locked = True
    measure_day("day-2", "day-1")
    second = line(tmp_path, "day-2")
    assert second["owners/candidates"] == (2, {"largest": 1, "distinct": 2, "new": 1})
    assert second["languages/candidates"] == (2, {"en": 2}) and second["pass rates/split"] == (2, {"kept": 2})
    assert second["errors/pages"][1]["account_private"] and second["errors/pages"][0] > 3
    assert [day.new for day in read_history(history_path(tmp_path, "portuguese"))] == [False, True]
    measure_day("day-3", "day-2")
    assert line(tmp_path, "day-3")["owners/candidates"][0] == 0
    measure_day("day-5", "day-3")  # its base has a line, the day between was never measured
    shutil.rmtree(tmp_path / "reports")
    measure_day("day-6", "day-5")
    assert line(tmp_path, "day-6")["owners/candidates"][0] == 5  # nothing is known of its base: all records


@pytest.mark.long
def test_a_changed_day_warns_in_its_check_and_on_its_page(social, collect, compare, tmp_path):
    shutil.copytree(PROJECT / "expectations", tmp_path / "expectations")
    source = random.Random(7)
    people(social)
    for day in range(5):
        usual_posts(social, day, source)
        output = compare(collect(f"day-{day}", f"day-{day - 1}" if day else ""), **USUAL)
    assert {row["finding"] for row in output.table().to_pylist()} == {""}
    usual_posts(social, 5, source)
    for number in range(30):  # one account floods, in another language, with longer texts
        text = " ".join(["word"] * 40) + f" {number}"
        social.post("p3", 9001 + number * 10, f"<p>#PraCegoVer {text}</p>", language="en")
    inputs = collect("day-5", "day-4")
    output = compare(inputs, **USUAL)
    warnings = check(tmp_path, "portuguese", "drift").warnings
    text = " ".join(warning.found for warning in warnings)
    for part in ("language en", "language pt", "largest owner", "words per caption"):
        assert part in text
    page = output.file("drift.html").read_text()
    assert "<script" not in page and page.count('class="outside"') >= 4 and "outside the usual range on day-5" in page
    assert "language en" in output.file("summary.txt").read_text()
    digest, lines = sha256_file(output.path / "manifest.json"), history_path(tmp_path, "portuguese").read_bytes()
    again = compare(inputs, **USUAL)
    assert sha256_file(again.path / "manifest.json") == digest and history_path(tmp_path, "portuguese").read_bytes() == lines
    since = compare(inputs, **USUAL, since="day-3")
    assert {row["days"] for row in since.table().to_pylist()} == {2} and "not enough days" in since.file(
        "summary.txt"
    ).read_text()
    with pytest.raises(HearsightError, match="there is no day 'day-9'"):
        compare(inputs, since="day-9")


def test_a_repeated_day_replaces_its_line_and_is_compared_with_those_above(social: Social, measure_day: Measure, tmp_path: Path):
    people(social)
    social.post("p0", 1)
    measure_day("day-1")
    measure_day("day-2", "day-1")
    measure_day("day-1")
    history = read_history(history_path(tmp_path, "portuguese"))
    assert [day.snapshot for day in history] == ["day-1", "day-2"]
    assert before(history, "day-1") == [] and [day.snapshot for day in before(history, "day-3")] == ["day-1", "day-2"]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda text: text[:-20], "is not the line of a day"),
        (lambda text: text.replace('"schema":1', '"schema":9'), "another version"),
        (lambda text: text + text, "two lines of 'day-1'"),
        (lambda text: text + json.dumps(["day-2"]) + "\n", "is not the line of a day"),
    ],
)
def test_a_damaged_history_is_refused_in_one_line_and_kept(social, measure_day, tmp_path, damage, message):
    people(social)
    measure_day("day-1")
    path = history_path(tmp_path, "portuguese")
    path.write_text(damage(path.read_text()))
    damaged = path.read_bytes()
    with pytest.raises(HearsightError, match=message):
        measure_day("day-1")
    assert path.read_bytes() == damaged
