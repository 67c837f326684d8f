"""Names of people in small letters, of families, and of several parts leave no part behind, and no person is an organization."""

from __future__ import annotations

import pytest

from components.language.parser import Parse
from components.stages.hypernymize.people import is_double_name, is_full_name
from components.stages.hypernymize.sentence import Sentence
from tests.stages.hypernymize.rewriting import PARSER, rewritten
from tests.support.knowledge.dictionary import knowledge


@pytest.mark.parametrize(
    "alt, caption",
    [
        ("Portrait of elena fernandez beside a window", "portrait of person beside a window"),
        ("A dog beside pedro garcia lopez on a beach", "a dog beside person on a beach"),
        ("The dog of the Singers sleeps on a chair", "the dog of the people sleeps on a chair"),
        ("A photo of the Johnsons on the beach", "a photo of the people on the beach"),
        ("The Smiths' house in the snow", "the people's house in the snow"),
        ("A photo of Trần Thị An waving at a boat", "a photo of person waving at a boat"),
        ("Photo of Kwame Mensah riding a bicycle on a road", "photo of person riding a bicycle on a road"),
        ("Anne-Marie's hat on a chair", "person's hat on a chair"),
        ("A bicycle of Jean-Pierre beside a wall", "a bicycle of person beside a wall"),
    ],
)
def test_no_part_of_a_persons_name_is_left(alt: str, caption: str) -> None:
    assert rewritten(alt).caption == caption


@pytest.mark.parametrize(
    "alt",
    [
        "the smith at his anvil", "a rose garden in may", "a mark on the wall beside an iris", "a grant for the church",
        "olive oil in a white bowl", "a view of the gardens from the house", "german shepherds on the grass",
        "a sandy beach with ginger cats", "the bakers at the oven", "an apple on a table",
    ],
)  # fmt: skip
def test_ordinary_words_that_are_names_as_well_stay(alt: str) -> None:
    assert rewritten(alt[0].upper() + alt[1:]).caption == alt


def words(text: str) -> Sentence:
    parse: Parse = PARSER.compute(text)
    return Sentence.of(parse)


def test_a_capital_is_left_to_the_recogniser_and_brands_are_no_people() -> None:
    first, second = words("Elena fernandez").words
    assert not is_full_name(first, second, knowledge())
    assert is_double_name(["Jean", "-", "Luc"])
    brands = [["Harley", "-", "Davidson"], ["Mercedes", "-", "Benz"]]
    assert not any(is_double_name(name) for name in [*brands, ["Jean"], ["X", "-", "Ray"]])
