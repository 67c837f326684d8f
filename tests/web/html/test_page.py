"""Pages are read as browsers read them, and never bring the reader down."""

from __future__ import annotations

import pytest

from components.web.html.offers import parse_srcset
from components.web.html.page import fold, read_page
from components.web.urls import is_private

PAGE = "http://a.sample/folder/page.html"


def one(html: str | bytes, hint: str | None = None):
    (candidate,) = read_page(html, PAGE, hint).candidates
    return candidate


def test_broken_entities_are_decoded_as_browsers_do():
    assert (
        one('<img src=a alt="Salt &amp pepper &bogus; caf&eacute &#8212 &#xZZ; &">').alt
        == "Salt & pepper &bogus; café — &#xZZ; &"
    )


def test_entities_escaped_twice_are_decoded_and_white_space_folded():
    assert one('<img src=a alt=" A &amp;quot;red&amp;quot;\n\t kite&nbsp;&#160; ">').alt == 'A "red" kite'


def test_relative_addresses_use_the_base():
    assert one("<img src='../b c.png#x' alt=x>").image_url == "http://a.sample/b%20c.png"
    assert one("<base href='//cdn.sample/x/'><img src=b.png alt=x>").image_url == "http://cdn.sample/x/b.png"
    assert one("<base href='/y/'><img src=b.png alt=x>").image_url == "http://a.sample/y/b.png"


def test_the_largest_srcset_offer_is_chosen():
    assert (
        one('<img src="s.png" srcset="m.png 300w, l.png 900w, broken.png 9q" alt=x>').image_url == "http://a.sample/folder/l.png"
    )
    assert one('<img src="s.png" srcset="m.png 1.5x,l.png 3x" alt=x>').image_url == "http://a.sample/folder/l.png"


def test_the_largest_decodable_source_of_a_picture_is_chosen():
    sources = '<source type="image/avif" srcset="a.avif 900w"><source srcset="b.png 400w, c.png 200w">'
    html = f'<picture>{sources}<img src="d.png" alt=x></picture>'
    assert one(html).image_url == "http://a.sample/folder/b.png"


def test_srcset_with_commas_inside_addresses():
    assert parse_srcset("data:image/png;base64,AAA= 1x, /i,1.png 2x") == [
        (0, 1.0, "data:image/png;base64,AAA="),
        (0, 2.0, "/i,1.png"),
    ]
    assert parse_srcset("a.png, b.png 2x") == [(0, 1.0, "a.png"), (0, 2.0, "b.png")]
    assert parse_srcset(",,,") == [] and parse_srcset("a,,, b 2x") == [(0, 1.0, "a"), (0, 2.0, "b")]
    assert parse_srcset("a,\x0bb 3w ,c") == [(3, 1.0, "a,\x0bb"), (0, 1.0, "c")]


def test_inline_images_are_marked_unless_they_are_placeholders():
    assert one('<img src="data:image/gif;base64,R0" alt=x>').data_uri
    lazy = one('<img src="data:image/gif;base64,R0" data-src="real.png" alt=x>')
    assert not lazy.data_uri and lazy.image_url == "http://a.sample/folder/real.png"


def test_an_empty_alt_differs_from_a_missing_one():
    first, second = read_page("<img src=a alt=''><img src=b>", PAGE).candidates
    assert (first.alt, first.has_alt, second.alt, second.has_alt) == ("", True, "", False)


def test_addresses_that_are_not_http_are_none():
    assert [one(f'<img src="{src}" alt=x>').image_url for src in ("ftp://h/x", "javascript:1", "http://[", "")] == [None] * 4


def test_links_are_absolute_unique_and_respect_nofollow():
    html = '<a href="b.html#x">1</a><a href="b.html">2</a><a rel="nofollow ugc" href="c.html">3</a>'
    html += '<a href="mailto:x@y">4</a><area href="/d">'
    assert read_page(html, PAGE).links == ["http://a.sample/folder/b.html", "http://a.sample/d"]
    page = read_page('<meta name="ROBOTS" content="NoIndex, nofollow"><a href=x>1</a>', PAGE)
    assert page.links == []


