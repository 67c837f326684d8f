"""Texts and addresses of any length become rows of bounded length and change no other row."""

from __future__ import annotations

import pytest

from components.stages.crawl.records import Judge
from components.stages.crawl.sources.local_images import SCHEME, file_url
from components.stages.crawl.sources.source_pages import (
    MAX_SHOWN_ADDRESS,
    MAX_SHOWN_TEXT,
    SourcePage,
    candidate_key,
    describe_location,
)
from components.web.budget import Budget
from components.web.html.page import Candidate
from components.web.urls import LONGEST
from tests.support.crawl.crawls import fixture_params

PAGE = "http://a.sample/page"
URL = "http://b.sample/a.jpg"


def page_with(url=URL, alt="a red house", page=PAGE):
    """Return a page with one image."""
    return SourcePage(None, [Candidate(image_url=url, alt=alt, position=0, source=url or "")], page)


def shown(page):
    return describe_location(page, *page.candidates)


def row_of(page, **settings):
    (verdict,) = Judge(fixture_params(**settings)).check([page])
    assert verdict.key == candidate_key(page, *page.candidates)
    return verdict.row and {name: verdict.row[name] for name in ("rule", "value", "threshold")}


def test_an_alt_text_over_the_budget_is_dropped_and_one_at_the_limit_is_kept():
    most = Budget().alt_characters
    assert row_of(page_with(alt="x" * most)) is None
    expected = {"rule": "alt_too_long", "value": f"{most + 1} characters", "threshold": str(most)}
    assert row_of(page_with(alt="x" * (most + 1))) == expected
    assert row_of(page_with(alt="abcdef"), budget=Budget(alt_characters=5)) == {
        "rule": "alt_too_long",
        "value": "6 characters",
        "threshold": "5",
    }
    assert row_of(page_with(alt="x" * 1_200_000))["rule"] == "alt_too_long"


def test_a_dropped_long_alt_text_is_not_the_first_of_a_duplicate_pair():
    long, good = page_with(alt="y" * 20_000), page_with()
    verdicts = Judge(fixture_params()).check([long, long, good])
    assert [verdict.row and verdict.row["rule"] for verdict in verdicts] == ["alt_too_long", "alt_too_long", None]


def test_a_file_name_over_the_address_limit_has_no_address():
    longest = "x" * (LONGEST - len(SCHEME))
    assert file_url(longest) == SCHEME + longest
    assert file_url(longest + "x") is None and file_url(" ") is None


@pytest.mark.parametrize("size", [10, MAX_SHOWN_ADDRESS + 1, 2_000_000])
def test_row_length_is_bounded_for_every_image(size):
    long = "x" * size
    pages = [
        page_with(url=f"{URL}?{long}"),
        page_with(url=None, alt="a red house"),
        SourcePage(None, [Candidate(None, "a red house", 0, long)], PAGE),
        SourcePage(None, [Candidate(None, "a red house", 0, f"data:image/png;base64,{long}", data_uri=True)], PAGE),
        page_with(page=f"{PAGE}?{long}"),
        SourcePage(None, [Candidate(URL, "a", 0, URL)], archive="captions.tsv", offset=7, note=long),
    ]
    for page in pages:
        assert len(shown(page)) <= 2 * (MAX_SHOWN_ADDRESS + MAX_SHOWN_TEXT)
        (verdict,) = Judge(fixture_params()).check([page])
        row = verdict.row
        assert row is None or (
            len(row["value"]) <= MAX_SHOWN_TEXT and len(row["detail"]) <= 2 * (MAX_SHOWN_ADDRESS + MAX_SHOWN_TEXT)
        )


def test_an_address_is_shown_in_full_or_as_its_host():
    whole = URL + "?" + "x" * (MAX_SHOWN_ADDRESS - len(URL) - 1)
    assert shown(page_with(url=whole)) == f"{whole} on {PAGE}"
    assert shown(page_with(url=whole + "x")) == f"http://b.sample/… ({MAX_SHOWN_ADDRESS + 1} characters) on {PAGE}"
    page = "http://c.sample/" + "y" * MAX_SHOWN_ADDRESS
    assert shown(page_with(page=page)) == f"{URL} on http://c.sample/… ({len(page)} characters)"
