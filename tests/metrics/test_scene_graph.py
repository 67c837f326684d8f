"""Scene graphs of captions, and the F-score over them, held to what the SPICE paper states of its own."""

from __future__ import annotations

import math
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.metrics.caption_parses import parse_captions
from components.metrics.parses import Parses, Sentence
from components.metrics.scene_graph import compare_graphs, scene_graph_f
from components.metrics.scene_graph_reading import SceneGraph, scene_graph
from tests.metrics.parsed import Table, parses, sentence

GIRL = "a young girl standing on top of a tennis court"
GIRAFFE = "a giraffe standing on top of a green field"
POT = "a shiny metal pot filled with some diced veggies"
PAN = "the pan on the stove has chopped vegetables in it"


def tuples(caption: str) -> set[str]:
    return {"-".join(item) for item in scene_graph(sentence(caption)).tuples}


def f(candidate: str, *references: str, lexicon=None) -> float:
    mean = scene_graph_f([candidate], [references], parses(candidate, *references), lexicon).mean
    assert mean is not None
    return mean


def test_the_papers_example_has_the_papers_tuples():
    assert tuples(GIRL) == {"girl", "court", "girl-young", "girl-stand", "court-tennis", "girl-on top of-court"}


@pytest.mark.parametrize(
    ("caption", "expected"),
    [
        ("two men are riding horses and a bike", "man horse bike man-two man-ride-horse man-ride-bike"),
        ("there is a dog and a cat", "dog cat"),
        ("the bus is red and large", "bus bus-red bus-large"),
        ("a dog chased by a cat", "dog cat cat-chase-dog"),
        ("the ball is kicked by a tall player", "ball player player-tall player-kick-ball"),
        ("a group of people sitting at a table", "people table people-group people-sit people-at-table"),
        ("a picture of two cats and a dog", "cat dog cat-two"),
        ("a cat in the background", "cat"),
        ("a branch without leaves", "branch"),
        ("2 dogs", "dog dog-two"),
        ("a man's car", "man car man-have-car"),
        ("a dog is next to a car", "dog car dog-next to-car"),
        ("three dogs that run", "dog dog-three dog-run"),
        ("a black and white cat", "cat cat-black cat-white"),
        ("a boy trying to catch a frisbee", "boy frisbee boy-try boy-catch-frisbee"),
        ("a <UNK> on a plate", "plate"),
        ("a close up of a pizza with cheese and olives", "pizza cheese olive pizza-with-cheese pizza-with-olive"),
    ],
)
def test_each_rule_gives_the_expected_tuples(caption, expected):
    names = {name.replace("next_to", "next to") for name in expected.replace("next to", "next_to").split()}
    assert tuples(caption) == names


def test_active_and_passive_give_equal_tuples():
    assert tuples("a cat chases a dog") == tuples("a dog is chased by a cat")


def test_a_repeated_object_counts_once():
    # As in SPICE's own unit test: object, two attributes, another object, one relation, however often they are said.
    result = tuples("a red bus and a large bus on the street, a red bus on the street")
    assert result == {"bus", "street", "bus-red", "bus-large", "bus-on-street"}


def test_common_ngrams_about_other_things_score_nothing():
    assert f(GIRL, GIRAFFE) == 0.0


def test_synonymous_captions_score_above_common_ngrams():
    # In WordNet "veggie" and "vegetable" share a synset.
    assert f(POT, PAN, lexicon=Table({"veggie": (1,), "vegetable": (1,)})) > f(GIRL, GIRAFFE)


@pytest.mark.parametrize("caption", [GIRL, GIRAFFE, POT, PAN, "a dog"])
def test_the_reference_itself_scores_one(caption):
    assert f(caption, caption) == 1.0


def test_the_order_of_phrases_does_not_matter():
    parts = ["a black cat", "two dogs", "a red ball"]
    captions = [f"{one}, {two} and {three}" for one, two, three in permutations(parts)]
    assert len({frozenset(tuples(caption)) for caption in captions}) == 1


def test_an_empty_candidate_scores_nothing():
    assert f("", GIRL) == 0.0
    assert f("the of and", GIRL) == 0.0


def test_a_wrong_object_lowers_and_a_right_one_raises():
    reference = "a dog and a ball on the grass"
    assert f("a dog with a hat", reference) < f("a dog", reference) < f("a dog and a ball", reference)


def test_the_same_words_in_other_roles_score_less():
    assert f("a dog chases a man", "a man chases a dog") < 1.0


def test_a_synonym_matches_with_a_dictionary_and_not_without():
    words = Table({"couch": (7,), "sofa": (7, 8)})
    assert f("a cat on a couch", "a cat on a sofa", lexicon=words) == 1.0
    assert 0.0 < f("a cat on a couch", "a cat on a sofa") < 1.0
    pair = scene_graph_f(["a couch"], [["a sofa"]], parses("a couch", "a sofa"), words)
    assert pair.synonyms and pair.items[0].pairs == {("couch",): ("sofa",)}
    assert not scene_graph_f(["a couch"], [["a sofa"]], parses("a couch", "a sofa")).synonyms


