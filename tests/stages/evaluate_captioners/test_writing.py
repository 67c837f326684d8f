"""Scores of tokens, intervals, lengths and hallucinated objects."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.metrics.bootstrap import bootstrap_intervals
from components.stages.evaluate_captioners.gathering import measure_writing
from components.stages.evaluate_captioners.scoring import ObjectMentions, Scored, Scores, score_tokens, tokenize_caption

WORDS = st.lists(st.sampled_from(["a", "dog", "'s", "3.5", "n't", "cão"]), max_size=6)


@given(st.lists(st.tuples(WORDS, st.lists(WORDS.filter(bool), min_size=1, max_size=3)), min_size=1, max_size=6))
def test_a_captioners_output_is_scored_unchanged(pairs):
    candidates = [words for words, _ in pairs]
    assert [tokenize_caption(" ".join(words)) for words in candidates] == candidates
    scores = score_tokens(candidates, [known for _, known in pairs])
    assert all(len(values) == len(pairs) for values in scores.items.values())
    assert all(scores.corpus[name] == pytest.approx(sum(values) / len(values)) for name, values in scores.items.items())


@given(st.lists(st.tuples(st.floats(0, 10), st.floats(0, 10)), min_size=1, max_size=30), st.integers(0, 9))
def test_intervals_of_one_call_share_their_resamples(values, seed):
    one, other = ([pair[at] for pair in values] for at in (0, 1))
    columns = {"one": one, "shifted": [value + 5 for value in one], "other": other, "none": [a - a for a in one]}
    result = bootstrap_intervals(columns, seed=seed, resamples=50)
    assert result == bootstrap_intervals(columns, seed=seed, resamples=50)
    assert result["shifted"] == pytest.approx([end + 5 for end in result["one"]]) and result["none"] == (0.0, 0.0)
    assert min(one) - 1e-9 <= result["one"][0] <= result["one"][1] <= max(one) + 1e-9


def scored(*captions: str, objects: tuple[ObjectMentions, ...] = ()) -> Scored:
    return Scored(list(captions), Scores({}, {}), list(objects) or [ObjectMentions(None, [], []) for _ in captions])


def test_lengths_are_of_all_seeds():
    result = measure_writing([scored("a dog", "a"), scored("a dog , runs", "a big cat")])
    assert result.figures == {"words": 2.25, "words_sd": pytest.approx(0.829156)}


def test_hallucinations_are_shares_of_objects_and_of_captions():
    objects = (
        ObjectMentions(2, ["cake", "clock"], []),
        ObjectMentions(2, [], []),
        ObjectMentions(0, [], []),
        ObjectMentions(1, ["cake"], []),
    )
    result = measure_writing([scored("w", "x", "y", "z", objects=objects)])
    names = ("objects", "objects_unsupported", "unsupported_share", "captions_with_unsupported")
    assert [result.figures[name] for name in names] == [5, 3, 0.6, 0.5] and result.unsupported == [("cake", 2), ("clock", 1)]


def test_unmeasured_hallucinations_have_no_figures():
    assert set(measure_writing([scored("a dog")]).figures) == {"words", "words_sd"}
