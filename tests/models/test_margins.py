"""The margin follows the paper's figures and depends on the step alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.models.contrastive import margin_at


@pytest.mark.parametrize("schedule", ["continuous", "stepwise"])
@pytest.mark.parametrize(("step", "margin"), [(0, "0.001"), (100_000, "0.00122"), (1_000_000, "0.00737"), (3_000_000, "0.401")])
def test_the_margin_follows_the_paper(step: int, margin: str, schedule: str) -> None:
    assert f"{margin_at(step, schedule=schedule):.3g}" == margin  # type: ignore[arg-type]


@given(st.integers(0, 5_000_000))
def test_stepwise_and_continuous_margins_meet_every_thousand_steps(step: int) -> None:
    glide, stairs = margin_at(step), margin_at(step, schedule="stepwise")
    assert stairs == pytest.approx(margin_at(step - step % 1000)) and stairs <= glide * (1 + 1e-12) and glide < stairs * 1.002
    assert glide == 0.001 * 1.002 ** (step / 1000), "nothing but the step tells it"


def test_other_numbers_are_unchanged() -> None:
    assert margin_at(20, start=0.5, factor=2.0, every=10) == 2.0
    assert margin_at(19, start=0.5, factor=2.0, every=10, schedule="stepwise") == 1.0


@pytest.mark.parametrize(
    ("step", "message", "settings"),
    [
        (-1, "no margin at step -1", {}),
        (1, "every 0 steps", {"every": 0}),
        (1, "'linear' is not a margin schedule", {"schedule": "linear"}),
        (10**12, "too large to be a number", {}),
    ],
)
def test_invalid_margins_are_refused(step: int, message: str, settings: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=message):
        margin_at(step, **settings)  # type: ignore[arg-type]
