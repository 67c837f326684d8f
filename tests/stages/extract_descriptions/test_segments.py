"""Captions are split where segments end, and the run of segments that describes is the best one."""

from __future__ import annotations

from itertools import combinations_with_replacement

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.stages.extract_descriptions.describing import best_run
from components.stages.extract_descriptions.segments import split
from components.stages.extract_descriptions.words import words_of
from tests.stages.extract_descriptions.captions import CAPTIONS, RULES, found


@given(CAPTIONS)
def test_segments_are_the_text_in_order_and_each_has_a_word_if_the_text_has(text: str) -> None:
    found_segments = split(text, RULES)
    assert "".join(text[segment.start : segment.end] for segment in found_segments) == text
    assert not words_of(text) or all(words_of(text[segment.start : segment.end]) for segment in found_segments)


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("Uma rua. Ao fundo, o mar.", 2),
        ("Um mapa da Av. Brasil, nº 10, e da R. Sete.", 1),
        ("Um cartaz diz “Peça já. Ligue!” em azul.", 1),
        ("Um barco\nFonte: Agência", 2),
        ("Um barco na areia.Compre o seu.", 2),
        ("Um barco *Post publicado em maio", 2),
        ("Homem segura a\nplaca", 1),
        ("Um barco na areia. (via Ana)", 2),
        ("Um barco (azul) na areia", 1),
    ],
)
def test_a_segment_ends_at_lines_sentences_and_remarks_but_not_in_quotations_and_abbreviations(text: str, pieces: int) -> None:
    assert len(split(text, RULES)) == pieces


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=8), st.integers(0, 3))
def test_the_best_run_has_the_highest_sum_of_all_runs(values: list[int], start: int) -> None:
    sums = {
        (first, last): sum(values[first : last + 1]) - (start if first else 0)
        for first, last in combinations_with_replacement(range(len(values)), 2)
    }
    best, first, last = best_run([float(value) for value in values], float(start))
    assert best == max(sums.values()) == sums[first, last]


def test_a_caption_without_a_describing_segment_is_kept_where_the_setting_asks_for_none() -> None:
    caption = "#PraCegoVer: Nunca deixe para amanhã o carinho que você pode dar hoje."
    assert found(caption).reason == "no_description"
    assert found(caption, min_describing=0.0).text == caption.removeprefix("#PraCegoVer: ")
