"""BLEU, ROUGE-L and the forms of CIDEr: recorded values of pycocoevalcap, formulas worked by hand, a slow oracle, properties."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.metrics import ngram_table
from components.metrics.captions import NAMES, score_captions
from components.metrics.cider import CiderD, CiderR, Consensus, DocumentFrequency, cider
from components.metrics.ngram_table import NgramTable
from components.metrics.ngrams import number_ngrams
from components.metrics.rouge import longest_common
from tests.metrics import caption_oracle as oracle

FACTS = [json.loads(line) for line in (Path(__file__).parent / "caption_facts.jsonl").read_text(encoding="utf-8").splitlines()]

WORDS = st.sampled_from(["a", "dog", "cat", "'s", "собака", "🐕"])
CAPTION = st.lists(WORDS, max_size=9)
ITEM = st.tuples(CAPTION, st.lists(CAPTION, min_size=1, max_size=4))
ITEMS = st.lists(ITEM, min_size=1, max_size=6)


def words(text: str) -> list[str]:
    return text.split()


def split(items):
    return [result for result, _ in items], [known for _, known in items]


@pytest.mark.parametrize("fact", FACTS, ids=range(len(FACTS)))
def test_every_value_equals_the_reference_tools(fact) -> None:
    # Recorded by benchmarks/caption_metrics.py --facts tests/metrics/caption_facts.jsonl of commit 528cdca3.
    known = [[text.split() for text in texts] for texts in fact["references"]]
    scores = score_captions([text.split() for text in fact["candidates"]], known)
    for name in ("bleu_1", "bleu_2", "bleu_3", "bleu_4", "rouge_l", "cider"):
        corpus, items = fact[name]
        assert scores.corpus[name] == pytest.approx(corpus, abs=1e-9), name
        assert scores.items[name] == pytest.approx(items, abs=1e-9), name
        assert scores.items[name].dtype == np.float64


@given(ITEMS)
@settings(deadline=None)
def test_every_metric_equals_its_literal_formula(items) -> None:
    result, known = split(items)
    scores = score_captions(result, known)
    assert [scores.corpus[name] for name in NAMES[:4]] == pytest.approx(oracle.bleu(result, known), abs=1e-9)
    for place, (one, several) in enumerate(items):
        mine = [scores.items[name][place] for name in NAMES[:4]]
        assert mine == pytest.approx(oracle.bleu([one], [several]), abs=1e-9)
    assert scores.items["rouge_l"] == pytest.approx([oracle.rouge_l(*item) for item in items], abs=1e-9)
    for name, penalty, clip in (
        ("cider_d", oracle.gaussian, True),
        ("cider_r", oracle.robust, True),
        ("cider_plain", lambda result, reference: 1.0, False),
    ):
        expected = oracle.cider(result, known, penalty, clip)
        assert scores.items[name] == pytest.approx(expected, abs=1e-9), name
        assert scores.corpus[name] == pytest.approx(math.fsum(expected) / len(expected), abs=1e-9), name


def test_cider_r_of_a_repeated_word_by_hand() -> None:
    # Two items that share nothing: every n-gram has idf log 2, which cancels in the cosines.
    # Words: {red 2, dog 1} and {red 1, dog 1, runs 1}; clipped 1·1 + 1·1 = 2, norms √5 and √3: 2/√15.
    # Bigrams: {red red, red dog} and {red dog, dog runs}: 1 / (√2·√2) = 1/2. Trigrams and four-grams share nothing: 0.
    # Length: 3 and 3 words: 1. Repetition: red 1/(1+1), dog 1: geometric mean √(1/2); to the power .8: 2^-.4.
    scores = score_captions([words("red red dog"), ["blue"]], [[words("red dog runs")], [words("blue cat")]])
    assert scores.items["cider_r"][0] == pytest.approx(10 * (2 / math.sqrt(15) + 1 / 2) / 4 * 2**-0.4, abs=1e-12)
    assert scores.items["cider_r"][0] == pytest.approx(1.92571, abs=1e-4)


def test_cider_r_and_cider_d_of_another_length_by_hand() -> None:
    # Words: {red 1, dog 1, sun 2} and {red 1, dog 1}: 2 / (√6·√2) = 1/√3.
    # Bigrams: {red dog, dog sun, sun sun} and {red dog}: 1 / (√3·1).
    # Length: Δ = 2 of r = 2 words: exp(-4/4), to the power .2: e^-.2. Repetition: 1, 1, and sun, which the reference lacks,
    # 1/(1+2-1) = 1/2: geometric mean (1/2)^(1/3), to the power .8. CIDEr-D instead: exp(-2²/(2·6²)).
    scores = score_captions([words("red dog sun sun"), ["blue"]], [[words("red dog")], [words("blue cat")]])
    cosines = 2 / math.sqrt(3) / 4
    assert scores.items["cider_r"][0] == pytest.approx(10 * cosines * 2 ** (-0.8 / 3) * math.exp(-0.2), abs=1e-12)
    assert scores.items["cider_d"][0] == pytest.approx(10 * cosines * math.exp(-4 / 72), abs=1e-12)
    assert scores.items["cider_plain"][0] == pytest.approx(10 * cosines, abs=1e-12)


def test_cider_r_of_two_references_is_their_mean() -> None:
    # To the second reference nothing is shared.
    one = score_captions([words("red dog sun sun"), ["blue"]], [[words("red dog")], [words("blue cat")]])
    two = score_captions([words("red dog sun sun"), ["blue"]], [[words("red dog"), words("old tree")], [words("blue cat")]])
    assert two.items["cider_r"][0] == pytest.approx(one.items["cider_r"][0] / 2, abs=1e-12)


def test_a_perfect_caption_of_rare_words_scores_the_most() -> None:
    captions = [words("red dog on table"), words("blue cat in box"), words("one big old tree")]
    scores = score_captions(captions, [[caption] for caption in captions])
    for name in NAMES:
        assert scores.corpus[name] == pytest.approx(10.0 if name.startswith("cider") else 1.0, abs=1e-8), name
        assert scores.items[name] == pytest.approx([scores.corpus[name]] * 3), name


@given(ITEMS, st.randoms(use_true_random=False))
@settings(deadline=None)
def test_the_score_does_not_depend_on_the_order_of_items_and_references_or_on_word_names(items, source) -> None:
    names: dict[str, int] = {}

    def renamed(caption):
        return [names.setdefault(word, 100 - len(names)) for word in caption]

    order = source.sample(range(len(items)), len(items))
    other = [(renamed(items[place][0]), [renamed(known) for known in reversed(items[place][1])]) for place in order]
    one, two = score_captions(*split(items)), score_captions(*split(other))
    for name in NAMES:
        assert two.corpus[name] == pytest.approx(one.corpus[name], abs=1e-9), name
        assert two.items[name] == pytest.approx(one.items[name][order], abs=1e-9), name


@given(ITEMS)
@settings(deadline=None)
def test_scores_are_numbers_within_their_bounds_and_penalties_only_lower(items) -> None:
    scores = score_captions(*split(items))
    for name in NAMES:
        assert np.isfinite(scores.items[name]).all() and (scores.items[name] >= 0).all()
        assert scores.items[name].max() <= (10 if name.startswith("cider") else 1) + 1e-9
    for name in ("cider_d", "cider_r"):
        assert (scores.items[name] <= scores.items["cider_plain"] + 1e-9).all()


@given(ITEM, CAPTION)
@settings(deadline=None)
def test_another_reference_never_lowers_rouge_l(item, more) -> None:
    result, known = item
    one, two = score_captions([result], [known]).corpus["rouge_l"], score_captions([result], [[*known, more]]).corpus["rouge_l"]
    assert two >= one - 1e-12


@given(st.lists(st.integers(0, 5), max_size=150), st.lists(st.integers(0, 5), max_size=90))
@settings(deadline=None)
def test_the_longest_common_subsequence_of_long_captions_equals_the_table_algorithm(first, second) -> None:
    first, second = [str(word) for word in first], [str(word) for word in second]
    expected = oracle.common(first, second)
    assert longest_common(first, second) == longest_common(second, first) == expected
    assert score_captions([first], [[second]]).corpus["rouge_l"] == pytest.approx(oracle.rouge_l(first, [second]), abs=1e-12)


@given(ITEMS)
@settings(deadline=None, max_examples=30)
def test_the_size_of_blocks_does_not_matter(items) -> None:
    result, known = split(items)
    whole = score_captions(result, known)
    before, ngram_table.BLOCK = ngram_table.BLOCK, 3
    try:
        parts = score_captions(result, known)
    finally:
        ngram_table.BLOCK = before
    for name in NAMES:
        assert parts.items[name] == pytest.approx(whole.items[name], abs=1e-12), name


@given(ITEMS, st.data())
@settings(deadline=None)
def test_a_prepared_reward_scores_a_batch_as_the_whole_set(items, data) -> None:
    result, known = split(items)
    batch = data.draw(st.lists(st.tuples(CAPTION, st.integers(0, len(items) - 1)), max_size=8))
    for form, penalty in ((CiderD, oracle.gaussian), (CiderR, oracle.robust)):
        scorer = form(known)
        assert scorer.score(result) == pytest.approx(oracle.cider(result, known, penalty, True), abs=1e-9)
        results = scorer.score([caption for caption, _ in batch], [item for _, item in batch])
        for (caption, item), score in zip(batch, results, strict=True):
            alone = [caption if place == item else [] for place in range(len(items))]
            assert score == pytest.approx(oracle.cider(alone, known, penalty, True)[item], abs=1e-9)


@given(ITEMS, st.data())
@settings(deadline=None)
def test_given_document_frequencies_put_a_part_on_the_scale_of_the_whole(items, data) -> None:
    result, known = split(items)
    chosen = data.draw(st.lists(st.integers(0, len(items) - 1), min_size=1, unique=True))
    whole = score_captions(result, known)
    part = score_captions([result[at] for at in chosen], [known[at] for at in chosen], DocumentFrequency.of(known))
    for name in ("cider_d", "cider_r", "cider_plain"):
        assert part.items[name] == pytest.approx(whole.items[name][chosen], abs=1e-9), name


def test_cider_of_one_item_is_zero_unless_frequencies_are_given() -> None:
    result, known = [words("a red dog")], [[words("a red dog")]]
    assert score_captions(result, known).corpus["cider"] == 0
    frequency = DocumentFrequency.of([*known, [words("a cat")], [words("two cats")]])
    scores = score_captions(result, known, frequency)
    # Words, bigrams and trigrams agree wholly; there is no n-gram of four.
    assert (scores.corpus["cider"], scores.corpus["cider_d"]) == (0, pytest.approx(7.5))


@given(st.lists(CAPTION, max_size=6))
@settings(deadline=None)
def test_ngrams_share_a_number_exactly_when_they_are_equal(captions) -> None:
    result = number_ngrams(captions)
    flat = [word for caption in captions for word in caption]
    seen = [
        (tuple(flat[place : place + size]), number)
        for size, (places, numbers) in enumerate(zip(result.places, result.grams, strict=True), start=1)
        for place, number in zip(places.tolist(), numbers.tolist(), strict=True)
    ]
    expected = Counter(gram for caption in captions for size in range(1, 5) for gram in oracle.grams(caption, size).elements())
    assert Counter(gram for gram, _ in seen) == expected
    assert len({gram for gram, _ in seen}) == len({number for _, number in seen}) == len(set(seen)) == result.numbering.size


def test_references_counted_once_serve_several_captioners() -> None:
    known = [[words("a red dog"), words("a dog")], [words("two cats")]]
    table = NgramTable.of(known)
    for result in ([words("a dog"), ["cats"]], [["red"], []]):
        assert score_captions(result, table).corpus == score_captions(result, known).corpus


@pytest.mark.parametrize(
    ("expected", "known", "message"),
    [
        ([], [], "no items"),
        ([["a"]], [[]], "item 0 has no references"),
        ([["a"], ["b"]], [[["a"]], []], "item 1 has no references"),
        ([["a"]], [[["a"]], [["b"]]], "1 candidates for 2 items"),
        (["a dog"], [[["a"]]], "a string, not a list of tokens"),
        ([["a"]], [["a dog"]], "a string, not a list of tokens"),
        ([["a"]], ["a dog"], "item 0 has no references"),
    ],
)
def test_invalid_input_gives_a_one_line_error(expected, known, message) -> None:
    with pytest.raises(ValueError, match=message) as error:
        score_captions(expected, known)
    assert "\n" not in str(error.value)


def test_cider_of_no_items_is_none() -> None:
    assert cider([], []) == []


def test_cider_alone_equals_cider_among_all_metrics() -> None:
    result, known = [words("a red dog"), []], [[words("a red dog runs"), words("dogs")], [words("two cats")]]
    scores = score_captions(result, known)
    assert cider(result, known) == scores.items["cider"].tolist() == scores.items["cider_d"].tolist()
    assert cider(result, known, plain=True) == scores.items["cider_plain"].tolist()


def test_a_reward_of_an_unknown_item_is_an_error() -> None:
    scorer = Consensus([[["a"]], [["b"]]])
    for item in (-1, 2):
        with pytest.raises(ValueError, match=f"item {item}, of 2"):
            scorer.score([["a"]], [item])
