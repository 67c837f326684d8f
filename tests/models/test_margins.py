"""The margin follows the paper's figures and depends on the step alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.models.contrastive import margin_at


@pytest.mark.parametrize(("step", "margin"), [(0, "0.001"), (100_000, "0.00122"), (1_000_000, "0.00737"), (3_000_000, "0.401")])
def test_the_margin_follows_the_paper(step: int, margin: str) -> None:
    assert f"{margin_at(step):.3g}" == margin


@given(st.integers(0, 5_000_000))
def test_nothing_but_the_step_sets_the_margin(step: int) -> None:
    assert margin_at(step) == 0.001 * 1.002 ** (step / 1000)


def test_other_numbers_are_unchanged() -> None:
    assert margin_at(20, start=0.5, factor=2.0, every=10) == 2.0


@pytest.mark.parametrize(
    ("step", "message", "settings"),
    [
        (-1, "no margin at step -1", {}),
        (1, "every 0 steps", {"every": 0}),
        (10**12, "too large to be a number", {}),
    ],
)
def test_invalid_margins_are_refused(step: int, message: str, settings: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=message):
        margin_at(step, **settings)  # type: ignore[arg-type]
