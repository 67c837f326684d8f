"""Which objects of a caption have no counterpart, by each rule, and the rates."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.metrics.counterparts import ALIKE
from components.metrics.hallucination import JudgedCaption, Rates, find_hallucinations, hallucination_rates
from tests.metrics.parsed import lexicon, parses


def judged(caption: str, *references: str, labels: tuple[str, ...] = (), words=True) -> list[JudgedCaption]:
    return find_hallucinations([caption], [references], [labels], parses(caption, *references), lexicon() if words else None)


def rates_of(items: list[JudgedCaption]) -> Rates:
    return hallucination_rates([(len(item.mentions), [one.lemma for one in item.hallucinated]) for item in items])


def how(caption: str, *references: str, labels: tuple[str, ...] = (), words=True) -> dict[str, str]:
    (item,) = judged(caption, *references, labels=labels, words=words)
    return {mention.lemma: counterpart.how if counterpart else "" for mention, counterpart in item.mentions}


@pytest.mark.long
def test_objects_in_the_references_match_in_any_number_and_part_of_speech():
    assert how("two dogs on the grass", "a dog on grass") == {"dog": "lemma", "grass": "lemma"}
    assert how("a bear eats fish", "a bear is fishing")["fish"] == "lemma"


def test_unnamed_objects_are_hallucinated_and_located():
    caption = "a dog next to a birthday cake"
    result = judged(caption, "a dog sleeps on a rug")
    (mention,) = result[0].hallucinated
    assert caption[mention.start : mention.end].endswith("cake") and mention.lemma == "cake"
    assert rates_of(result).words == [("cake", 1)]


def test_a_label_counts_as_a_reference():
    assert how("a dog with a camel", "a dog", labels=("Arabian camel", "camel"))["camel"] == "lemma"
    assert how("a hen", labels=("hen of the woods",)) == {"hen": "lemma"}


def test_a_synonym_is_a_counterpart():
    assert how("an airplane above a house", "an aeroplane and a house")["airplane"] == "synonym"


def test_a_broader_word_is_a_counterpart():
    assert how("an animal in a boat", "a zebra near a boat")["animal"] == "broader"


def test_a_narrower_word_matches_only_specific_nouns():
    assert how("a seagull above the water", "a bird over water")["seagull"] == "narrower"
    assert how("a zebra near water", "an animal near water")["zebra"] == ""


def test_equivalent_nouns_match():
    assert how("a pot on a table", "a pan on a table", words=False)["pot"] == "alike"
    assert all(len(names) > 1 for names in ALIKE)


def test_persons_match_unless_all_are_of_the_other_sex():
    assert how("a man in a tent", "a hiker in a tent")["man"] == "person"
    assert how("a man in a tent", "a woman in a tent")["man"] == ""


def test_one_person_matches_one_and_several_match_any_number():
    assert how("an actor and a worker", "the actor stands there") == {"actor": "lemma", "worker": ""}
    assert how("an actor and a worker", "people stand there") == {"actor": "person", "worker": "person"}


def test_labels_alone_do_not_decide_on_persons():
    assert how("a man with a guitar", labels=("acoustic guitar",)) == {"guitar": "lemma"}


def test_places_pictures_groups_and_times_are_not_objects():
    caption = "a picture of a group of dogs on top of a hill in the morning"
    assert how(caption, "dogs on a hill") == {"dog": "lemma", "hill": "lemma"}


def test_negated_objects_are_not_named():
    assert how("a tree without leaves and no birds", "a tree") == {"tree": "lemma"}


def test_an_unknown_word_is_not_an_object():
    assert how("a <UNK> on a table", "a vase on a table") == {"table": "lemma"}


def test_rates_are_shares_of_objects_and_of_captions():
    captions, references = ["a dog and a piano", "a dog"], [["a dog"], ["a dog"]]
    rates = rates_of(find_hallucinations(captions, references, [(), ()], parses(*captions), lexicon()))
    assert (rates.object_rate, rates.caption_rate) == (1 / 3, 1 / 2)


def test_captions_without_objects_have_no_object_rate():
    result = judged("", "a dog")
    assert rates_of(result).object_rate is None and rates_of(result).caption_rate == 0.0


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="neither references nor labels"):
        find_hallucinations(["a dog"], [[]], [[]], parses("a dog"))
    with pytest.raises(ValueError, match="must have the same length"):
        find_hallucinations(["a dog"], [["a dog"]], [], parses("a dog"))


THINGS = st.lists(
    st.sampled_from(["dog", "zebra", "piano", "lake", "boat", "tree", "tractor", "umbrella"]), min_size=1, max_size=3
)


@settings(max_examples=40, deadline=None)
@given(THINGS, THINGS, st.booleans())
def test_more_evidence_never_makes_a_hallucination(named, known, words):
    caption = " and ".join(f"a {thing}" for thing in named)
    few = judged(caption, labels=tuple(known[:1]), words=words)
    more = judged(caption, labels=tuple(known), words=words)
    assert {one.lemma for one in more[0].hallucinated} <= {one.lemma for one in few[0].hallucinated}
    assert not judged(caption, caption, words=words)[0].hallucinated
