"""The fast reading of a page gives what the DOM reading gives, whatever the page holds."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from components.crawl.archives import pairs as fast
from components.crawl.archives.pairs import read_fast
from components.crawl.archives.resolve import Resolver
from components.crawl.archives.scan import scan
from components.crawl.html import fold, image_candidates, read_page
from components.crawl.urls import absolute


def pairs_of(html, page_url, hint=None):
    """The fast reading of pairs alone: a page's context would be read from its tree."""
    return read_fast(html, page_url, hint, context=False).candidates


def dom_pairs_of(html, page_url, hint=None):
    return [replace(candidate, figcaption="") for candidate in image_candidates(html, page_url, hint)]


def words(text):
    return text.split()


PAGE = "http://a.sample/folder/page.html?q"

TAGS = words("""img image picture source base script style title textarea iframe xmp
noembed noframes noscript svg math select option optgroup template plaintext frameset frame html head body table tr td
th tbody thead tfoot figure figcaption caption colgroup col a b i p div span
form button input br hr li ul nobr object video meta link pre h1 dd ruby rt font foreignObject desc mi annotation-xml""")
NAMES = words("src alt srcset data-src data-original data-lazy-src data-srcset href lang name content type class SRC Alt =x")
VALUES = words("""a.png /b.png ../c.png ./d e%20f //h.sample/x http://h.sample/y.jpg?a=1&amp;b=2 data:image/gif;base64,R0
&copy=1 &copy; &amp;quot; &#128; &#0; &#x110000; &notit; &not robots noindex image/avif image/webp en-GB <img> > --> </script>
a.png,b.png&#32;2x""")
VALUES += ["", "a 300w, b 900w", "c 1.5x,d 2x", "x > y", 'say "hi"', "it's", "caf\xe9\r\nx", " \t", "\u200b", "日本"]
TEXTS = [
    "x",
    " ",
    "\n",
    "<",
    "&amp;",
    "<!-- c -->",
    "<!-- <img src=no> -->",
    "<!-->",
    "<!--->",
    "<!--",
    "--!>",
    "-->",
    "<!doctype html>",
    "<?x <img>>",
]
TEXTS += [
    "</",
    "</>",
    "</ <img>>",
    "<![CDATA[",
    "]]>",
    "<script>",
    "</script>",
    "<!--<script>",
    "a < b",
    "\0",
    "\ud800",
    '"',
    "'",
    ">",
    "=",
    "/>",
]


@st.composite
def tag(draw):
    name = draw(st.sampled_from(TAGS[:24] + TAGS))
    if draw(st.booleans()):
        name = draw(st.sampled_from((name.upper(), name.title(), name)))
    if draw(st.integers(0, 2)) == 0:
        return f"</{name}>"
    given_ = draw(st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(VALUES), st.sampled_from('"\'"" ')), max_size=4))
    words = [name]
    for key, value, quote in given_:
        quote = quote.strip()
        words.append(f"{key}={quote}{value}{quote}" if draw(st.integers(0, 5)) else key)
    space = draw(st.sampled_from([" ", " ", "\n", "/", ""])) if draw(st.integers(0, 9)) == 0 else " "
    return "<" + space.join(words) + draw(st.sampled_from([">", ">", ">", " >", "/>", " />", ""]))


MARKUP = st.lists(st.one_of(tag(), tag(), tag(), st.sampled_from(TEXTS)), max_size=25).map("".join)
WELL = st.recursive(
    st.one_of(
        st.sampled_from(["x", "<img src=a.png alt='A b'>", "<!-- <td> -->", "<br>", "<svg><title>t</title><path d=x /></svg>"])
    ),
    lambda inner: st.tuples(
        st.sampled_from(words("div p table tr td th b a picture template svg select noscript ul li script style title caption")),
        st.lists(inner, max_size=4),
    ).map(lambda part: f"<{part[0]}>{''.join(part[1])}</{part[0]}>"),
    max_leaves=20,
)


EVERY = settings(max_examples=300, deadline=None)


