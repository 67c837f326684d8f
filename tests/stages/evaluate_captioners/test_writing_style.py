"""Scores of tokens, intervals, and figures of writing style."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.metrics.bootstrap import bootstrap_intervals
from components.metrics.caption_lengths import word_counts
from components.stages.evaluate_captioners.analyses import (
    UNKNOWN_TRAINING,
    TrainingTexts,
    measure_references,
    measure_writing,
    read_training_texts,
)
from components.stages.evaluate_captioners.inputs import open_inputs
from components.stages.evaluate_captioners.scoring import ObjectMentions, Scored, Scores, score_tokens, tokenize_caption
from tests.stages.evaluate_captioners.world import (
    COLOURS,
    PARAMS,
    cell,
    prepared,
    squares,
)
from tests.support import make_stage

SAYS = {0: dict.fromkeys(range(8), "a red square")}
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


def written(*seeds: Scored, learned: TrainingTexts = UNKNOWN_TRAINING, references: tuple[str, ...] = (), language: str = "en"):
    known = [word_counts([text]) for text in references] or [word_counts(["a dog"])] * len(seeds[0].captions)
    return measure_writing([(each, learned) for each in seeds], known, language)


def test_repetition_and_variety_are_the_means_of_the_seeds():
    result = written(scored("a a a dog", "a dog", "a dog"), scored("", "a cat", "a cow")).figures
    assert result["repeated_1"] == pytest.approx((2 / 8 + 0) / 2) and result["doubled"] == pytest.approx((1 / 3 + 0) / 2)
    assert result["different_captions"] == pytest.approx((2 / 3 + 1) / 2) and result["vocabulary"] == 2.5
    assert result["distinct_1"] == pytest.approx((2 / 8 + 3 / 4) / 2)


def test_lengths_are_of_all_seeds_and_held_against_the_items_own_references():
    result = written(scored("a dog", "a"), scored("a dog runs", "a big cat"), references=("a dog", "a very big cat"))
    assert (result.figures["words"], result.figures["words_difference"]) == (2.25, pytest.approx((0 - 3 + 1 - 1) / 4))
    assert result.lengths.words == [2, 1, 3, 3]


def test_new_captions_used_vocabulary_and_fault_rates_need_the_training_texts():
    learned = TrainingTexts("pt", frozenset({"um gato"}), ["um", "gato", "de", "sol"])
    result = written(scored("Um gato .", "um gato de"), learned=learned).figures
    assert (result["new_captions"], result["vocabulary_share"], result["broken_off"]) == (0.5, 0.75, 0.5)
    result = written(scored("Um gato .", "um gato de")).figures
    assert "new_captions" not in result and "vocabulary_share" not in result and result["broken_off"] == 0.0
    assert "broken_off" not in written(scored("un chat avec"), language="fr").figures


def test_rates_of_marks_and_unknown_words_are_shares_of_all_captions():
    result = written(scored("a dog . . .", "a <UNK>"), scored("! !", "a dog")).figures
    assert (result["marks"], result["unknown"], result["wordless"]) == (0.25, 0.25, 0.25)


def test_figures_of_references_do_not_depend_on_their_number():
    once, twice = (measure_references(["a a dog", "a cat with"] * times, "en").figures for times in (1, 2))
    assert once == pytest.approx(twice) and once["doubled"] == once["broken_off"] == 0.5


def test_training_texts_are_the_training_split_and_the_vocabulary_of_each_model(tmp_path):
    inputs = {"input": prepared(tmp_path, "english", squares())}
    inputs["english-small1x1"] = cell(tmp_path, "english", "small1x1", SAYS)
    inputs["other-small1x1"] = cell(tmp_path, "other", "small1x1", SAYS)
    stage = make_stage(tmp_path, "evaluate_captioners", "captioners", PARAMS, inputs)
    result = read_training_texts(stage, *open_inputs(stage))
    assert result["english-small1x1-0"] == TrainingTexts(
        "en", frozenset(f"a {each} square" for each in COLOURS[:4]), ["a", "red", "square"]
    )
    assert result["other-small1x1-0"] == TrainingTexts(None, None, ["a", "red", "square"])


def test_hallucinations_are_shares_of_objects_and_of_captions():
    objects = (
        ObjectMentions(2, ["cake", "clock"], []),
        ObjectMentions(2, [], []),
        ObjectMentions(0, [], []),
        ObjectMentions(1, ["cake"], []),
    )
    result = written(scored("w", "x", "y", "z", objects=objects))
    names = ("objects", "objects_unsupported", "unsupported_share", "captions_with_unsupported")
    assert [result.figures[name] for name in names] == [5, 3, 0.6, 0.5] and result.unsupported == [("cake", 2), ("clock", 1)]


def test_unmeasured_hallucinations_have_no_figures():
    assert not {"objects", "unsupported_share", "captions_with_unsupported"} & set(written(scored("a dog")).figures)
