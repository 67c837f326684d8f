"""An alt-text is compared with the page around it as a reader would: words count, marks and case do not."""

from __future__ import annotations

from html import unescape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.web.html.context import Context, Repeated, agrees, index_headings, index_links, normalise, share_of
from components.web.html.page import fold, read_page

PAGE = "http://a.sample/folder/page.html"
HEADLINE = "Storm closes the harbour of Rotterdam"


def context_of(html: str) -> Context:
    (candidate,) = read_page(html, PAGE).candidates
    assert candidate.context is not None
    return candidate.context


def page(alt: str, head: str = "", body: str = "", image: str = "") -> Context:
    return context_of(f'<head>{head}</head><body><img src=a.jpg alt="{alt}" {image}>{body}')


@pytest.mark.parametrize(
    "alt",
    [HEADLINE, HEADLINE.upper(), f"{HEADLINE}.", f"Photo: {HEADLINE}", f"Illustration for article titled {HEADLINE}",
     "“Storm closes the harbour of Rotterdam”", "Storm  closes – the harbour of Rotterdam…", "Storm closes the harbour of"],
)  # fmt: skip
@pytest.mark.parametrize(
    ("head", "body", "kind"),
    [
        (f"<title>{HEADLINE}</title>", "", "title"),
        (f"<title>{HEADLINE} | The Harbour News</title>", "", "title"),
        (f"<title>The Harbour News of Rotterdam - {HEADLINE}</title>", "", "title"),
        (f"<meta property=og:title content='{HEADLINE}'>", "", "og:title"),
        ("", "<h2><a>Storm closes</a> the <em>harbour</em> of Rotterdam</h2>", "h2"),
    ],
)
def test_an_alt_text_repeats_titles_and_headings_up_to_a_small_rest(alt: str, head: str, body: str, kind: str) -> None:
    found = page(alt, head, body)
    assert (found.heading, found.heading_kind, found.link_text) == (HEADLINE, kind, None)


@pytest.mark.parametrize(
    "alt", ["Storm closes the school of Rotterdam", "harbour", "The harbour", "", "A ship leaves the harbour"]
)
def test_other_texts_and_short_parts_repeat_nothing(alt: str) -> None:
    found = read_page(f"<title>{HEADLINE}</title><img src=a alt='{alt}'><a href=b>{HEADLINE}</a>", PAGE).candidates[0].context
    assert found == (Context() if alt else None)


def test_a_text_of_a_link_is_repeated_and_the_alt_text_of_its_image_is_no_text() -> None:
    assert page("A storm at sea", body="<p><a href=/storm><b>A storm</b> at sea</a>").link_text == "A storm at sea"
    assert page("Rotterdam", body="<a href=/r>Rotterdam</a>").link_text == "Rotterdam"
    assert context_of("<a href=/big.jpg><img src=a alt='A storm at sea'></a>").link_text is None


def test_the_longest_share_is_chosen() -> None:
    texts = index_links(["One two three four", "one two three four five", "a " * 9, "one, two three four!"])
    assert texts.find("one two three four five six") == texts.find("two three four five") == "one two three four five"
    assert texts.find("one two three four") == "One two three four"
    assert texts.find("nothing at all of it") is None and index_links([]).find("one two three four") is None


@pytest.mark.parametrize(
    ("html", "url", "control"),
    [
        ("<a href='b.html'>{}</a>", "http://a.sample/folder/b.html", False),
        ("<a href=/b><span><b>{}</b></span></a>", "http://a.sample/b", False),
        ("<a href=/b role=Button>{}</a>", "http://a.sample/b", True),
        ("<a href='JavaScript:go()'>{}</a>", None, True),
        ("<a href=/b onclick='count()'>{}</a>", "http://a.sample/b", False),
        ("<a href='mailto:a@b.sample'>{}</a>", None, False),
        ("<button type=submit><span>{}</span></button>", None, True),
        ("<button>x</button><a href=/b>y</a>{}", None, False),
        ("<p>{}</p>", None, False),
    ],
)
def test_the_use_of_an_image_is_that_of_the_link_or_button_around_it(html: str, url: str | None, control: bool) -> None:
    found = context_of(html.format("<img src=a alt='A dog'>"))
    assert (found.link_url, found.control) == (url, control)


def test_an_image_states_role_size_and_control() -> None:
    found = page("A dog", image="role=' IMG ' width=300px height='50%' onclick='zoom()'")
    assert (found.role, found.layout_width, found.layout_height, found.control) == ("img", 300, None, True)


@pytest.mark.parametrize(
    ("value", "px"), [("300", 300), (" 12.5px ", 12), ("50%", None), ("", None), ("auto", None), ("9" * 9, None), ("0", 0)]
)
def test_sizes_are_whole_pixels(value: str, px: int | None) -> None:
    found = page("A dog", image=f"width='{value}' width=7 height='{value}'")
    assert (found.layout_width, found.layout_height) == (px, px)


def test_equal_texts_of_a_page_are_counted() -> None:
    html = "<img src=a alt='A dog.'><img src=b alt='a DOG'><img src=c alt='A cat'><img src=d alt=''>"
    assert [c.context and c.context.site_count for c in read_page(html, PAGE).candidates] == [2, 2, 1, None]


@pytest.mark.parametrize(
    ("alt", "figcaption", "expected"),
    [
        ("A boat", "", None),
        ("A boat.", "a boat", True),
        ("A fishing boat leaves the harbour", "The harbour in the morning: a boat leaves for fishing grounds.", True),
        ("A fishing boat leaves the harbour", "Photo: J. Smith", False),
    ],
)
def test_a_figcaption_agrees_when_it_has_most_of_the_words(alt: str, figcaption: str, expected: bool | None) -> None:
    assert agrees(alt, figcaption) is expected


def test_shares_are_those_of_words_in_a_row() -> None:
    assert share_of("A dog!", "a dog") == 1 and share_of("one two", "zero one two three") == 0.5
    assert share_of("one three", "one two three") == 0 and share_of("", "one") == 0
    assert normalise("The dog’s — “bone”, it's_fun…") == "the dogs bone its fun"


WORDS = st.lists(
    st.sampled_from(["storm", "Harbour", "é", "it’s", "the", "of", "news", "&amp;", "&eacute;t", "-", "42"]), max_size=9
).map(" ".join)


@settings(max_examples=300, deadline=None)
@given(WORDS, st.lists(st.tuples(st.sampled_from(["h1", "h3", "a href=/b", "title"]), WORDS), max_size=5))
def test_signatures_of_words_miss_no_text_that_is_repeated(alt: str, texts: list[tuple[str, str]]) -> None:
    """The compiled pass decodes only texts whose words may match: all of them are compared here."""
    html = "".join(f"<{tag}>{text}</{tag.split()[0]}>" for tag, text in texts)
    (candidate,) = read_page(f"<html lang=en>{html}<img src=a alt='{alt}'>", PAGE).candidates
    plain = [(tag, fold(unescape(text))) for tag, text in texts]
    titles = [Repeated(text, "title") for tag, text in plain if tag == "title"][:1]
    headings = index_headings([*titles, *(Repeated(text, tag) for tag, text in plain if tag[0] == "h")])
    heading, link = headings.find(normalise(candidate.alt)), index_links([text for tag, text in plain if tag[0] == "a"])
    found = candidate.context or Context()
    assert found.heading == (heading.text if heading else None)
    assert found.link_text == link.find(normalise(candidate.alt))
