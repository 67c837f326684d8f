"""Word vectors: known words have unit vectors, and related words are nearer than unrelated ones."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from components.language.vectors import SIZE, WordVectors, load_vectors

FEW = WordVectors(pa.array(["b", "d", "é"]), np.array([2, 0, 1]), np.array([[0, 2.0], [3.0, 4.0], [5.0, 0]], dtype=np.float32))


@pytest.mark.parametrize(("word", "vector"), [("b", [1, 0]), ("B", [1, 0]), ("d", [0, 1]), ("é", [0.6, 0.8])])
def test_a_known_word_has_a_unit_vector_whatever_its_case(word: str, vector: list[float]) -> None:
    assert FEW.word(word) == pytest.approx(vector)


@pytest.mark.parametrize("word", ["", "a", "c", "e", "z", "ü", "\0"])
def test_an_unknown_word_has_none(word: str) -> None:
    assert FEW.word(word) is None and FEW.phrase(word) is None


def test_a_phrase_has_the_unit_mean_of_its_known_words() -> None:
    assert FEW.phrase("b-d x") == pytest.approx([0.5**0.5, 0.5**0.5])


def test_packaged_vectors_tell_related_words_from_unrelated_ones() -> None:
    vectors = {word: load_vectors().word(word) for word in ("snow", "ski", "piano")}
    assert all(vector is not None and vector.shape == (SIZE,) for vector in vectors.values())
    assert vectors["snow"] @ vectors["ski"] > 0.3 + vectors["snow"] @ vectors["piano"]  # type: ignore[operator]
