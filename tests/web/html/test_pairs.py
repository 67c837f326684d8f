"""The fast reading of a page gives what the DOM reading gives, whatever the page holds."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from components.web.budget import Budget
from components.web.html import pairs as fast
from components.web.html.candidate import fold, is_folded
from components.web.html.offers import LAZY, LAZY_SETS
from components.web.html.page import read_page
from components.web.html.page_limits import PageOverBudget, Source
from components.web.html.pairs import read_fast
from components.web.html.resolve import Resolver
from components.web.html.scan import scan
from components.web.urls import make_absolute


def pairs_of(html, page_url, hint=None):
    """The fast reading of pairs alone: an undeclared language would be read from the tree."""
    return read_fast(html, page_url, hint, context=False).candidates


def dom_pairs_of(html, page_url, hint=None):
    return read_page(html, page_url, hint).candidates


def words(text):
    return text.split()


PAGE = "http://a.sample/folder/page.html?q"

PHOTO = "http://a.sample/photo.jpg"
PLACEHOLDERS = ["/blank.gif", "data:image/gif;base64,R0", "", "/loading.svg"]
TWIN = "<noscript>\n<!-- c --><img src=/photo.jpg alt='A cat'></noscript>"


def urls(html):
    """What both readers say."""
    fast, slow = pairs_of(html, PAGE), dom_pairs_of(html, PAGE)
    assert fast == slow
    return [candidate.image_url for candidate in fast]


@pytest.mark.parametrize("placeholder", PLACEHOLDERS)
@pytest.mark.parametrize("name", LAZY + LAZY_SETS)
def test_an_address_of_lazy_loading_goes_before_the_placeholder(name, placeholder):
    for tag_ in (
        f"<img src='{placeholder}' srcset='{placeholder or 'x'} 1w' {name}=/photo.jpg alt='A cat'>",
        f"<picture><source srcset='{placeholder or 'x'} 99w'><img src='{placeholder}' {name}='/photo.jpg' alt='A cat'></picture>",
    ):
        assert scan(tag_).plain
        assert urls(tag_) == [PHOTO]
    if name in LAZY_SETS:
        small = f"{name}='/small.jpg 300w, /photo.jpg 900w'"
        assert urls(f"<picture><source {small}><img src='{placeholder}' srcset='/b.png 999w' alt='A cat'></picture>") == [PHOTO]


@pytest.mark.parametrize(
    "value",
    [
        *words('{{photo.url}} <%=/a%> [[+image.src]] ["/a.jpg"] true 1200 1.5 #photo.jpg javascript:a.b /film.mp4 /${id}.jpg'),
        "",
        " ",
    ],
)
def test_what_is_no_address_of_an_image_leaves_src(value):
    for name in LAZY:
        assert urls(f"<img src=/photo.jpg alt='A cat' {name}='{value}'>") == [PHOTO]
    for name in LAZY_SETS:
        assert urls(f"<img src=/photo.jpg alt='A cat' {name}='{value} 900w'>") == [PHOTO]


@pytest.mark.parametrize("lazy", ["data-src=/photo.jpg", "data-src={{x}}", "class=lazy"])
@pytest.mark.parametrize("placeholder", PLACEHOLDERS)
def test_an_image_and_its_twin_for_browsers_without_scripts_are_one(placeholder, lazy):
    image = f"<img src='{placeholder}' {lazy} alt='A cat'>"
    twin = TWIN.replace("<img", "<img srcset=/photo.jpg")
    for html in (
        image + TWIN,
        f"<picture>{image}</picture> {TWIN}",
        f"<a>{image}</a><p>{twin}",
        f"<body>{TWIN}{image}",
        f"<body>{TWIN}<a>{image}",
    ):
        assert scan(html).plain
        assert urls(html + "<img src=/other.jpg>") == [PHOTO, "http://a.sample/other.jpg"]
    picture = f"{image}<noscript><picture><source srcset='/photo.jpg 900w'><img src=/small.jpg alt='A cat'></picture></noscript>"
    assert urls(picture) == [PHOTO]


def test_an_image_takes_one_twin_without_script():
    html = f"<img src=/a.gif data-src=/photo.jpg alt='A cat'>{TWIN}<img src=/other.jpg alt='A cat'>"
    assert urls(html) == [PHOTO, "http://a.sample/other.jpg"]
    inside = (
        "<picture><source data-srcset='/photo.jpg 9w'><noscript><img src=/a.jpg alt=A></noscript><img src=/b.gif alt=A></picture>"
    )
    assert urls(inside) == [PHOTO]


@pytest.mark.parametrize("name", [*LAZY, *LAZY_SETS])
def test_a_source_may_have_every_attribute_of_lazy_loading(name):
    assert urls(f"<picture><source {name}=/photo.jpg><img src=/blank.gif alt='A cat'></picture>") == [PHOTO]


@pytest.mark.parametrize("value", ["/spacer.gif", "blank.gif?v=1", "/a/1x1.png", "https://b.example/Loading.svg#x", "/same.jpg"])
def test_a_placeholder_in_an_attribute_of_lazy_loading_is_ignored(value):
    assert urls(f"<img src=/photo.jpg data-lazy='{value}' alt='A cat'>") in ([PHOTO], ["http://a.sample/same.jpg"])
    assert urls(f"<img src='{value}' data-src='{value}' data-original=/photo.jpg alt='A cat'>") == [PHOTO]


def test_a_set_goes_before_src_of_the_same_size_as_in_browsers():
    assert urls("<img src=/blank.gif srcset='/photo.jpg 1x' alt='A cat'>") == [PHOTO]
    assert urls("<img src=/a.gif data-src=/b.jpg data-srcset='/photo.jpg' loading=lazy alt='A cat'>") == [PHOTO]


def test_other_images_without_script_are_images_of_their_own():
    assert urls(f"<img src=/a.jpg alt='A dog'>{TWIN}") == ["http://a.sample/a.jpg", PHOTO]
    assert urls(f"{TWIN}<noscript><div><img src=/pixel.gif></div></noscript>") == [PHOTO, "http://a.sample/pixel.gif"]
    assert urls("<img src=/a.jpg alt=''><noscript><img src=/pixel.gif alt=''></noscript>")[1] == "http://a.sample/pixel.gif"
    assert urls("<img src=/large.jpg data-src=/b.jpg alt='A cat'>" + TWIN) == ["http://a.sample/b.jpg"]


@pytest.mark.parametrize("name", [" robots", "robots\n", "&#32;robots", "\xa0robots", "HearSight\x1f"])
def test_white_space_around_a_robots_name_is_ignored_by_both_readers(name):
    html = f'<img src=a><meta name="{name}" content=noindex>'
    for markup in (html, html.encode(), f"<meta charset=utf-8>{html}".encode()):
        statements = read_page(markup, PAGE).statements
        assert [statement.text for statement in statements] == ["noindex"]
        assert read_fast(markup, PAGE).statements == read_fast(markup, PAGE, context=False).statements == statements


REAL = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>A "b" page</title><base href="/x/">
<meta name="robots" content="index"><style>a>b{}</style><script>if (a<b) document.write("<img src='no'>")</script></head>
<body class='x y'><a href="b.html" title='x "y"'><img src="a.png" alt="A cat &amp; a dog" width=3></a><p>text <b>bold</b></p>
<picture><source srcset="a.webp 1x, b.webp 2x" type='image/webp'><img src="c.jpg" alt='It is "c"'></picture><!-- <img src=h> -->
<table><tr><td><img src="d.png" alt="D"></td></tr></table><svg><title>t</title><path d="M0 0"/></svg><noscript><img></noscript>
<select><option>a<option>b</select><textarea><img></textarea><figure><img src=e.gif alt="e"><figcaption>E</figcaption></figure>
<template><img src=t></template><iframe src="q"><img></iframe><img data-src="f.png" src="data:," alt="last">
<meta name="hearsight " content='noindex'></body></html>"""
PUT = ['"', "'", "<", ">", "=", "/", "</", "<!--", "-->", "&", '<img src=z alt="', "<td>", "</table>", "<svg>", "<title>", " "]
PUT += ["<script>", "<picture>", "</picture>", '<meta name=" robots" content="noindex', '<base href="', "<!", "\xe9", "\r"]
CHANGE = st.tuples(st.integers(0, len(REAL)), st.integers(0, 80), st.sampled_from(["cut", "delete", "double", *PUT]))


