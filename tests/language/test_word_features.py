"""The features of a text's words: names change none, ratios follow the counts, and any text has bounded values."""

from __future__ import annotations

from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.language.parser import EnglishParser
from components.language.word_features import LARGEST, VECTOR_SCALE, likelihood_ratios, word_counts, word_features, word_key

WORDS = st.dictionaries(st.text("abcd", min_size=1, max_size=2), st.integers(1, 500), max_size=8)


def test_a_word_has_a_ratio_above_zero_only_where_captions_have_more_of_it() -> None:
    captions, others = word_counts(["A dog on a beach"] * 20), word_counts(["Best beach deals of the year"] * 20, weight=0.5)
    ratios = likelihood_ratios(captions, others)
    assert ratios["dog"] > 0 > ratios["deals"]
    assert ratios["dog"] > ratios["beach"]
    assert "cat" not in ratios and likelihood_ratios(word_counts(["A cat"]), others).get("cat") is None


@given(WORDS, WORDS)
def test_exchanged_counts_give_the_negative_of_each_ratio_within_its_bounds(
    captions: dict[str, int], others: dict[str, int]
) -> None:
    ratios, exchanged = likelihood_ratios(captions, others), likelihood_ratios(others, captions)
    assert ratios.keys() == exchanged.keys()
    assert all(abs(ratio) <= LARGEST and exchanged[word] == pytest.approx(-ratio) for word, ratio in ratios.items())


def test_another_name_changes_no_feature_and_another_noun_does() -> None:
    parse = EnglishParser().compute("Anna Keller walks with a dog in Boston.")
    renamed, other = deepcopy(parse), deepcopy(parse)
    for field in ("text", "lemma"):
        renamed[field] = [{"Anna": "Maria", "Keller": "Santos", "Boston": "Kyoto"}.get(word, word) for word in parse[field]]
        other[field] = ["policy" if word == "dog" else word for word in parse[field]]
    ratios = {word_key(word): ratio for word, ratio in {"dog": 2.0, "policy": -2.0, "maria": 3.0, "kyoto": -3.0}.items()}
    assert word_features(renamed, ratios) == word_features(parse, ratios)
    found, changed = word_features(parse, ratios), word_features(other, ratios)
    assert found["ratio mean"] == 1.0 and changed["ratio mean"] == -1.0
    assert found["head 0"] != changed["head 0"] and found["verb 0"] == changed["verb 0"]


@given(st.text(max_size=60))
def test_any_text_has_features_of_bounded_values(text: str) -> None:
    found = word_features(EnglishParser().compute(text), {word_key("a"): LARGEST, word_key("the"): -LARGEST})
    assert all(abs(value) <= VECTOR_SCALE for value in found.values())