@EVERY
@given(st.one_of(MARKUP, WELL))
def test_the_fast_reading_is_the_dom_reading(html):
    assert pairs_of(html, PAGE) == dom_pairs_of(html, PAGE)


@EVERY
@given(MARKUP)
def test_language_figcaptions_and_wishes_are_read_as_from_the_tree(html):
    fast, slow = read_fast(html, PAGE), read_page(html, PAGE)
    assert (fast.candidates, fast.noindex) == (slow.candidates, slow.noindex)
    if slow.candidates:
        assert fast.language == slow.language
    assert read_fast(html, PAGE, context=False).noindex == slow.noindex


@pytest.mark.parametrize("name", ["figcaption", "FigCaption"])
def test_a_page_of_stated_language_gives_its_figcaptions(name):
    html = f"<html lang=en><figure><img src=a alt=b><{name}>A boat.</{name}></figure>"
    for markup in (html, html.encode(), f"<meta charset=utf-8>{html}".encode()):
        assert [c.figcaption for c in read_fast(markup, PAGE).candidates] == ["A boat."]


@EVERY
@given(
    st.one_of(st.binary(max_size=300), MARKUP.map(lambda text: text.encode("utf-8", "replace"))),
    st.sampled_from([None, "utf-8", "latin-1", "shift_jis", "gb2312", "utf-16", "utf-7", "idna", "nonsense"]),
)
def test_bytes_of_any_charset_are_read_as_by_the_dom(html, hint):
    assert pairs_of(html, PAGE, hint) == dom_pairs_of(html, PAGE, hint)


REFERENCE = st.one_of(
    st.text(max_size=30),
    st.lists(
        st.sampled_from(
            [*"ab.1/?#%:;=&@-_~\\ ", "..", "./", "//", "http:", "https://", "%20", "h.sample", ":80", "xn--", "data:"]
        ),
        max_size=12,
    ).map("".join),
)


@settings(EVERY, max_examples=500)
@given(REFERENCE, st.one_of(st.just(PAGE), st.just("http://a.sample"), st.just("https://a.sample:8443/x/../y/;p/z"), REFERENCE))
@example("http://h.sample/a/.", PAGE)
@example("a/..", PAGE)
def test_references_resolve_as_absolute_does(reference, base):
    assert Resolver(base)(reference) == absolute(reference, base)


@given(st.text(max_size=20) | st.text("ab& \t\x7f", max_size=8))
def test_tidy_texts_are_those_that_folding_leaves_alone(alt):
    assert not fast.tidy(alt) or fold(alt) == alt


@pytest.mark.parametrize(
    "html",
    [
        "<p>An image: <img src=a.png alt='A cat'> in a <table><tr><td><img src=b.png></td></tr></table><img src=c.png>",
        "<script>if (a < b) document.write('<img src=no>')</script><style>a>b{}</style><title><img></title><img src=a>",
        "<picture><source srcset='a.webp 2x'><img src=b></picture><svg><title>t</title><path d='x'/></svg><img>",
        "<html lang=en><base href=/x/><!-- <img> --><template><img></template><select><option>a</select><img src=a>",
    ],
)
def test_ordinary_pages_need_no_tree(html):
    found = scan(html)
    assert found is not None
    assert len(found.images) == len(image_candidates(html, PAGE))


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
def test_pages_whose_tree_moves_images_are_left_to_the_tree(html):
    assert scan(html) is None
    assert pairs_of(html, PAGE) == dom_pairs_of(html, PAGE)


def test_a_megabyte_of_hostile_markup_takes_no_more_than_linear_time():
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
        assert [c.image_url for c in pairs_of(html, PAGE)] == [c.image_url for c in image_candidates(html, PAGE)], piece


def test_the_scanner_knows_every_raw_text_element():
    for name in re.findall(r"\w+", "script style title textarea iframe xmp noembed noframes"):
        assert [c.image_url for c in pairs_of(f"<{name}><img src=no></{name}x></{name} ><img src=a>", PAGE)] == [
            "http://a.sample/folder/a"
        ]