def changed(page, changes):
    for at, size, what in changes:
        head, part, tail = page[:at], page[at : at + size], page[at + size :]
        page = {"cut": head, "delete": head + tail, "double": head + part + part + tail}.get(what, head + what + part + tail)
    return page


@settings(max_examples=1500, deadline=None)
@given(st.lists(CHANGE, max_size=6), st.integers(0, len(REAL)))
@example([], len(REAL))
def test_mutated_pages_read_equally_from_tags_and_tree(changes, end):
    html = changed(REAL, changes)[:end]
    for markup in (html, html.encode()):
        tags, tree = read_fast(markup, PAGE, context=False), read_page(markup, PAGE)
        assert tags.candidates == tree.candidates
        assert tags.statements == tree.statements
        whole = read_fast(markup, PAGE)
        assert (whole.candidates, whole.statements) == (tree.candidates, tree.statements)
        assert whole.language == tree.language or not tree.candidates


@pytest.mark.parametrize("name", ["figcaption", "FigCaption"])
def test_a_page_of_stated_language_gives_its_figcaptions(name):
    html = f"<html lang=en><figure><img src=a alt=b><{name}>A boat.</{name}></figure>"
    for markup in (html, html.encode(), f"<meta charset=utf-8>{html}".encode()):
        assert [c.figcaption for c in read_fast(markup, PAGE).candidates] == ["A boat."]


