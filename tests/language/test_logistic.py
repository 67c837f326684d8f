"""The regression is at the maximum of its likelihood, prefers evidence to none, and is the same each time."""

from __future__ import annotations

import numpy as np
import pytest

from components.language.logistic import choose_features, fit, probability, to_matrix


def test_the_gradient_of_the_penalised_likelihood_vanishes_at_the_weights() -> None:
    rng = np.random.default_rng(1)
    matrix = np.hstack([rng.random((200, 5)), np.ones((200, 1))])
    positive = (matrix[:, 0] + 0.3 * rng.random(200) > 0.6).astype(float)
    importance = rng.random(200)
    weights = fit(matrix, positive, importance, 0.5)
    likely = 1 / (1 + np.exp(-matrix @ weights))
    gradient = matrix.T @ (importance * (positive - likely)) - 0.5 * np.append(weights[:-1], 0)
    assert np.abs(gradient).max() < 1e-4
    assert np.array_equal(weights, fit(matrix, positive, importance, 0.5))
    assert np.allclose(weights, fit(matrix, positive, importance, 0.5, weights + 0.1), atol=1e-4)


def test_features_of_too_few_examples_get_no_column_and_the_last_column_is_the_intercept() -> None:
    examples = [{"a": 1.0, "b": 0.5}, {"a": 1.0}, {"c": 0.0}]
    names = choose_features(examples, 2)
    assert names == ["a"] and to_matrix(examples, names).tolist() == [[1, 1], [1, 1], [0, 1]]


@pytest.mark.parametrize(("score", "expected"), [(0, 0.5), (1e9, 1.0), (-1e9, 0.0)])
def test_a_score_of_any_size_is_a_probability(score: float, expected: float) -> None:
    assert probability(score) == pytest.approx(expected, abs=1e-12)
