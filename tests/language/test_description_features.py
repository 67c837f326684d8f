"""The features of a text's form: bounded for any text, equal for other names and for other nouns of one category."""

from __future__ import annotations

from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.language.description_features import form_features
from components.language.parser import EnglishParser
from components.language.wordnet import WordNet, load_wordnet
from tests.support.knowledge.dictionary import EXTRACT


@pytest.fixture(scope="module")
def wordnet() -> WordNet:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEARSIGHT_WORDNET", str(EXTRACT))
        return load_wordnet()


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("Anna Keller walks with a dog in Boston.", {"Anna": "Maria", "Keller": "Santos", "Boston": "Kyoto"}),
        ("A dog sits on the beach near James Okoro", {"James": "Tomas", "Okoro": "Bakerson"}),
    ],
)
def test_another_name_of_the_same_form_changes_no_feature(text: str, other: dict[str, str], wordnet: WordNet) -> None:
    parse = EnglishParser().compute(text)
    renamed = deepcopy(parse)
    renamed["text"] = [other.get(word, word) for word in parse["text"]]
    renamed["lemma"] = [other.get(word, word) for word in parse["lemma"]]
    assert renamed["text"] != parse["text"] and form_features(renamed, wordnet) == form_features(parse, wordnet)


def test_another_noun_of_the_same_category_changes_no_feature(wordnet: WordNet) -> None:
    assert wordnet.noun_category("dog") == wordnet.noun_category("cat") == "noun.animal"
    parse = EnglishParser().compute("A dog runs on the beach.")
    other = deepcopy(parse)
    other["text"][1] = other["lemma"][1] = "cat"
    assert form_features(other, wordnet) == form_features(parse, wordnet)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A man sits on a chair.", "tense present"),
        ("The man sat on a chair.", "tense past"),
        ("Click the image to enlarge it", "begins with a verb's base form"),
        ("How do dogs see the world?", "has question"),
        ("The Best Beaches For Dogs", "title"),
        ("You can walk with your dog", "word your"),
    ],
)
def test_mood_tense_marks_capitals_and_persons_are_features(text: str, expected: str) -> None:
    wordnet = load_wordnet()
    if not wordnet.knows_verb("click"):
        pytest.skip("the dictionary is not here: `hearsight data --dictionary`")
    assert form_features(EnglishParser().compute(text), wordnet).get(expected)


@given(st.text(max_size=60))
def test_any_text_has_features_of_bounded_values(text: str) -> None:
    found = form_features(EnglishParser().compute(text), WordNet(EXTRACT))
    assert all(0 <= value <= 2 for value in found.values())
