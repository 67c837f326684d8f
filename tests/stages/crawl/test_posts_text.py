"""Conversion of post markup to plain text with line breaks, and matching of hashtags as words."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.core.hashtags import match_hashtag
from components.stages.crawl.posts import fields as posts_text
from components.stages.crawl.posts.fields import html_to_text
from components.web.budget import Budget

LINK = '<a href="https://a.org/x"><span class="invisible">https://</span><span class="ellipsis">a.org/x</span></a>'


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<p>um<br>dois</p><p>três</p>", "um\ndois\n\ntrês"),
        ("<p>um<br/><br/><br/>dois</p>", "um\n\ndois"),
        ("um\r\ndois &amp; três", "um dois & três"),
        ("um\r\ndois", "um\ndois"),
        (f"<p>veja {LINK} já</p>", "veja https://a.org/x já"),
        ('<p><a class="mention hashtag" href="x">#<span>PraCegoVer</span></a> foto</p>', "#PraCegoVer foto"),
        ("<ul><li>um</li><li>dois</li></ul>", "um\n\ndois"),
        ("<p>a &lt;b&gt; &#x1F600; &#233;</p>", "a <b> 😀 é"),
        ("<script>x</script><style>y</style><!-- z -->só", "só"),
        ("sem nada", "sem nada"),
        ("", ""),
        ("<", "<"),
    ],
)
def test_markup_becomes_the_displayed_lines(markup, text):
    assert html_to_text(markup) == text


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("#PraCegoVer foto", "word"),
        ("foto\n#pracegover.", "word"),
        ("(#PRACEGOVER)", "word"),
        ("\uff03pracegover", "word"),
        ("#pracegover!", "word"),
        ("#ParaCegoVer", "word"),
        ("#pracegoverbem", "inside"),
        ("#bompracegover", "inside"),
        ("x#pracegover", "inside"),
        ("#pracegover_2", "inside"),
        ("pracegover", "inside"),
        ("pra cego ver", ""),
        ("", ""),
        ("#descri\u00e7\u00e3odaimagem", "word"),
        ("#descric\u0327a\u0303odaimagem", "word"),
        ("#descricaodaimagem", "word"),
        ("#PráCegoVer foto de um barco", "word"),
        ("#Pra_Cego_Ver foto de um barco", "word"),
        ("#PRA_CEGO_VER_", "word"),
        ("# pracegover", "word"),
        ("\ufe5fPraCegoVer", "word"),
        ("\uff03\uff30\uff52\uff41\uff23\uff45\uff47\uff4f\uff36\uff45\uff52", "word"),
        ("#Pra\u0301CegoVer", "word"),
        ("#Pra\u200bCegoVer", "word"),
        ("#pra_cego_verem", "inside"),
        ("pra_cego_ver", "inside"),
    ],
)
def test_a_hashtag_matches_as_a_word_in_any_spelling(text, match):
    assert match_hashtag(text, ("pracegover", "paracegover", "descriçãodaimagem")) == match


def test_long_runs_of_combining_characters_are_truncated():
    row = "\u0301\u0323" * 200_000
    assert match_hashtag(f"#pracegover {row} a{row}", ("pracegover",)) == "word"
    assert match_hashtag(f"#pracego\u0301ver a{row}", ("pracegover",)) == "word"


MARKS = st.lists(
    st.sampled_from(["<p>", "</p>", "<br>", "<div", "&amp;", "<!--", "\0", "\ud800", "a", " ", "\n", "</"]) | st.text(max_size=5)
)


@settings(max_examples=200, deadline=None)
@given(MARKS.map("".join))
def test_any_markup_becomes_clean_text(markup):
    text = html_to_text(markup)
    assert text == text.strip() and "\0" not in text and "\r" not in text
    text.encode()
    match_hashtag(text, ("pracegover",))


@pytest.mark.long
def test_deeply_nested_markup_is_read_within_the_parser_budget(monkeypatch):
    monkeypatch.setattr(posts_text, "Budget", lambda: Budget(page_seconds=1.0))
    assert html_to_text("<div>" * 300_000 + "x") == ""
    assert html_to_text("<b>" * 5_000 + "#pracegover") == "#pracegover"


def test_a_post_over_the_parser_budget_is_read_up_to_the_budget(monkeypatch):
    monkeypatch.setattr(posts_text, "Budget", lambda: Budget(page_seconds=0.5))
    assert html_to_text("<p>first words</p>" + "<span>" * 200_000 + "</x>" * 200_000).startswith("first words")
    assert html_to_text("<p>word</p>" * 5_000).count("word") == 5_000