@given(st.text(max_size=20) | st.text("ab& \t\x7f", max_size=8))
def test_a_text_that_is_folded_is_unchanged_by_folding(alt):
    assert not is_folded(alt) or fold(alt) == alt


@pytest.mark.parametrize(
    "html",
    [
        "<p>An image: <img src=a.png alt='A cat'> in a <table><tr><td><img src=b.png></td></tr></table><img src=c.png>",
        "<script>if (a < b) document.write('<img src=no>')</script><style>a>b{}</style><title><img></title><img src=a>",
        "<picture><source srcset='a.webp 2x'><img src=b></picture><svg><title>t</title><path d='x'/></svg><img>",
        "<html lang=en><base href=/x/><!-- <img> --><template><img></template><select><option>a</select><img src=a>",
    ],
)
def test_ordinary_pages_are_read_without_a_tree(html):
    result = scan(html)
    assert result.plain
    assert len(result.images) == len(read_page(html, PAGE).candidates)


@pytest.mark.parametrize(
    "html",
    [
        "<table><td><img src=1></td><img src=2></table>",
        "<svg><image href=a /><img src=b></svg>",
        "<frameset><img></frameset>",
        "<script><!--<script></script><img src=1></script><img src=2>",
        "<picture><div><img src=1></div></picture>",
    ],
)
def test_pages_whose_tree_moves_images_use_the_tree(html):
    assert not scan(html).plain
    assert pairs_of(html, PAGE) == dom_pairs_of(html, PAGE)


@pytest.mark.long
def test_an_image_of_a_picture_does_not_read_its_sources_again():
    sources = "<source srcset='s.png 9w'>" * 60_000
    html = f"<picture>{sources}{'<img src=a>' * 60_000}</picture>"  # 3.6 billion offers, were each read for each image
    assert scan(html).plain
    page = read_fast(html, PAGE, context=False, budget=Budget(page_images=60_000))
    assert [c.image_url for c in page.candidates] == ["http://a.sample/folder/s.png"] * 60_000


def test_the_fast_reader_applies_the_budget():
    few = Budget(page_images=3)
    for html in ("<html lang=en>" + "<img src=a>" * 4, "<picture><p>" + "<img src=a>" * 4, "<img src=a>" * 50_000):
        with pytest.raises(PageOverBudget) as over:
            read_fast(html, PAGE, budget=few)
        assert (over.value.reason, over.value.threshold) == (f"{html.count('<img')} images", "3 images")
    assert read_fast("<img src=a>" * 3, PAGE, budget=few) == read_fast("<img src=a>" * 3, PAGE)


def test_reading_in_a_child_does_not_change_the_result():
    html = "<img src=a alt='A cat'><p>The cat sat on the mat and looked at the old, large, well-known garden.</p>" * 9_990
    assert len(html) > fast.LONG
    assert read_fast(html, PAGE) == fast.read_tags_or_tree(Source(html, PAGE, None), True, Budget())


@pytest.mark.parametrize("path", ["a/" * 3_000, "a/" * 200_000, "a" * 8_160, "a/" * 99])
@pytest.mark.parametrize(
    "reference",
    ["b.png", "../../b.png", "/b.png", "http://b.sample/" + "b" * 9_000, "b" * 8_000, "b/" * 99, "b/" * 250, "/" + "b/" * 300],
)
def test_long_addresses_resolve_as_absolute_does(reference, path):
    base = f"http://a.sample/{path}"
    assert Resolver(base)(reference) == make_absolute(reference, base)


@pytest.mark.long
def test_hostile_markup_takes_linear_time():
    for piece in (
        "<",
        "<img ",
        "<!--",
        "<a b=",
        "<td>",
        "</table><tr>",
        "<script>",
        "<picture>",
        "<svg>",
        "&",
        "<a '",
        '="',
        "<title",
        "<table><td>",
    ):
        html = piece * (400_000 // len(piece))
        assert [c.image_url for c in pairs_of(html, PAGE)] == [c.image_url for c in read_page(html, PAGE).candidates], piece


def test_the_scanner_knows_every_raw_text_element():
    for name in re.findall(r"\w+", "script style title textarea iframe xmp noembed noframes"):
        assert [c.image_url for c in pairs_of(f"<{name}><img src=no></{name}x></{name} ><img src=a>", PAGE)] == [
            "http://a.sample/folder/a"
        ]
