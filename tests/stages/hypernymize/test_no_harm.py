"""Captions without names stay as they are, and a caption that the rewriting breaks is dropped."""

from __future__ import annotations

import pytest

from components.stages.hypernymize.first_word import choose_parse, second_text
from tests.stages.hypernymize.rewriting import PARSER, rewritten
from tests.support.knowledge.dictionary import knowledge


@pytest.mark.parametrize(
    "alt",
    [
        "House under the cliffs",
        "House on a hill by the sea",
        "Artist's view of the city",
        "A picture of a horse, a horse and a dog",
        "A man with a hat on and a dog running up",
        "A bowl of french fries on a table",
        'A man in a "happy" hat on a street',
        "A house on a hill. Green bottles stand in front of the house",
        "A station in space: Space travel for everyone",
        "Hundreds of people stand on the beach",
    ],
)
def test_a_caption_without_a_name_only_loses_its_capital(alt: str) -> None:
    result = rewritten(alt)
    assert (result.caption, result.shortcoming) == (alt.lower(), None)


@pytest.mark.parametrize(
    ("alt", "caption"),
    [
        ("Rose Byrne on the red carpet", "person on the red carpet"),
        ("Paris at night", "city at night"),
        ("London Bridge at night", "bridge at night"),
        ("Austin plays on the beach", "person plays on the beach"),
        ("Tiger Lee reacts on the pitch", "person reacts on the pitch"),
        ("EU offices around the world", "offices around the world"),
        ("S. Korea's new train stands in a station", "country's new train stands in a station"),
        ("Jan van der Berg paints a picture of a house", "person paints a picture of a house"),
        ("Prime Minister Mary Miller opens a school", "person opens a school"),
        ("Kenya's former president Mary Miller opens a school", "person opens a school"),
        ("A picture of doctor Albert Einstein", "a picture of person"),
        ("Maria Stone gestures at a crowd", "person gestures at a crowd"),
    ],
)
def test_a_name_at_the_beginning_is_replaced(alt: str, caption: str) -> None:
    assert rewritten(alt).caption == caption


@pytest.mark.parametrize(
    ("alt", "caption"),
    [
        ("A man pets a Doberman on the beach", "a man pets a doberman on the beach"),
        ("A German Shepherd runs on the beach", "a german shepherd runs on the beach"),
        ("A woman plays the French Horn in a hall", "a woman plays the french horn in a hall"),
        ("A red Jeep on a road", "a red jeep on a road"),
        ("An African elephant walks on a road", "an african elephant walks on a road"),
    ],
)
def test_names_of_classes_are_common_nouns(alt: str, caption: str) -> None:
    assert rewritten(alt).caption == caption


def test_the_second_parse_counts_only_where_the_dictionary_knows_the_word_as_common() -> None:
    for text, common in (("House under the cliffs", True), ("Paris at night", False)):
        first = PARSER.compute(text)
        assert bool(second_text(text, first, knowledge())) == common
        assert choose_parse(first, None, knowledge()) is first


def test_a_text_whose_first_word_is_no_name_is_not_parsed_again() -> None:
    for text in ("A dog on a beach", "Two dogs on a beach", ""):
        assert second_text(text, PARSER.compute(text), knowledge()) == ""


def test_after_an_indefinite_article_a_name_is_one_of_several_things() -> None:
    assert rewritten("A Boeing Jet lands at the airport on a sunny day").caption == "a jet lands at the airport on a sunny day"
    result = rewritten("A Zqxwv plays with the ball").shortcoming
    assert result is not None and result[:2] == ("unknown_name", "zqxwv (no signal)")


@pytest.mark.parametrize(
    ("alt", "value"),
    [
        ('"Keep calm" written on a picture in the window', "begins with 'written'"),
        ("A child sits on the bus while in Paris", "'while' has no object"),
    ],
)
def test_a_sentence_that_lost_a_part_is_inconsistent(alt: str, value: str) -> None:
    result = rewritten(alt).shortcoming
    assert result is not None and result[:2] == ("inconsistent", value)


@pytest.mark.parametrize("alt", ["On the road with a dog and a", "The view of", "Dogs and a cat in", "Looks at the dog on the"])
def test_an_odd_text_that_lost_nothing_is_kept(alt: str) -> None:
    assert rewritten(alt).shortcoming is None


@pytest.mark.parametrize(
    ("alt", "caption"),
    [
        ('A woman holds a sign that says "Vote Today" on a street', "a woman holds a sign on a street"),
        ("A red truck with a number 5 on the door", "a red truck with a number on the door"),
        ("A University of Bristol player holds a ball", "a player holds a ball"),
        ("Sailors at last year's event", "sailors at event"),
        ("A picture of a 1920's train station", "a picture of a train station"),
        ("The year 2003 was among the coldest years", "the year was among the coldest years"),
        ("A man reacts in the first round of the 1994 The Green Festival", "a man reacts in the round of the festival"),
        ("A shop raises $25M to build boats", "a shop raises to build boats"),
        ("A man draws a house with a 3-D pen", "a man draws a house with a pen"),
        ("Scientists look at a 2.5 billion-year-old stone", "scientists look at a stone"),
        ("A girl sells more than 400 cakes at a market", "a girl sells cakes at a market"),
        ("A boat leaves the harbour beside the ship USS Marlow", "a boat leaves the harbour beside the ship"),
        ("The cloth Ann Lee buys is sold in a shop", "the cloth person buys is sold in a shop"),
        ("Kenya's former president Mary Miller", "former president"),
        ("Windmills in the Oak Valley", "windmills in the valley"),
    ],
)
def test_a_removed_phrase_takes_the_words_that_only_lead_to_it(alt: str, caption: str) -> None:
    assert rewritten(alt).caption == caption
