"""Fields and properties of values and contrasts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from components.reporting.values import Contrast, Value, beside_chance, best_of


def test_json_contains_known_values_only() -> None:
    assert Value(0.12345678).plain("value") == {"value": 0.123457}
    assert Value(0.5, 0.25, 0.75, (0.0, 1.0)).plain("mean") == {"mean": 0.5, "low": 0.25, "high": 0.75, "sd": 0.707107}


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_value_is_better_than_chance_when_its_whole_interval_is(low: float, chance: float) -> None:
    assert bool(beside_chance(low, chance)) == (low <= chance) and beside_chance(None, chance) == ""


@given(st.dictionaries(st.text(max_size=3), st.floats(0, 1), max_size=6))
def test_the_highest_printed_value_marks_the_best_rows(column: dict[str, float]) -> None:
    best = best_of({row: Value(mean) for row, mean in column.items()})
    printed = {row: round(mean, 3) for row, mean in column.items()}
    assert all(printed[row] == max(printed.values()) > 0 for row in best)
    assert bool(best) == (len(column) > 1 and max(printed.values()) > 0)


@given(st.floats(-1, 1), st.floats(0, 1), st.lists(st.floats(-1, 1), max_size=4))
def test_a_difference_is_significant_when_its_interval_excludes_0_and_seeds_agree_by_sign(
    low: float, width: float, seeds: list[float]
) -> None:
    contrast = Contrast("a less b", "english", Value(low + width / 2, low, low + width, tuple(seeds)))
    assert contrast.clear == (not low <= 0 <= low + width)
    assert contrast.agreeing == sum((seed > 0) == (low + width / 2 > 0) for seed in seeds if seed * (low + width / 2) != 0)
