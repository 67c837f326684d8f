"""What is true of every caption, whatever it holds."""

from __future__ import annotations

import html
import re
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from components.stages.extract_descriptions.extract import REASONS, ROUNDS
from components.stages.extract_descriptions.marks import MENTION, without_links
from components.stages.extract_descriptions.plain_text import without_emoji, without_html
from components.stages.extract_descriptions.words import count_words
from tests.stages.extract_descriptions.captions import CAPTIONS, RULES, found

MANY = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@MANY
@given(CAPTIONS)
def test_each_caption_gives_a_description_or_a_listed_reason_and_its_steps_follow_each_other(caption: str) -> None:
    result = found(caption)
    assert (result.text is None) == (result.reason is not None)
    assert result.reason is None or result.reason in REASONS
    for before, after in pairwise(result.steps):
        assert before.after == after.before
    assert all(step.before != step.after and step.step and step.reason for step in result.steps)
    if result.text is not None:
        assert result.steps[-1].after == result.text and count_words(result.text) > 3


@MANY
@given(CAPTIONS)
@example("#PraCegoVer Foto de uma praia. [Imagem 2: azul e verde]")
def test_an_extracted_description_after_the_tag_is_extracted_unchanged(caption: str) -> None:
    first = found(caption)
    if first.text is not None:
        for joined in ("#PraCegoVer ", "#PraCegoVer: ", "Bom dia!\n\n#PraTodosVerem\n"):
            assert found(joined + first.text).text == first.text


@MANY
@given(CAPTIONS)
def test_no_emoji_link_mention_or_hashtag_is_left_and_it_is_one_finished_line(caption: str) -> None:
    text = found(caption).text
    if text is not None:
        assert without_emoji(text) == text
        assert "://" not in text and without_links(text, RULES) == text and not MENTION.search(text)
        assert not re.search(r"[#＃]\w|(?<!\w)[@＠]\w", text)
        assert text == " ".join(text.split())
        assert re.search(r"[.!?…。！？][\"'”’»)\]}*]*$", text)


@MANY
@given(CAPTIONS)
def test_a_description_is_pieces_of_the_caption_in_order(caption: str) -> None:
    text = found(caption).text
    if text is not None:
        letters = iter(unicodedata.normalize("NFD", without_html(caption)))
        bare = unicodedata.normalize("NFD", text[:-1] if text.endswith(".") else text)
        wanted = [char for char in bare if char != " "]
        assert all(any(char == at for at in letters) for char in wanted)


SCRIPTS = st.characters(categories=["L"])
NUMBERS = st.integers(0, 10**6).map(str)
FRAME = "Foto de uma placa com o texto {} em um muro branco."


@MANY
@given(st.lists(st.one_of(st.text(SCRIPTS, min_size=1, max_size=8), NUMBERS), min_size=1, max_size=8).map(" ".join))
@example("東京駅 사랑 سلام ไทย देवनागरी")
@example("© 2020 Café® Alfa™ 38 ºC")
def test_the_description_keeps_letters_and_digits_of_every_script(inside: str) -> None:
    described = FRAME.format(inside)
    assert found(f"#PraCegoVer: {described}").text == unicodedata.normalize("NFC", described)


@MANY
@given(CAPTIONS)
@example("#PraCegoVer: e#\u0301a menina pula corda")
@example("#PraCegoVer: Tucano\ufe0f pousado\u200d em um galho\u00ad seco. \u200d\U0001f99c\u200d\ufe0f")
def test_a_description_is_in_unicode_nfc_without_invisible_characters(caption: str) -> None:
    text = found(caption).text
    if text is not None:
        assert unicodedata.is_normalized("NFC", text)
        assert not re.search("[\ufe00-\ufe0f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\x00-\x08]", text)
        assert not re.search("(?:^|[\\x00-\u024f])[\u200c\u200d]", text)


@MANY
@given(CAPTIONS)
def test_the_normal_form_of_a_caption_changes_nothing(caption: str) -> None:
    assert found(unicodedata.normalize("NFD", caption)).text == found(unicodedata.normalize("NFC", caption)).text


@MANY
@given(CAPTIONS)
def test_a_caption_escaped_for_html_once_or_twice_is_the_same_caption(caption: str) -> None:
    caption = without_html(caption)
    assert found(html.escape(html.escape(caption))).text == found(html.escape(caption)).text == found(caption).text


@pytest.mark.parametrize("word", ["می\u200cخواهم", "क्\u200dष", "ක්\u200dෂ", "র\u200d্যা"])
def test_joiners_are_kept_in_scripts_that_need_them(word: str) -> None:
    assert found(f"#PraCegoVer: Placa com a palavra {word} em azul.").text == f"Placa com a palavra {word} em azul."


