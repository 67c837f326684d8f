"""Texts and addresses of any length end as rows of a bounded length, and change no other row."""

from __future__ import annotations

import pytest

from components.stages.crawl.records import Judge
from components.stages.crawl.sources.found import FoundPage, key_of
from components.stages.crawl.walk import Found
from components.stages.crawl.where import CUT, LONGEST_SHOWN, where_of
from components.web.budget import Budget
from components.web.html.page import Candidate
from components.web.urls import LONGEST

PAGE = "http://a.sample/page"
URL = "http://b.sample/a.jpg"


def found(url=URL, alt="a red house", page=PAGE, **changes):
    return Found(page, Candidate(image_url=url, alt=alt, position=0, source=url or "", **changes), note="")


def row_of(item, **settings):
    (verdict,) = Judge(1, **settings).verdicts([FoundPage(None, [item])])
    assert verdict.key == key_of(item)
    return verdict.row and {name: verdict.row[name] for name in ("rule", "value", "threshold")}


def test_an_alt_text_longer_than_the_budget_is_dropped_and_one_as_long_is_not():
    most = Budget().alt_characters
    assert row_of(found(alt="x" * most)) is None
    said = {"rule": "alt_too_long", "value": f"{most + 1} characters", "threshold": str(most)}
    assert row_of(found(alt="x" * (most + 1))) == said
    assert row_of(found(alt="abcdef"), max_alt=5) == {"rule": "alt_too_long", "value": "6 characters", "threshold": "5"}
    assert row_of(found(alt="x" * 1_200_000))["rule"] == "alt_too_long"


def test_an_alt_text_too_long_stands_for_no_other_pair():
    long, good = found(alt="y" * 20_000), found()
    verdicts = Judge(1).verdicts([FoundPage(None, [long, long, good])])
    assert [verdict.row and verdict.row["rule"] for verdict in verdicts] == ["alt_too_long", "alt_too_long", None]


def test_an_address_longer_than_servers_take_is_unusable():
    url = URL + "?" + "x" * LONGEST
    said = {"rule": "unusable_url", "value": f"{len(url)} characters", "threshold": f"at most {LONGEST} characters"}
    assert row_of(found(url=url)) == said
    assert row_of(found(url=url[:LONGEST])) is None


@pytest.mark.parametrize("size", [10, LONGEST_SHOWN + 1, 2_000_000])
def test_no_row_is_longer_than_the_ledger_can_hold_for_every_image(size):
    long = "x" * size
    items = [
        found(url=f"{URL}?{long}"),
        found(url=None, alt="a red house"),
        Found(PAGE, Candidate(None, "a red house", 0, long)),
        Found(PAGE, Candidate(None, "a red house", 0, f"data:image/png;base64,{long}", data_uri=True)),
        found(page=f"{PAGE}?{long}"),
        Found("", Candidate(URL, "a", 0, URL), archive="captions.tsv", offset=7, note=long),
    ]
    for item in items:
        assert len(where_of(item)) <= 2 * (LONGEST_SHOWN + CUT)
        (verdict,) = Judge(1).verdicts([FoundPage(None, [item])])
        row = verdict.row
        assert row is None or (len(row["value"]) <= CUT and len(row["detail"]) <= 2 * (LONGEST_SHOWN + CUT))


def test_an_address_is_told_whole_or_by_its_host_alone():
    whole = URL + "?" + "x" * (LONGEST_SHOWN - len(URL) - 1)
    assert where_of(found(url=whole)) == f"{whole} on {PAGE}"
    assert where_of(found(url=whole + "x")) == f"http://b.sample/… ({LONGEST_SHOWN + 1} characters) on {PAGE}"
    page = "http://c.sample/" + "y" * LONGEST_SHOWN
    assert where_of(found(page=page)) == f"{URL} on http://c.sample/… ({len(page)} characters)"