def test_references_are_one_union_with_each_synonym_once():
    words = Table({"couch": (7,), "sofa": (7,)})
    item = scene_graph_f(["a couch"], [["a sofa", "a couch"]], parses("a couch", "a sofa"), words).items[0]
    assert item.counts.references == 1 and item.f == 1.0


def test_more_references_lower_the_recall_of_the_same_caption():
    # SPICE's authors state it of 40 references beside 5.
    more = [GIRL, "a child holding a racket", "a small girl in a white dress", "a player waits for the ball"]
    scores = [f(GIRL, *more[:number]) for number in range(1, 5)]
    assert scores == sorted(scores, reverse=True) and scores[0] > scores[-1]


def test_the_corpus_score_is_the_mean_of_the_items():
    candidates, references = [GIRL, GIRL], [[GIRL], [GIRAFFE]]
    result = scene_graph_f(candidates, references, parses(GIRL, GIRAFFE))
    assert [item.f for item in result.items] == [1.0, 0.0] and result.mean == 0.5


def test_counts_of_kinds_add_up_to_the_total():
    item = scene_graph_f([GIRL], [[GIRAFFE, "a girl on a court"]], parses(GIRL, GIRAFFE, "a girl on a court")).items[0]
    for name in ("candidate", "references", "matched"):
        assert sum(getattr(counts, name) for counts in item.kinds.values()) == getattr(item.counts, name)
    assert item.kinds["objects"].matched == 2


def test_another_language_has_no_score_and_a_reason():
    result = scene_graph_f(["um gato"], [["um gato preto"]], parse_captions(["um gato"], "pt"))
    assert result.mean is None and not result.items and "pt" in result.reason


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="at least one reference"):
        scene_graph_f(["a"], [[]], parses("a"))
    with pytest.raises(ValueError, match="not parsed"):
        scene_graph_f(["a dog"], [["a cat"]], parses("a dog"))
    assert scene_graph_f([], [], Parses({})).reason == "no captions"


WORDS = st.sampled_from(["dog", "cat", "hound", "red", "big", "on", "chase"])
TUPLES = st.lists(st.lists(WORDS, min_size=1, max_size=3).map(tuple), max_size=8, unique=True)
GRAPHS = TUPLES.map(lambda rows: SceneGraph(tuple(sorted(rows))))
KIN = Table({"dog": (1, 2), "hound": (2, 3), "cat": (3,)})


@given(GRAPHS, st.lists(GRAPHS, min_size=1, max_size=3), st.sampled_from([None, KIN]))
def test_a_score_is_a_share_and_pairs_are_one_to_one(candidate, references, words):
    item = compare_graphs(candidate, references, words)
    assert 0.0 <= item.f <= 1.0
    assert item.counts.matched == len(item.pairs) == len(set(item.pairs.values()))
    assert set(item.pairs) <= set(item.candidate) and set(item.pairs.values()) <= set(item.references)
    precision, recall = item.counts.precision, item.counts.recall
    assert math.isclose(item.f, 2 * precision * recall / (precision + recall) if item.pairs else 0.0)
    assert compare_graphs(candidate, references[::-1], words) == item


@given(GRAPHS, GRAPHS)
def test_a_dictionary_never_takes_the_last_match(candidate, reference):
    plain, known = compare_graphs(candidate, [reference]), compare_graphs(candidate, [reference], KIN)
    assert plain.counts.matched == 0 or known.counts.matched > 0


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=60))
def test_every_text_is_accepted_by_the_reader(text):
    result = parse_captions([text], "en")[text]
    graph = scene_graph(result)
    assert all(0 < len(item) <= 3 for item in graph.tuples)
    if text.isprintable():
        assert all(text[word.start : word.end] == word.text for word in result.words)


DEPS = ["nsubj", "dobj", "conj", "prep", "pobj", "relcl", "acl", "xcomp", "attr", "ROOT", "amod", "agent", "poss", "advcl"]
LEMMAS, KINDS = ["of", "dog", "be", "group", "top", "that", "no"], ["NOUN", "VERB", "ADP", "PRON"]
ROWS = st.tuples(st.sampled_from(LEMMAS), st.sampled_from(KINDS), st.sampled_from(DEPS), st.integers(0, 6))


@given(st.lists(ROWS, max_size=7))
def test_reading_any_parse_terminates(rows):
    parse = {
        "text": [row[0] for row in rows],
        "lemma": [row[0] for row in rows],
        "pos": [row[1] for row in rows],
        "tag": ["WDT" if row[0] == "that" else "VBG" for row in rows],
        "dep": [row[2] for row in rows],
        "space": [True] * len(rows),
        "head": [row[3] % len(rows) for row in rows],
    }
    # Heads in circles are no tree; a parser of another make may still give them.
    try:
        result = Sentence.of(parse, " ".join(row[0] for row in rows))
    except ValueError as error:
        assert "not a tree" in str(error)
    else:
        assert all(0 < len(item) <= 3 for item in scene_graph(result).tuples)
