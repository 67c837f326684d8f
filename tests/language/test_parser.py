"""Language providers: what they say of plain texts, and that nothing crashes them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.core.result_cache import Annotator
from components.language.parser import LONGEST, EnglishParser, _pipeline
from components.language.polarity import EnglishPolarity
from components.language.profanity import EnglishProfanity
from components.language.words import article, plural, stem, words_of, zipf


@pytest.mark.parametrize("annotator", [EnglishParser(), EnglishPolarity(), EnglishProfanity()])
def test_each_provider_is_an_annotator_with_json_values(annotator: Annotator) -> None:
    assert isinstance(annotator, Annotator)
    value = annotator.compute("A dog on the beach.")
    assert json.loads(json.dumps(value)) == value


def test_a_parse_contains_parts_of_speech_heads_and_entities() -> None:
    parse = EnglishParser().compute("A crowd at a concert in Los Angeles")
    assert parse["pos"][:3] == ["DET", "NOUN", "ADP"]
    assert parse["head"][0] == 1
    assert [label for _, _, label in parse["entities"]] == ["GPE"]


def test_a_parse_does_not_depend_on_what_was_parsed_before() -> None:
    parser = EnglishParser()
    alone = parser.compute("A fire truck.")
    parser.compute("Zyzzyva qwerty, entirely other words that fill the vocabulary")
    assert parser.compute("A fire truck.") == alone


def test_polarity_is_positive_for_joy_and_negative_for_horror() -> None:
    score = EnglishPolarity().compute
    assert score("A wonderful, lovely, happy day") > 0.5 > -0.5 > score("A horrible, brutal, cruel murder")


@pytest.mark.parametrize("innocent", ["A cock crowing at dawn", "A donkey.", "A great tit on a branch", "A peacock"])
def test_animals_are_not_profane(innocent: str) -> None:
    assert EnglishProfanity().compute(innocent) < 0.5


@pytest.mark.parametrize("harmless", ["A black dog with a ball in its mouth beside a black cow", "A boy with two goats"])
def test_many_harmless_words_do_not_add_up_to_profanity(harmless: str) -> None:
    assert EnglishProfanity().compute(harmless) < 0.9


def test_scores_of_profanity_do_not_depend_on_the_batch() -> None:
    texts = ["You fucking idiot", "A black cow", "", "You are a moron and an idiot", "A peacock"]
    assert EnglishProfanity().compute_many(texts) == [EnglishProfanity().compute(text) for text in texts]


def test_an_insult_is_profane() -> None:
    for text in ("You fucking idiot", "What a stupid moron", "He is a retard"):
        assert EnglishProfanity().compute(text) > 0.9, text


def test_the_vocabulary_contains_words_and_numbers_and_no_noise() -> None:
    assert zipf("blackbuck") >= 1.0 and zipf("2015") > 1.0 and zipf("29th") > 1.0
    assert zipf("sphxglrplot") == 0.0


def test_stems_join_inflections_and_plurals_are_english() -> None:
    assert stem("Running") == stem("runs")
    assert (plural("actor"), plural("person"), plural("people"), plural("city")) == ("actors", "people", "people", "cities")
    assert (article("aircraft"), article("house")) == ("an", "a")


def test_words_keep_inner_apostrophes_and_leave_marks() -> None:
    assert words_of("It's a “fire-truck”, ($.25)") == ["It's", "a", "fire", "truck", "25"]


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=80))
def test_every_text_is_accepted_by_a_language_provider(text: str) -> None:
    parse = EnglishParser().compute(text)
    assert len({len(parse[name]) for name in ("text", "space", "lemma", "pos", "tag", "dep", "head")}) == 1  # type: ignore[literal-required]
    assert -1 <= EnglishPolarity().compute(text) <= 1
    assert 0 <= EnglishProfanity().compute(text) <= 1
    assert all(zipf(word) >= 0 and stem(word) is not None for word in words_of(text))


def test_a_parse_does_not_depend_on_the_batch():
    texts = [
        "A dog runs on the beach.", "", "Two men in Paris", "Side view of an aircraft on approach to land with landing gear down",
        "x", "The members of the band perform at a festival in the city on Saturday, May 5, while a crowd of fans looks on",
    ] * 3  # fmt: skip
    parser = EnglishParser()
    alone = [parser.compute(text) for text in texts]
    assert parser.compute_many(texts) == alone and parser.compute_many(texts[::-1]) == alone[::-1]
    tensors = [doc.tensor.tobytes() for doc in _pipeline().pipe(texts)]
    assert tensors == [_pipeline()(text).tensor.tobytes() for text in texts], "equal by luck: the numbers differ"


@pytest.mark.slow
def test_of_a_megabyte_of_text_only_the_beginning_is_parsed():
    assert len(EnglishParser().compute("dog " * 300_000)["text"]) == LONGEST // len("dog ")