def test_controls_and_zero_width_characters_are_removed():
    assert fold("a\x07 red\u200b kite\ufeff") == "a red kite"


def test_private_addresses_are_recognised_in_every_spelling():
    for host in (
        "127.0.0.1",
        "10.1.2.3",
        "169.254.169.254",
        "[::1]",
        "::ffff:10.0.0.1",
        "localhost",
        "x.localhost",
        "127.1",
        "0x7f000001",
        "2130706433",
        "0",
        "fe80::1%eth0",
        "100.64.0.1",
        "printer.local",
        "::10.0.0.1",
        "::8.8.8.8",
        "fec0::1",
        "64:ff9b:1::1",
        "192.88.99.1",
        "::ffff:192.88.99.1",
        "64:ff9b::7f00:1",
        "64:ff9b::a00:1",
        "2002:7f00:1::",
        "2002:a00:1::1",
    ):
        assert is_private(host), host
    for host in ("gimp.sample", "8.8.8.8", "2606:4700::1111", "64:ff9b::808:808", "1e100.net"):
        assert not is_private(host), host


MENUS = """7.27. Edit Layer Mask 7. The “ Layer ” Menu 7.27. Edit Layer Mask When you click on the Edit Layer Mask item on the
Layer Mask submenu, a check is displayed. 7.27.1. Activate the Command"""
"""A manual's page of headings, which the model alone takes for Finnish."""


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ('<html lang="pt-BR"><body>The cat sat on the mat.</body></html>', "pt"),
        ("<html><body>The cat sat on the mat, and then it went to sleep in the warm kitchen.</body></html>", "en"),
        ("<html></html>", "un"),
        (f"<html><body>{MENUS}</body></html>", "en"),
        ("<html><body>Die Katze saß auf der Matte und schlief dann in der warmen Küche ein.</body></html>", "de"),
        ("<html><body>O gato sentou no tapete e depois dormiu na cozinha quente da casa.</body></html>", "pt"),
    ],
)
def test_the_language_is_declared_or_guessed(page, expected):
    assert read_page(page, "http://a.example/").language == expected


@pytest.mark.parametrize(
    ("html", "figcaptions"),
    [
        ("<figure><a><img src=a></a><figcaption>A <b>boat</b>\n at sea</figcaption></figure><img src=b>", ["A boat at sea", ""]),
        ("<figure><img src=a><figcaption>one<br>H<sub>2</sub>O<script>x</script></figcaption></figure>", ["one H2O"]),
        ("<figure><figure><img src=a></figure><figcaption>of all</figcaption></figure>", [""]),
        ("<figure><picture><img src=a></picture><figcaption>one</figcaption><figcaption>two</figcaption></figure>", ["one"]),
        ("<figcaption>of no figure</figcaption><img src=a>", [""]),
        ("<figure><figcaption>&amp;amp; <!-- no --><img src=a alt=no></figcaption></figure>", ["&"]),
        ("<figure><img src=a><figcaption>" + "long " * 1000 + "</figcaption></figure>", [("long " * 400).strip()]),
    ],
)
def test_an_image_gets_the_caption_of_its_figure(html, figcaptions):
    assert [candidate.figcaption for candidate in read_page(html, PAGE).candidates] == figcaptions


@pytest.mark.long
@pytest.mark.timeout(60)
@pytest.mark.parametrize("block", ["<figure><figcaption><img src=a>", "<ul><li>", "<DIV\nclass=x>", "</section><div></nav>"])
def test_deeply_nested_blocks_are_read_quickly(block):
    read_page(block * (4_000_000 // len(block)), PAGE)


@pytest.mark.parametrize("piece", ["<li>word", "<p>word", "<img src=a>", "<div></div></div>", "<td>"])
def test_a_long_flat_page_is_read_completely(piece):
    assert read_page(piece * 20_000 + "<img src=b>", PAGE).candidates[-1].image_url == "http://a.sample/folder/b"
