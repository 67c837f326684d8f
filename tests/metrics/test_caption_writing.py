"""Lengths, repetition and faults of captions, in any language."""

from __future__ import annotations

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.metrics.caption_faults import caption_faults
from components.metrics.caption_lengths import LengthComparison, compare_word_counts, word_counts
from components.metrics.caption_repetition import join_words, measure_caption, measure_repetition
from components.metrics.tokens import tokenize

CAPTIONS = st.lists(st.lists(st.sampled_from(["a", "dog", "gato", "no", "parque", "red"]), max_size=12).map(" ".join), max_size=8)


def test_lengths_are_those_of_words_without_punctuation():
    result = word_counts(["A dog , on a bed .", "um gato", ""])
    assert list(result.words) == [5, 2, 0] and result.mean == pytest.approx(7 / 3)


@given(CAPTIONS.filter(bool))
def test_mean_and_deviation_are_of_the_population(captions):
    result = word_counts(captions)
    assert result.mean == pytest.approx(statistics.fmean(result.words))
    assert result.deviation == pytest.approx(statistics.pstdev(result.words))


def compare_lengths(candidates: list[str], references: list[list[str]]) -> LengthComparison:
    return compare_word_counts(word_counts(candidates), [word_counts(item) for item in references])


def test_short_captions_of_long_references_are_shorter_item_by_item():
    result = compare_lengths(["a dog", "a cat sits"], [["a dog on a bed", "a dog"], ["a cat"]])
    assert list(result.differences) == [-1.5, 1] and result.mean_difference == -0.25
    assert result.ratio == pytest.approx(2.5 / 3)


def test_references_without_words_give_no_ratio():
    assert compare_lengths(["a dog"], [["!!"]]).ratio is None


@given(CAPTIONS.filter(bool), st.integers(1, 5), st.none() | st.integers(1, 9))
def test_a_histogram_holds_every_caption_once_on_common_bins(captions, width, longest):
    result = compare_lengths(captions, [[caption, "a dog"] for caption in captions]).histogram(width, longest)
    assert sum(result.candidates) == pytest.approx(1) and sum(result.references) == pytest.approx(1)
    assert len(result.candidates) == len(result.references) == len(result.edges) - 1
    assert longest is None or result.edges[-2] <= longest


def test_a_histogram_counts_longer_captions_in_its_last_bin():
    result = compare_lengths(["a " * 9, "a"], [["a"], ["a"]]).histogram(longest=3)
    assert list(result.candidates) == [0, 0.5, 0, 0.5] and list(result.edges) == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError, match="must be at least 1"):
        compare_lengths(["a"], [["a"]]).histogram(0)


def test_repeated_ngrams_occur_earlier_in_the_caption():
    result = measure_caption(["a", "dog", "and", "a", "dog", "and", "a", "cat"])
    assert result.ngrams == (8, 7, 6, 5) and result.repeated == (4, 3, 2, 1)
    assert result.share[0] == 0.5


@pytest.mark.parametrize(
    ("caption", "places"),
    [
        ("a red red bus", [(2, 3)]),
        ("a man a man a man", [(2, 4), (4, 6)]),
        ("a man and a woman", []),
        ("", []),
        ("de de de", [(1, 2), (2, 3)]),
    ],
)
def test_a_doubled_sequence_is_repeated_immediately(caption, places):
    assert list(measure_caption(caption.split()).doubled) == places


def test_repetition_over_a_set_is_measured_by_shares():
    result = measure_repetition(
        ["a dog", "A dog .", "a cat"], vocabulary=["a", "dog", "cat", "bird"], training={join_words("A cat!")}
    )
    assert result.distinct[0] == 3 / 6 and result.distinct[1] == 2 / 3
    assert (result.vocabulary, result.vocabulary_share) == (3, 0.75)
    assert result.unique == 2 / 3 and result.novel == 2 / 3
    assert result.common == [("a dog", 2), ("a cat", 1)]


def test_figures_without_input_are_none():
    result = measure_repetition([])
    assert result.vocabulary_share is None and result.novel is None and result.unique == 0.0 and result.distinct == (0.0,) * 4


@given(CAPTIONS)
def test_rates_are_within_0_and_1_and_do_not_depend_on_order(captions):
    result, turned = measure_repetition(captions), measure_repetition(captions[::-1])
    assert all(0 <= share <= 1 for share in (*result.repeated, *result.distinct, result.doubled, result.unique))
    assert (result.repeated, result.distinct, result.common) == (turned.repeated, turned.distinct, turned.common)
    assert result.vocabulary == len({word for caption in captions for word in tokenize(caption)})


@pytest.mark.parametrize(
    ("caption", "language", "is_open"),
    [
        ("a man with a", "en", True),
        ("a man with a hat", "en", False),
        ("foto de um", "pt", True),
        ("foto de um gato.", "pt", False),
        ("a man and", "pt", False),
        ("", "en", False),
        ("a man with a <UNK>", "en", False),
        ("un homme avec un", "fr", None),
    ],
)
def test_a_caption_that_ends_with_a_listed_word_is_incomplete(caption, language, is_open):
    result = caption_faults([caption], language)
    assert result.items[0].open is is_open
    assert (result.open is None) == bool(result.reason) == (is_open is None)


def test_runs_of_punctuation_are_located():
    result = caption_faults(["promo . . . ! de natal", "a dog...", "!?", "a dog, red.", "<UNK> <UNK>"], "pt")
    assert [item.marks for item in result.items] == [((6, 13),), ((5, 8),), (), (), ()]
    assert [item.wordless for item in result.items] == [False, False, True, False, False]
    assert (result.marks, result.wordless, result.unknown) == (0.4, 0.2, 0.2) and result.items[4].unknown == 2


@given(st.lists(st.text(max_size=40), max_size=5))
def test_every_text_is_accepted_by_an_analysis(captions):
    result = (caption_faults(captions, "en").items, measure_repetition(captions).items, word_counts(captions).words)
    assert {len(items) for items in result} == {len(captions)}
