"""A knowledge base's words as captions say them, the gate of types, and what a name's form tells."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.knowledge.cascade import HypernymAnswer, Knowledge, strip_article
from components.knowledge.embedded import CONFUSED, _common_words
from components.knowledge.gazetteers import brand_kind, brands
from components.knowledge.kinds import KINDS, Gate
from components.knowledge.names import kind_by_form
from components.knowledge.words import Words
from tests.support.knowledge.dictionary import extract, knowledge

PIECES = ["American", "actor,", "and", "(", ")", "film", "of", "the", "3rd", "city", "in"]
WORDS, GATE = Words(extract()), Gate(extract())


@pytest.mark.parametrize(
    ("text", "noun"),
    [
        ("American actor", "actor"),
        ("American actor and film director", "actor"),
        ("pop artist", "pop artist"),
        ("2003 American film", "film"),
        ("city in France", "city"),
        ("an English rock band formed in London", "rock band"),
        ("Actor", "actor"),
        ("Japanese", ""),
        ("business", "company"),
        ("sovereign state", "country"),
        ("painter (1881–1973)", "painter"),
        ("former professional football player", "football player"),
        ("association football player", "football player"),
        ("rugby union player", "rugby player"),
        ("American football player", "american football player"),
        ("Canadian ice hockey player and coach", "ice hockey player"),
        ("table tennis player", "table tennis player"),
        ("American hip hop artist", "hip hop artist"),
        ("Company Director of Vorland Motors", "director"),
        ("American TV series", "television series"),
        ("World Heritage Site", "world heritage site"),
        ("Tourist attraction in Paris", "tourist attraction"),
        ("Apple CEO", ""),
        ("African American artist", "artist"),
        ("Polish artist", "artist"),
        ("", ""),
        ("的", ""),
        ("42", ""),
    ],
)
def test_a_description_is_reduced_to_one_common_noun(text: str, noun: str) -> None:
    assert WORDS.noun(text) == noun


@given(st.text(max_size=60) | st.lists(st.sampled_from(PIECES)).map(" ".join))
def test_every_output_word_is_common_and_lower_case(text: str) -> None:
    noun = WORDS.noun(text)
    assert not noun or (noun == noun.lower() and WORDS.common(noun) and not any(char.isdigit() for char in noun))


@pytest.mark.parametrize(
    ("noun", "kinds"),
    [
        ("actor", {"PERSON"}),
        ("city", {"GPE", "LOC", "FAC"}),
        ("company", {"ORG", "EVENT", "FAC"}),
        ("film", {"WORK_OF_ART", "PRODUCT", "FAC"}),
        ("qwertyuiop", set()),
    ],
)
def test_an_answer_is_accepted_only_for_its_types(noun: str, kinds: set[str]) -> None:
    assert {kind for kind in KINDS if GATE.suits(noun, kind)} <= kinds
    assert not kinds or next(iter(sorted(kinds))) in KINDS


@pytest.mark.parametrize(
    ("noun", "kind"),
    [
        ("deity", "PERSON"),
        ("motorcycle racer", "PERSON"),
        ("tourist attraction", "LOC"),
        ("television program", "WORK_OF_ART"),
        ("automobile model", "PRODUCT"),
        ("bakery", "ORG"),
    ],
)
def test_a_word_whose_first_meaning_misleads_still_fits_its_type(noun: str, kind: str) -> None:
    assert GATE.suits(noun, kind)


def test_an_organisation_is_no_city_and_a_person_no_film() -> None:
    assert not GATE.suits("city", "ORG") and not GATE.suits("film", "PERSON") and not GATE.suits("film", "ORG")
    assert GATE.suits("company", "ORG") and GATE.suits("city", "GPE") and GATE.suits("film", "WORK_OF_ART")


@pytest.mark.parametrize(
    ("name", "kind", "word"),
    [
        ("Mount Tolland", "LOC", "mountain"),
        ("Tolland Falls", "LOC", "waterfall"),
        ("Vorland Airways", "ORG", "airline"),
        ("Vorland Motors Inc.", "ORG", "company"),
        ("Evening Herald", "ORG", "newspaper"),
        ("Chicago Anvils", "ORG", "sports team"),
        ("Los Angeles Blue Anvils", "ORG", "sports team"),
        ("Massy Stores Westmoorings", "ORG", ""),  # Massy is a town
        ("Tolland Anvils", "ORG", ""),
        ("Prince Jaro", "PERSON", "prince"),
        ("Duke Tolland", "PERSON", ""),
        ("Tolland Cup 2031", "EVENT", "tournament"),
        ("Herald", "ORG", ""),
        ("", "ORG", ""),
    ],
)
def test_the_form_of_a_name_determines_its_kind(name: str, kind: str, word: str) -> None:
    assert kind_by_form(name, kind) == word


@pytest.mark.parametrize(
    ("name", "kind", "expected"),
    [
        ("Tower of Vorland", "FAC", HypernymAnswer("tower", "name's head")),
        ("the University of Vorland", "ORG", HypernymAnswer("university", "name's head")),
        ("Vorland War II", "EVENT", HypernymAnswer("war", "name's last word")),
        ("Vorland Hotels", "FAC", HypernymAnswer("building", "type")),
        ("Paris", "GPE", HypernymAnswer("city", "gazetteer")),
        ("Jaro Venn", "PERSON", HypernymAnswer("person", "type")),
    ],
)
def test_every_answer_names_its_source(name: str, kind: str, expected: HypernymAnswer) -> None:
    assert knowledge().lookup(name, kind) == expected


@pytest.mark.parametrize(
    ("lemma", "words"),
    [
        ("Queen of England", "queen"),
        ("European country", "country"),
        ("man of letters", "man of letters"),
        ("art museum", "art museum"),
    ],
)
def test_a_class_is_described_without_the_names_in_it(lemma: str, words: str) -> None:
    assert _common_words(lemma) == words


def test_a_genitive_that_the_tagger_split_is_joined() -> None:
    assert strip_article("the McDonald 's") == "McDonald's" and knowledge().hypernym("McDonald 's", "ORG") == "restaurant"


def test_the_first_source_with_an_answer_is_used() -> None:
    class Says:
        def __init__(self, name: str, word: str) -> None:
            self.name, self.word, self.asked = name, word, 0

        def lookup(self, name: str, kind: str) -> HypernymAnswer | None:
            self.asked += 1
            return HypernymAnswer(self.word, self.name) if self.word else None

    silent, first, second = Says("a", ""), Says("b", "actor"), Says("c", "singer")
    cascade = Knowledge(extract(), [silent, first, second])
    assert [cascade.lookup(name, "PERSON") for name in ("X", "the X", "X")] == [HypernymAnswer("actor", "b")] * 3
    assert (silent.asked, first.asked, second.asked) == (1, 1, 0)
    assert cascade.lookup("X", "DATE") is None and cascade.hypernym("X", "DATE") == ""


@pytest.mark.parametrize("name", ["House", "City", "Orange", "next"])
def test_a_common_english_word_is_no_evidence_for_a_brand(name: str) -> None:
    assert brand_kind(name) and knowledge().lookup(name, "ORG") == HypernymAnswer("organization", "type")
    assert knowledge().lookup("Lidl", "ORG") == HypernymAnswer("supermarket", "brands")


@given(
    st.sampled_from(["the", "Mount", "Lake", "Tower of", "Albert", "Vorland", "Chicago", "Gap", "Baker"]),
    st.sampled_from(["Einstein", "Everest", "River", "Hotel", "Museum", "Cup 2031", "Film", "Anvils", "Herald", "Ford", "Cat"]),
    st.sampled_from(sorted(KINDS)),
)
def test_every_embedded_answer_passes_the_gate_of_its_type_or_of_one_confused_with_it(first: str, last: str, kind: str) -> None:
    answer = knowledge().lookup(f"{first} {last}", kind)
    assert answer is not None
    if answer.source != "type":
        assert any(GATE.suits(answer.word, each) for each in (kind, *(CONFUSED if kind in (*CONFUSED, "GPE") else ())))


@pytest.mark.parametrize("name", ["Ada Baker", "Hopper", "Rose Hill", "Apple Martin"])
def test_a_person_unknown_to_every_source_is_a_person(name: str) -> None:
    assert knowledge().lookup(name, "PERSON") == HypernymAnswer("person", "type")


def test_a_title_that_ends_with_a_place_is_a_work() -> None:
    assert (
        knowledge().hypernym("Vorland River", "WORK_OF_ART") == "work" and knowledge().hypernym("Vorland River", "ORG") == "river"
    )


def test_brands_are_lower_case_and_their_kinds_suit_an_organisation() -> None:
    assert len(brands()) > 10_000 and all(name == name.lower() for name in brands())
    assert brand_kind("LIDL") == "supermarket" and brand_kind("Nobody Knows This") == ""
    assert not any(char.isupper() or char.isdigit() for kind in set(brands().values()) for char in kind)
