"""Vision providers on drawn images: shapes, determinism, labels. The networks' weights come from packages."""

from __future__ import annotations

import numpy as np
import pytest

from components.core.result_cache import Annotator
from components.vision.classifier import classify, load_backbone
from components.vision.labels import match_hypernyms, nearest_hypernym, select_labels
from components.vision.nsfw import OpenNsfw
from components.web.images.opening import read_image
from tests.support.knowledge.dictionary import extract
from tests.support.vision import drawn_image

DOG, DRAKE, SOCK = 207, 97, 806
"""ImageNet positions: golden retriever, drake, sock."""
PERSON = 1000
"""Position of the detector's first category."""


def probabilities(**of: float) -> np.ndarray:
    values = np.zeros(1080, np.float32)
    for name, value in of.items():
        values[globals()[name]] = value
    return values


def test_class_probabilities_are_valid_and_reproducible() -> None:
    first, second = classify(read_image(drawn_image()).pixels), classify(read_image(drawn_image()).pixels)
    assert first.shape == (1000,) and abs(float(first.sum()) - 1) < 0.01
    assert np.array_equal(first, second)


def test_the_backbone_is_frozen() -> None:
    assert not any(parameter.requires_grad for parameter in load_backbone().parameters())


def test_a_plain_image_is_safe() -> None:
    assert isinstance(OpenNsfw(), Annotator)
    assert 0 <= OpenNsfw().compute(drawn_image()) < 0.3


def test_hypernyms_gather_the_probability_of_their_classes() -> None:
    labels = select_labels(probabilities(DOG=0.6, DRAKE=0.3), extract(), least=5, most=20, min_confidence=0.05, min_zipf=1.0)
    sure = {name: label.confidence for label in labels for name in label.names}
    assert sure["animal"] == pytest.approx(0.9) and sure["dog"] == pytest.approx(0.6) and sure["drake"] == pytest.approx(0.3)
    assert "entity" not in sure and "organism" not in sure


def test_an_image_has_five_to_twenty_labels_surest_first() -> None:
    for spread in (np.full(1080, 0.001, np.float32), probabilities(SOCK=1.0)):
        labels = select_labels(spread, extract(), least=5, most=20, min_confidence=0.05, min_zipf=1.0)
        assert 5 <= len(labels) <= 20
        assert [label.confidence for label in labels] == sorted((label.confidence for label in labels), reverse=True)


def test_a_detected_person_is_a_label_and_the_hypernym_of_a_woman() -> None:
    seen = probabilities(DOG=0.6, PERSON=0.9)
    labels = select_labels(seen, extract(), least=5, most=20, min_confidence=0.05, min_zipf=1.0)
    assert "person" in labels[0].names and labels[0].confidence == pytest.approx(0.9)
    assert match_hypernyms(["woman"], seen, extract(), min_confidence=0.1) == ["woman < person"]
    assert match_hypernyms(["woman"], probabilities(DOG=0.6), extract(), min_confidence=0.1) == []


def test_a_noun_without_a_class_overlaps_by_its_hypernym_and_not_by_a_general_one() -> None:
    seen = match_hypernyms(["scarf", "lamp"], probabilities(SOCK=0.9), extract(), min_confidence=0.1)
    assert seen == ["scarf < garment"] or seen == []
    assert match_hypernyms(["gander"], probabilities(DRAKE=0.9), extract(), min_confidence=0.1) != []
    assert match_hypernyms(["gander"], probabilities(DRAKE=0.05), extract(), min_confidence=0.1) == []
    noun, hypernym, confidence = nearest_hypernym(["lamp", "gander"], probabilities(DRAKE=0.05), extract()) or ("", "", 0.0)
    assert match_hypernyms([noun], probabilities(DRAKE=0.05), extract(), min_confidence=confidence) == [f"{noun} < {hypernym}"]
    assert noun == "gander" and 0.049 < confidence < 0.1
    assert nearest_hypernym(["of", "city"], probabilities(), extract()) is None  # no class is a municipality
