"""Knowledge providers: the dictionary's reader, and the cascade gated by the entity's type."""

from __future__ import annotations

from pathlib import Path

import pytest

from components.core.errors import HearsightError
from components.knowledge.gazetteers import place_kind
from components.language import wordnet
from components.language.person_names import is_given_name
from components.language.wordnet import WordNet, load_wordnet
from tests.support.knowledge.dictionary import EXTRACT, extract, knowledge


def test_plurals_are_reduced_and_senses_are_ordered() -> None:
    assert extract().senses("geese")[0].lemmas == extract().senses("goose")[0].lemmas
    assert extract().senses("dogs")[0].number == 2084071


def test_ancestors_come_nearest_first_and_end_at_entity() -> None:
    above = [item.lemmas[0] for item in extract().ancestors(extract().senses("dog")[0])]
    assert above[-1] == "entity" and above.index("animal") > above.index("canine")
    assert extract().depth(1740) == 0


def test_an_unknown_word_has_no_senses() -> None:
    assert extract().senses("qwertyuiop") == [] and not extract().knows_noun("qwertyuiop")


def test_the_environment_variable_names_the_dictionary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(wordnet.VARIABLE, str(EXTRACT))
    assert load_wordnet().knows_noun("dog")


def test_a_missing_dictionary_gives_a_one_line_error(tmp_path: Path) -> None:
    with pytest.raises(HearsightError, match="WordNet"):
        WordNet(tmp_path)


@pytest.mark.parametrize(
    ("name", "kind", "expected"),
    [
        ("Albert Einstein", "PERSON", "physicist"),
        ("Harrison Ford", "PERSON", "person"),
        ("the Taj Mahal Hotel", "ORG", "hotel"),
        ("Golden Gate Bridge", "FAC", "suspension bridge"),
        ("the American Film Festival", "EVENT", "festival"),
        ("France", "GPE", "country"),
        ("Los Angeles", "GPE", "city"),
        ("Toyota", "ORG", "car company"),
        ("Moby Dick", "WORK_OF_ART", "work"),
        ("Nowhereville", "GPE", "location"),
        ("Tuesday", "DATE", ""),
    ],
)
def test_a_name_has_the_hypernym_of_its_type(name: str, kind: str, expected: str) -> None:
    assert knowledge().hypernym(name, kind) == expected


def test_a_given_name_changes_a_tagged_organisation_to_a_person() -> None:
    assert is_given_name("Calista") and knowledge().kind_of("Calista Flockhart", "ORG") == "PERSON"
    assert knowledge().kind_of("Norwich Union", "ORG") == "ORG"


def test_roles_places_and_kinds() -> None:
    assert knowledge().is_role("artist") and not knowledge().is_role("derelict-free")
    assert knowledge().is_place("hotel") and not knowledge().is_place("festival")
    assert "bovid" in knowledge().kinds("zebu") and "entity" not in knowledge().kinds("zebu")
    assert knowledge().kinds("country pop artist") == ("pop artist", "artist")


def test_gazetteers_distinguish_countries_and_cities() -> None:
    assert (place_kind("Pakistan"), place_kind("the UK"), place_kind("Tennessee"), place_kind("Qqq")) == (
        "country",
        "country",
        "state",
        "",
    )
