"""Recognition of persons in a real image, and evidence for nouns from drawn-up results."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.cbook import get_sample_data

from components.core.result_cache import Annotator
from components.vision.detector import CATEGORIES, PERSON
from components.vision.evidence import Evidence, mean_evidence, noun_evidence
from components.vision.recognition import ImageRecognizer, synset_numbers
from components.web.images.opening import UnreadableImageError
from tests.support.knowledge.dictionary import extract
from tests.support.vision import drawn_image

DRAKE, SKI, IMPALA = 97, 795, 352
"""ImageNet positions: drake, ski, impala."""


def scores(*, person: float = 0.0, **classes: float) -> np.ndarray:
    values = np.zeros(1080, np.float16)
    for name, probability in classes.items():
        values[globals()[name]] = probability
    values[1000 + list(CATEGORIES.values()).index(PERSON)] = person
    return values


def evidence(noun: str, seen: np.ndarray) -> float:
    (found,) = noun_evidence([noun], seen, extract())
    return found.value


def test_a_person_is_recognised_in_a_photograph_and_none_in_a_drawing() -> None:
    recognizer = ImageRecognizer()
    assert isinstance(recognizer, Annotator)
    with get_sample_data("grace_hopper.jpg") as file:
        portrait = recognizer.compute(file.read())
    blank = recognizer.compute(drawn_image())
    assert portrait.shape == blank.shape == (len(synset_numbers()),) == (1080,) and portrait.dtype == np.float16
    assert np.array_equal(blank, recognizer.compute(drawn_image()))
    assert portrait[1000] > 0.4 and blank[1000] < 0.2
    assert evidence("woman", portrait) > evidence("woman", blank) + 0.3


def test_a_broken_image_is_refused() -> None:
    with pytest.raises(UnreadableImageError):
        ImageRecognizer().compute(drawn_image()[:60])


@pytest.mark.parametrize(("noun", "is_group"), [("woman", False), ("person", False), ("crowd", True), ("team", True)])
def test_a_detected_person_speaks_for_persons_and_groups_and_a_missing_one_against_persons_alone(
    noun: str, is_group: bool
) -> None:
    absent, detected = evidence(noun, scores(DRAKE=0.5)), evidence(noun, scores(person=0.9))
    assert detected > 0.1 + absent
    assert absent == 0 if is_group else absent < 0


@pytest.mark.parametrize("person", [0.0, 0.9])
def test_nouns_that_name_nothing_to_be_seen_count_neither_way(person: float) -> None:
    unseen = ["view", "day", "time", "side", "group", "kind", "top"]
    found = noun_evidence([*unseen, "park", "person", "dog"], scores(DRAKE=0.5, person=person), extract())
    assert [each.noun for each in found] == ["park", "person", "dog"]


def test_a_rare_class_speaks_more_for_its_noun_than_a_common_one() -> None:
    seen = scores(SKI=0.5, person=0.9)
    assert evidence("ski", seen) > evidence("woman", seen) + 1


def test_nouns_are_supported_by_hyponyms_and_by_words_used_near_the_class_and_not_by_unrelated_ones() -> None:
    assert evidence("bird", scores(DRAKE=0.5)) > 1 > 0 > evidence("bird", scores(SKI=0.5))
    assert evidence("mountain", scores(SKI=0.5)) > 0.2 + evidence("mountain", scores(DRAKE=0.5))


def test_the_label_that_counts_most_is_named_with_its_relation() -> None:
    seen = scores(DRAKE=0.9, person=0.9)
    found = {each.noun: each for each in noun_evidence(["bird", "woman", "crowd", "person", "mountain"], seen, extract())}
    relations = {noun: f"{each.relation} {each.label}" for noun, each in found.items()}
    assert relations.pop("mountain").startswith("is near ")
    assert relations == {
        "bird": "includes drake", "woman": "is a kind of person", "crowd": "consists of person", "person": "is person"
    }  # fmt: skip


def test_a_noun_without_a_class_is_supported_by_its_siblings() -> None:
    assert evidence("gnu", scores(IMPALA=0.5)) > 1 > 0 > evidence("gnu", scores(SKI=0.5))


def test_repeated_nouns_count_once_and_unknown_ones_not_at_all() -> None:
    seen = scores(DRAKE=0.5)
    assert [each.noun for each in noun_evidence(["bird", "xqzvbn", "bird"], seen, extract())] == ["bird"]
    assert mean_evidence([]) == 0.0
    assert mean_evidence([Evidence("a", 1.0, "", 0.0, "is"), Evidence("b", -0.5, "", 0.0, "is")]) == 0.25


def test_an_image_of_nothing_gives_finite_evidence() -> None:
    assert np.isfinite(evidence("bird", np.zeros(1080, np.float16)))
