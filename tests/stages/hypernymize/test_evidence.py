"""A name gets a kind only by evidence, takes its own head, or drops the caption; names that no step saw are found."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.language.parser import EnglishParser
from components.stages.hypernymize import Params
from components.stages.hypernymize.evidence import TOLD_BY_TYPE, find_kind
from components.stages.hypernymize.sentence import Entity, Sentence
from tests.stages.hypernymize.rewriting import rewritten
from tests.support.knowledge.dictionary import knowledge

LEAST = Params().min_name_signals


@pytest.mark.parametrize(
    "alt",
    [
        "HBX plans to build a bridge over the river",  # the recogniser alone
        "PortHBX seen from above at night",
        "A man buys an ePhone on the beach",  # "product" is a guess
        "The Giants celebrate on the beach",
        "Leicester City celebrate on the beach",  # what celebrates is no city
    ],
)
def test_a_name_without_evidence_drops_the_caption(alt: str) -> None:
    result = rewritten(alt).shortcoming
    assert result is not None and result[0] == "unknown_name"


@pytest.mark.parametrize(
    ("alt", "caption"),
    [
        ("Ann Lee stands on the beach", "person stands on the beach"),  # recogniser and list of names
        ("A portrait of artist Zqxwv Vrolk in a park", "a portrait of person in a park"),  # a role and the form
        ("An Uber Bus on a street", "a bus on a street"),  # its own head, whatever the recogniser says
        ("A dog named Zqxwv on a beach", "a dog on a beach"),
        ("Africans walk on a beach", "people walk on a beach"),
        ("Sylvester wearing a hat on a beach", "person wearing a hat on a beach"),  # a list of names and a verb
        ("Portugal's Ann Lee (L) gestures beside a dog", "person gestures beside a dog"),
        ("A person holds a ball against Zqxwv", "a person holds a ball"),
    ],
)
def test_two_signals_or_the_head_give_a_kind(alt: str, caption: str) -> None:
    assert rewritten(alt).caption == caption


@pytest.mark.parametrize(
    ("alt", "caption"),
    [
        ("A player beside a dog after the 7-6, 6-4 win", "a player beside a dog after the win"),
        ("A boat on a lake [File: Reuters]", "a boat on a lake"),
        ("A man (left) and a dog on a beach", "a man and a dog on a beach"),
        ("A street in New York U.S. at night", "a street at night"),
        ("A dog on a street in Braunau am Inn, Austria", "a dog on a street"),
        ("A bus with the words “Keep Calm” on a street", "a bus on a street"),
        ("People beside a house on a white background, dated May 2, 2019", "people beside a house on a white background"),
    ],
)
def test_what_is_removed_ends_where_its_phrase_ends(alt: str, caption: str) -> None:
    assert rewritten(alt).caption == caption


@pytest.mark.parametrize(
    ("alt", "caption"),
    [
        ("A man wears a Zqxwv shirt on a beach", "a man wears a shirt on a beach"),
        ("A man with an Apple shirt on a beach", "a man with a shirt on a beach"),  # a common word with a capital
    ],
)
def test_a_capital_inside_a_sentence_is_that_of_a_name(alt: str, caption: str) -> None:
    assert rewritten(alt).caption == caption and rewritten(alt).shortcoming is None


@given(st.sampled_from(["ORG", "WORK_OF_ART", "FAC", "PRODUCT", "LAW", "PERSON", "GPE", "LOC", "EVENT"]), st.integers(0, 3))
@settings(deadline=None)
def test_no_type_is_told_by_the_recogniser_alone(kind: str, least: int) -> None:
    sentence = Sentence.of(EnglishParser().compute("The road to Zqxwv is closed"))
    found = find_kind(sentence, Entity(3, 4, kind, said=kind), knowledge(), least)
    if len(found.signals) < least or kind not in TOLD_BY_TYPE:
        assert found.word is None
    assert found.word not in ("organization", "work")


@pytest.mark.parametrize(
    ("alt", "caption"),
    [
        ("Cowboys player Ann Lee walks a dog", "person walks a dog"),  # a team, whatever the word
        ("Actors head player Ann Lee looks at a dog", "person looks at a dog"),
        ("An Apple wooden logo hangs on a wall", "a wooden logo hangs on a wall"),  # no fruit before another modifier
        ("A man on a beach in battambang", "a man on a beach"),
        ("A man walks a dog this morning", "a man walks a dog"),
    ],
)
def test_names_and_dates_that_look_like_common_words_go(alt: str, caption: str) -> None:
    assert (rewritten(alt).caption, rewritten(alt).shortcoming) == (caption, None)


@pytest.mark.parametrize(
    ("alt", "caption"),
    [
        ("Greenland, a man behind a wall", "a man behind a wall"),  # a place that only says where
        ("A man with boxer dog Rex on a beach", "a man with boxer dog on a beach"),  # the noun before it says its kind
        ("A man in the San Juan Mountains", "a man in the mountain range"),  # a plural after a place that is no team
        ("A black KALLAX bed beside a wall", "a black bed beside a wall"),
        ("Children in the Zqxwv and Vrolk room", "children in the room"),  # coordinated modifiers
        ("Illustration of a Ring Video Camera on a wall", "illustration of a camera on a wall"),
        ("President-elect Ann Lee walks a dog", "person walks a dog"),  # a role of two words
        ("Vice-president Ann Lee walks a dog", "person walks a dog"),
        ("Siteline team at a desk", "team at a desk"),  # two words that nobody else joins
        ("Staff at Massy Stores Westmoorings wait outside", "staff wait outside"),  # no team, though Massy is a town
        ("A Voom Sonic Pro 5 Rechargeable Electronic Camera on a wall", "a camera on a wall"),  # a number within
    ],
)
def test_what_is_left_of_a_name_is_a_phrase_of_its_own(alt: str, caption: str) -> None:
    assert (rewritten(alt).caption, rewritten(alt).shortcoming) == (caption, None)
