"""The bootstrap interval of any statistic."""

from __future__ import annotations

import statistics

from hypothesis import given
from hypothesis import strategies as st

from components.metrics.bootstrap import bootstrap_interval

VALUES = st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=30)


@given(VALUES, st.integers(0, 99), st.integers(1, 40))
def test_indices_give_the_interval_that_the_items_give(values: list[float], seed: int, resamples: int) -> None:
    of_indices = bootstrap_interval(
        range(len(values)), lambda drawn: max(values[i] for i in drawn), seed=seed, resamples=resamples
    )
    assert of_indices == bootstrap_interval(values, max, seed=seed, resamples=resamples)


@given(VALUES, st.integers(0, 99))
def test_the_interval_ends_are_values_of_resamples(values: list[float], seed: int) -> None:
    low, high = bootstrap_interval(values, statistics.median_low, seed=seed, resamples=50)
    assert low <= high and {low, high} <= set(values)
    wide = bootstrap_interval(values, statistics.median_low, seed=seed, resamples=50, level=1.0)
    assert wide[0] <= low and high <= wide[1]


def test_without_items_the_interval_is_zero() -> None:
    assert bootstrap_interval([], max, seed=1, resamples=9) == (0.0, 0.0) == bootstrap_interval([1.0], max, seed=1, resamples=0)
