"""A phrase that a sentence can do without goes with its unknown name; what the sentence needs drops the caption."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.language.parser import EnglishParser
from components.stages.hypernymize.optional import cut_unknown
from components.stages.hypernymize.sentence import Sentence
from tests.stages.hypernymize.rewriting import rewritten
from tests.support.knowledge.dictionary import knowledge

WHOLE = ["A dog sits on a beach", "A man holds a ball", "A boat on a lake at night", "A bird stands in the water. It looks up."]


@pytest.mark.parametrize(
    ("alt", "caption"),
    [
        ("A woman holding a phone with Zqxwv", "a woman holding a phone"),  # a preposition
        ("A woman holding a phone with Zqxwv on it beside a dog", "a woman holding a phone beside a dog"),
        ("A man holds a ball used by Zqxwv", "a man holds a ball"),  # a participle
        ("Zqxwv's counter with a dog on it", "the counter with a dog on it"),  # an owner of one thing
        ("A group of Zqxwv's students on a street", "a group of students on a street"),  # an owner of several
        ("In this Tuesday, Feb. 4, 2020 file photo, a man wears a mask", "a man wears a mask"),
        ("Ann Lee, M.D., stands beside a dog", "person stands beside a dog"),
        ("OSLO, NORWAY - MAY 20: A man wears a mask", "a man wears a mask"),
    ],
)
def test_an_optional_phrase_goes_with_its_name(alt: str, caption: str) -> None:
    result = rewritten(alt)
    assert (result.caption, result.shortcoming) == (caption, None)


@pytest.mark.parametrize(
    "alt", ["A man plays with Zqxwv", "A poster of Zqxwv on a wall", "A man and Zqxwv walk a dog", "A man holds Zqxwv"]
)
def test_what_a_sentence_needs_is_not_cut(alt: str) -> None:
    result = rewritten(alt).shortcoming
    assert result is not None and result[0] == "unknown_name"


@given(
    st.sampled_from([
        "Zqxwv reports earnings.",
        "Norway announced a plan on Wednesday, March 17, 2020.",
        "The race was held last year.",
        "It had won the game.",
    ])
)  # fmt: skip
@settings(deadline=None)
def test_a_later_sentence_that_names_or_reports_goes_alone(later: str) -> None:
    assert rewritten(f"A man walks a dog on a beach. {later}").caption == "a man walks a dog on a beach."


@given(st.sampled_from(WHOLE))
@settings(deadline=None)
def test_a_text_without_unknown_names_is_not_cut(text: str) -> None:
    assert cut_unknown(Sentence.of(EnglishParser().compute(text)), knowledge()) == ""


@pytest.mark.parametrize(
    ("later", "stays"),
    [
        ("For nearly si", False),
        ("The company sai", False),
        ("It carries a", False),
        ("It carries a ball in", False),
        ("It carries a ball with its", False),
        ("It carries a ball", True),
        ("It carries a ball in its mouth.", True),
        ("It looks at a boat", True),
        ("A man looks at it", True),
        ("A man holds them", True),
    ],
)
def test_a_sentence_that_stops_within_a_phrase_or_a_word_goes(later: str, stays: bool) -> None:
    whole = "a dog runs on a beach."
    assert rewritten(f"A dog runs on a beach. {later}").caption == (f"{whole} {later.lower()}" if stays else whole)


def test_a_date_within_a_sentence_ends_none() -> None:
    assert "duel" in rewritten("Two men meet on 3. September for a duel.").caption


@pytest.mark.parametrize("alt", ["The Zqxwv building", "Ann Lee with Bob Ray"])
def test_a_single_word_that_describes_is_too_little(alt: str) -> None:
    assert rewritten(alt).shortcoming is not None
