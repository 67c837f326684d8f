"""No page costs a reader more than its budget, and reading takes steps linear in the size of the page.

The sizes here are those at which reading in quadratic time takes many minutes, so that a test of it never ends in time.
"""

from __future__ import annotations

import pickle
import re

import pytest

from components.execution.limits import run_limited
from components.web.budget import Budget
from components.web.html import page as reading
from components.web.html.offers import parse_srcset
from components.web.html.page import fold, read_page
from components.web.html.page_limits import SMALL, PageOverBudget, Source, call_limited, read_pages_within
from components.web.urls import DEEPEST, LONGEST, make_absolute

PAGE = "http://a.sample/folder/page.html"
MANY = 250_000


@pytest.mark.long
def test_a_long_srcset_is_read_in_one_pass():
    assert len(parse_srcset("a 1x, b, " * 600_000)) == 1_200_000
    assert parse_srcset("," * 5_000_000) == []


@pytest.mark.long
@pytest.mark.parametrize("inner", ["{}", "<picture>{}</picture>", "<source srcset='n.png 8w'>{}"])
def test_the_sources_of_a_picture_are_read_once(inner):
    images = inner.format("<img src=a>" * 40_000)
    result = read_page(f"<picture>{'<source srcset=s.png>' * 40_000}{images}</picture>", PAGE).candidates
    assert len(result) == 40_000 and len({candidate.image_url for candidate in result}) == 1


def test_a_picture_element_uses_only_its_own_sources():
    html = "<picture><source srcset='o.png 5w'><picture><source srcset='i.png 9w'><img src=a></picture><img src=b></picture>"
    assert [c.image_url for c in read_page(html, PAGE).candidates] == [f"http://a.sample/folder/{name}.png" for name in "io"]


def test_the_figcaption_of_many_images_is_read_once():
    html = f"<figure>{'<img src=a>' * 5_000}<figcaption>{'long &amp;amp; ' * MANY}</figcaption></figure>"
    result = read_page(html, PAGE).candidates
    assert {c.figcaption for c in result} == {("long & " * 300)[:2000].rstrip()} and len(result) == 5_000


@pytest.mark.long
@pytest.mark.parametrize(
    "piece", ["&amp;", "&#1;", "& ", "&" * 8, "&#", "&#x", "&a", "\x9b ", "&lt;&#" + "0" * 50, "\u202e\u200b", "<a b='&"]
)
def test_long_texts_are_folded(piece):
    assert fold("&amp; " + piece * MANY).startswith("&")


@pytest.mark.parametrize(("digits", "character"), [("1" * 5_000, "\ufffd"), ("0" * 5_000 + "65", "A"), ("0" * 9_000, "\ufffd")])
def test_a_number_of_thousands_of_digits_is_a_character_reference(digits, character):
    assert fold(f"&amp; &#{digits}; x &#{digits}y") == f"& {character} x {character}y"


def test_control_characters_are_removed_but_white_space_kept():
    assert fold("a\x9b31mb\x90c\x9cd") == "a31mbcd"
    assert fold("".join(map(chr, [*range(0x7F, 0x85), *range(0x86, 0xA0)]))) == ""
    assert fold("one\x85two") == "one two"  # a line's end
    (candidate,) = read_page("<img src=a alt='&#x9d;a &amp;#x9d; b'>", PAGE).candidates
    assert not re.search("[\x80-\x9f]", candidate.alt)


def test_direction_marks_are_removed_but_joiners_kept():
    assert fold("a\u202eb\u2066c\u061cd\u034fe\u206af\ufff9g\U000e0001h") == "abcdefgh"
    for whole in ("👩\u200d👧", "नम\u200dस्ते", "می\u200cخواهم", "❤\ufe0f", "\U0001f3f4\U000e0067\U000e0062\U000e007f", "ᠠ\u180b"):
        assert fold(whole) == whole


SLOW = {
    "misnested formatting": lambda n: "".join(f"<b a={i}>" for i in range(n)) + "<div>" * n + "</b>" * n,
    "formatting opened again": lambda n: "<p>" + "".join(f"<b a={i}>" for i in range(n)) + "<p>x" * n,
    "formatting": lambda n: "".join(f"<font color={i}>" for i in range(n)),
    "attributes": lambda n: "<img " + " ".join(f"a{i}=1" for i in range(n)) + ">",
    "attributes of the body": lambda n: "".join(f"<body a{i}=1>" for i in range(n)),
    "end tags of nothing": lambda n: "<span>" * n + "</x>" * n,
    "items in spans": lambda n: "<span>" * n + "<dd>" * n,
    "spans in a link": lambda n: "<a>" + "<span>" * n,
    "text after the body": lambda n: "<span>" * n + "</body>x" * n,
    "names": lambda n: "".join(f"<x{i}>" for i in range(n)),
    "names of attributes": lambda n: "".join(f"<i x{i}></i>" for i in range(n)),
    "options": lambda n: "<select>" + "<option>x</option>" * n,
    "foreign end tags": lambda n: "<svg>" + "<g>" * n + "</x>" * n,
    "lists": lambda n: "<dl><dd>" * n,
    "rules": lambda n: "<span>" * n + "<hr>" * n,
}


