"""What a run says about people that no source of knowledge knows."""

from __future__ import annotations

import pytest

from components.knowledge.people import count_people, missing_people


@pytest.mark.parametrize("order", [["embedded"], []])
def test_without_a_source_of_people_one_line_says_what_is_lost_and_how_to_add_one(order: list[str]) -> None:
    line = missing_people(order)
    assert "\n" not in line and "'person', not 'actor'" in line and "wikidata_index" in line


@pytest.mark.parametrize("order", [["wikidata_index", "embedded"], ["embedded", "google"], ["google"]])
def test_with_a_source_of_people_nothing_is_said(order: list[str]) -> None:
    assert missing_people(order) == ""


def test_people_are_counted_by_the_reasons_of_the_replacements() -> None:
    reasons = [
        "Ada Venn (PERSON) is a person, says type; Jaro Venn (PERSON) is an actor, says wikidata Q20",
        "Vorland (GPE) is a city, says gazetteer",
        "Mira, Jr. (PERSON) is a person, says google kg /m/0tol",
    ]
    steps = [[{"step": "hypernyms", "reason": reason}, {"step": "case", "reason": "lower case"}] for reason in reasons]
    assert count_people([*steps, []]) == (3, 1)
