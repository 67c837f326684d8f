"""What is true of every caption, whatever it holds."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from components.describe.emoji import without_emoji
from components.describe.extract import REASONS, ROUNDS
from components.describe.marks import LINK, MENTION
from components.describe.words import count_words
from tests.describe.captions import CAPTIONS, found

MANY = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@MANY
@given(CAPTIONS)
def test_a_caption_has_a_description_or_a_reason_of_the_list_and_its_steps_chain(caption: str) -> None:
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
def test_a_description_put_behind_the_tag_again_is_found_as_it_is(caption: str) -> None:
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
        assert not LINK.search(text) and not MENTION.search(text)
        assert not re.search(r"[#＃]\w|(?<!\w)[@＠]\w", text)
        assert text == " ".join(text.split())
        assert re.search(r"[.!?…。！？][\"'”’»)\]}*]*$", text)


@MANY
@given(CAPTIONS)
def test_a_description_is_pieces_of_the_caption_in_order(caption: str) -> None:
    text = found(caption).text
    if text is not None:
        letters = iter(caption)
        wanted = [char for char in (text[:-1] if text.endswith(".") else text) if char != " "]
        assert all(any(char == at for at in letters) for char in wanted)


SCRIPTS = st.characters(categories=["L"])
NUMBERS = st.integers(0, 10**6).map(str)
FRAME = "Foto de uma placa com o texto {} em um muro branco."


@MANY
@given(st.lists(st.one_of(st.text(SCRIPTS, min_size=1, max_size=8), NUMBERS), min_size=1, max_size=8).map(" ".join))
@example("東京駅 사랑 سلام ไทย देवनागरी")
@example("© 2020 Café® Alfa™ 38 ºC")
def test_no_letter_or_digit_of_any_script_is_lost_within_the_description(inside: str) -> None:
    described = FRAME.format(inside)
    assert found(f"#PraCegoVer: {described}").text == described


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
    "www.a.br,", "1. ", "::", "fim ", "#pra cego ", "_ ", "é", "…", " .", "~ ",
]  # fmt: skip


@pytest.mark.parametrize("unit", UNITS)
def test_work_grows_with_the_length_of_a_caption_and_no_faster(unit: str) -> None:
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


def test_a_long_description_is_kept_whole() -> None:
    described = "A mulher de vestido azul anda na praia com o cão. " * 2000
    assert found("#PraCegoVer: " + described).text == described.strip()
