"""The link of a quoted post leaves whole, and the hashtags of extraction are those of the crawl."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.core.hashtags import match_hashtag
from components.stages.crawl.posts.fields import html_to_text
from tests.stages.extract_descriptions.captions import found

TEXT = "Foto de um barco azul na praia ao entardecer."
LINK = "https://e.example/@ana/1131"
ANCHOR = (
    f'<a href="{LINK}" rel="nofollow noopener" target="_blank"><span class="invisible">https://</span>'
    '<span class="ellipsis">e.example/@ana/11</span><span class="invisible">31</span></a>'
)


@pytest.mark.parametrize(
    "caption",
    [
        f"#PraCegoVer {TEXT}\n\nRE: {LINK}",
        f"#PraCegoVer {TEXT} RE: {LINK}",
        f"#PraCegoVer {TEXT}\nRE:\n{LINK}",
        f"#PraCegoVer {TEXT} (RE: {LINK})",
        f"#PraCegoVer {TEXT} Re: {LINK}.",
        f"#PraCegoVer {TEXT}\n\nQT: [{LINK}]",
        f"#PraCegoVer {TEXT} RE: <{LINK}>",
        f"#PraCegoVer {TEXT} RE：{LINK}",
        f"#PraCegoVer\nRE: {LINK}\n\n{TEXT}",
        f"#PraCegoVer RE: {LINK} {TEXT}",
        f"RE: {LINK}\n\n#PraCegoVer {TEXT}",
        f"#PraCegoVer {TEXT}\n\nRE: {LINK}\n\n#mar #praia",
        html_to_text(f'<p class="quote-inline">RE: {ANCHOR}</p><p>#PraCegoVer {TEXT}</p>'),
        html_to_text(f'<p>#PraCegoVer {TEXT}<span class="quote-inline"><br/><br/>RE: {ANCHOR}</span></p>'),
        f'<p>#PraCegoVer {TEXT}</p><p class="quote-inline">RE: {ANCHOR}</p>',
    ],
)
def test_the_link_of_a_quoted_post_leaves_whole(caption: str) -> None:
    assert found(caption).text == TEXT


@pytest.mark.parametrize("text", ["Placa com o texto RE: aberto, na praia.", "Mulher lê o recurso RE: 12 na praia."])
def test_re_without_a_link_stays(text: str) -> None:
    assert found(f"#PraCegoVer {text}").text == text


ACCENTS = {"a": "aáÁàâã", "e": "eéÉê", "o": "oóÓô", "p": "pP𝗣𝗽", "c": "cCçＣ", "v": "vVＶ"}
LETTERS = [st.sampled_from(ACCENTS.get(letter, letter + letter.upper())) for letter in "pracegover"]
SPELLED = st.tuples(*LETTERS, *[st.sampled_from(["", "", "_", "__", "-", " ", "\u200b"]) for _ in range(2)], st.booleans())


@settings(max_examples=200, deadline=None)
@given(
    SPELLED,
    st.sampled_from(["#", "＃", "﹟", "##", "# "]),
    st.sampled_from(["", "x", "_", "(", "/"]),
    st.sampled_from(["", "_", "s", "1"]),
)
def test_each_joined_hashtag_that_extraction_accepts_is_one_to_the_crawl(spelled, sign: str, before: str, behind: str) -> None:
    *letters, first, second, decomposed = spelled
    word = "".join([*letters[:3], first, *letters[3:7], second, *letters[7:]])
    caption = f"{before}{sign}{unicodedata.normalize('NFD' if decomposed else 'NFC', word)}{behind} {TEXT}"
    accepted = found(caption).reason not in ("no_tag", "tag_in_word")
    joined = not {"-", " "} & {first, second}
    assert not (accepted and joined) or match_hashtag(caption, ("pracegover", "pracegovers")) == "word"