@pytest.mark.parametrize("gap", ["\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u202a", "\ufe0f", "\x00"])
def test_an_invisible_character_changes_nothing_at_any_position(gap: str) -> None:
    caption = "Oi! #PraCegoVer: Moça de lenço \U0001f468\u200d\U0001f469\u200d\U0001f467 na praia. Fim da descrição. Tchau"
    for at in range(len(caption) + 1):
        assert found(caption[:at] + gap + caption[at:]).text == "Moça de lenço na praia."


@given(st.lists(st.sampled_from(["\n", "\r\n", "\t", "  ", "\xa0", "\u2003", "\u2800"]), min_size=1, max_size=3).map("".join))
def test_white_space_of_any_kind_is_one_space(gap: str) -> None:
    assert found(f"#PraCegoVer: Menina{gap}pula corda no quintal.").text == "Menina pula corda no quintal."


UNITS = [
    "palavra ", "#tag ", "#PraCegoVer ", "#PraCegoVer foto ", "@a ", "( ", "[[", "((( ", ")]", "\n.\n", "\U0001f600",
    "\U0001f469\u200d", "https://a.b/ ", "a@", "a.a.", "@a.", "Saiba mais no link. ", "Fim da ", "fim da descrição ",
    "Imagem 2: a. fim da descrição. ", "#PraCegoVer Imagem 2: foto da praia. ", "\"", "“", "e ",
    "Photo of a woman on the beach with a dog. ", "EN: ", "\U0001f1fa\U0001f1f8 Photo of a woman on the beach. ",
    "1\ufe0f\u20e3", ". ", ", ", "\n", " ", "\u2800", "[Imagem 2 foto da praia azul] ", "_", "#_", "www.", "http://",
    "\u0301", "a\u0301", "\uff03", "E: ", "AD: ", "Descrição: ", ".", ",", "!", "#", "@", "-", "?!", "...a", "# ",
    ", . ", "(", "\"a\" ", "@a@b.c ", "\U0001f600 ", "\r\n", "x", "\u200d", "Foto: Ana\n", "#a\n", "a.b/",
    "&amp;", "&", "&#", "<br>", "<a ", "<", "\u200d\u200c", "\u0645\u200c", ":a", ":libras: ", ":1", "a.b@", "a+", "a@b.c ",
    ".\nao fundo\n", "The man is on the left. ", "el y la. ", "ll ", "”a", "\u200b",
    "www.a.br,", "1. ", "::", "fim ", "#pra cego ", "_ ", "é", "…", " .", "~ ",
]  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("unit", UNITS)
def test_work_is_linear_in_the_length_of_a_caption(unit: str) -> None:
    def work(characters: int) -> int:
        import sys

        calls = 0

        def count(frame: object, event: str, argument: object) -> None:
            nonlocal calls
            calls += event in ("call", "c_call")

        caption = "#PraCegoVer: Foto de uma praia. " + unit * (characters // len(unit))
        sys.setprofile(count)
        try:
            result = found(caption)
        finally:
            sys.setprofile(None)
        assert len(result.steps) <= 20 * ROUNDS
        return calls

    small, large = work(1500), work(6000)
    assert large <= 6 * small + 1000


@pytest.mark.long
@pytest.mark.parametrize(("times", "settings"), [(190, {}), (2000, {"max_characters": 200_000})])
def test_a_long_description_is_kept_whole(times: int, settings: dict[str, int]) -> None:
    described = "A mulher de vestido azul anda na praia com o cão. " * times
    assert found("#PraCegoVer: " + described, **settings).text == described.strip()


def test_a_caption_over_the_limit_is_too_long_and_is_not_analysed() -> None:
    caption = "#PraCegoVer: Mulher anda na praia." + "." * 40
    assert found(caption, max_characters=len(caption)).text
    assert found(caption, max_characters=len(caption) - 1) == (None, "too_long", ())
    assert found("#PraCegoVer: Mulher anda na praia" + "." * 10_000).reason == "too_long"


@pytest.mark.long
@pytest.mark.parametrize(
    "piece",
    [
        "a",
        ".",
        "(",
        "(a) ",
        "#a ",
        "#",
        "#PraCegoVer ",
        "<p a=",
        "&amp;",
        "\U0001f600",
        "\u0301\u0323",
        "e: ",
        '"',
        "a.",
        "[EN] ",
        "a\n",
    ],
)
def test_a_long_caption_of_any_kind_ends_with_a_description_or_a_reason(piece: str) -> None:
    result = found("#PraCegoVer: Mulher anda na praia. " + piece * 4_000, max_characters=100_000)
    assert (result.text is None) == (result.reason in REASONS)