def read_within(html, budget):
    """One page read within a budget."""
    (result,) = read_pages_within([Source(html, PAGE, None)], budget)
    if isinstance(result, Exception):
        raise result
    return result


@pytest.mark.long
@pytest.mark.parametrize("kind", ["misnested formatting", "attributes", "end tags of nothing", "options"])
def test_slow_markup_is_over_budget(kind):
    with pytest.raises(PageOverBudget) as over:
        read_within(SLOW[kind](MANY), Budget(page_seconds=0.5))
    assert (over.value.reason, over.value.threshold) == ("out of CPU time", "0.5 s")


@pytest.mark.long
def test_formatting_reopened_by_every_paragraph_is_over_budget():
    with pytest.raises(PageOverBudget):
        read_within(SLOW["formatting opened again"](20_000), Budget(page_seconds=3.0, page_memory=1 << 28))


@pytest.mark.long
@pytest.mark.parametrize("kind", SLOW)
def test_a_page_read_without_a_child_uses_little_memory(kind):
    size = next(n for n in range(10, SMALL) if len(SLOW[kind](n)) > SMALL)
    html = SLOW[kind](size - 1)
    assert len(html) <= SMALL
    (result,) = run_limited(lambda page: len(read_page(page, PAGE).candidates), [html], seconds=30, memory=1 << 28)
    assert isinstance(result, int)


@pytest.mark.long
def test_pages_of_a_batch_are_independent():
    slow, good = SLOW["attributes"](MANY), "<img src=x>" + "<p>word" * 5_000
    pages = [Source(html, PAGE, None) for html in (good, slow, "<img src=small>", good, slow)]
    result = read_pages_within(pages, Budget(page_seconds=0.5))
    assert [getattr(page, "reason", "") or len(page.candidates) for page in result] == [
        1,
        "out of CPU time",
        1,
        1,
        "out of CPU time",
    ]


def test_an_internal_error_is_reported_for_its_page(monkeypatch):
    def broken(html, *_, **__):
        if b"odd" in html:
            raise ZeroDivisionError("a defect")
        return read_page(html, PAGE)

    monkeypatch.setattr("components.web.html.page_limits.read_page", broken)
    pages = [Source(html, PAGE, None) for html in (b"odd", b"fine", b"odd" * SMALL, b"fine" * SMALL)]
    assert [type(one).__name__ for one in read_pages_within(pages, Budget())] == ["ZeroDivisionError", "Page"] * 2


@pytest.mark.parametrize("html", ["<img src=a>" * 11, "<img src=a>" * 40_000])
def test_a_page_of_too_many_images_is_over_budget(html):
    with pytest.raises(PageOverBudget) as over:
        read_within(html, Budget(page_images=10))
    assert over.value.reason == f"{html.count('<img')} images" and over.value.threshold == "10 images"


@pytest.mark.long
@pytest.mark.parametrize("copies", [20, 20_000])
def test_links_over_the_budget_are_left_out_and_the_rest_is_as_without_one(copies):
    html = "".join(f"<a href={i % 90}>x</a><a href=mailto:x>" for i in range(copies))
    whole = read_page(html, PAGE)
    page = read_within(html, Budget(page_links=7))
    assert page.links == whole.links[:7] and len(whole.links) > 7
    assert read_within(html, Budget()) == whole


def test_a_page_that_runs_out_of_memory_or_time_or_ends_the_process_is_over_budget(monkeypatch):
    html = "<p>x" * 1_000_000
    with pytest.raises(PageOverBudget) as over:
        read_within(html, Budget(page_memory=1 << 22))
    assert over.value.reason in ("out of memory", "the parser crashed")  # as the allocation is Python's or lexbor's

    def spin(*_args, **_given):
        while True:
            pass

    monkeypatch.setattr("components.web.html.page_limits.read_page", spin)
    with pytest.raises(PageOverBudget) as over:
        read_within(html, Budget(page_seconds=0.5))
    assert (over.value.reason, over.value.threshold) == ("out of CPU time", "0.5 s")


def test_over_budget_survives_pickling():
    over = pickle.loads(pickle.dumps(PageOverBudget("12 images", "10 images")))
    assert (over.reason, over.threshold) == ("12 images", "10 images")
    assert reading.PageOverBudget is PageOverBudget
    with pytest.raises(PageOverBudget):
        call_limited(lambda: reading.check_image_count(3, 2), Budget())


def test_long_addresses_are_refused_without_joining():
    assert make_absolute("/" + "a" * LONGEST, PAGE) is None and make_absolute("é" * 2_000, PAGE) is None
    assert make_absolute("a", "http://a.sample/" + "b/" * LONGEST) is None
    assert make_absolute("/" + "a" * 8_000, PAGE) == "http://a.sample/" + "a" * 8_000
    assert make_absolute("http://a" + "\u0327\u0301" * 4_000, PAGE) is None
    assert make_absolute("a", "http://a.sample/" + "b/" * DEEPEST) is None and make_absolute("b/" * DEEPEST, PAGE) is None
    assert make_absolute("?" + "b/" * DEEPEST, PAGE) is not None
    html = f"<base href='/{'a/' * 2_000_000}'>" + "<a href=x>x</a>" * 50_000 + "<img src=y>"
    assert read_page(html, PAGE).candidates[0].image_url == "http://a.sample/folder/y"
