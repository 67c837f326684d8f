"""Formats of numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.reporting import values
from components.reporting.values import Value, interval, number


@given(st.floats(0, 1))
def test_only_a_zero_share_is_shown_as_0(share: float) -> None:
    assert (values.percent(share, small=True) == "0.0 %") == (share == 0)


@given(st.floats(-1e6, 1e6), st.integers(0, 6))
def test_a_minus_sign_is_a_true_one_and_zero_has_no_sign(value: float, digits: int) -> None:
    text = values.decimal(value, digits, plus=True)
    assert "-" not in text and float(text.replace("−", "-")) == float(f"{value:.{digits}f}")
    assert (text[0] in "+−") == (float(f"{value:.{digits}f}") != 0)


@pytest.mark.parametrize(
    ("share", "plain", "small"),
    [(0.3721, "37.2 %", "37.2 %"), (0.0016, "0.2 %", "0.16 %"), (0.00001, "0.0 %", "< 0.01 %"), (0.0, "0.0 %", "0.0 %")],
)
def test_a_share_has_one_decimal_or_the_digits_that_a_small_one_needs(share: float, plain: str, small: str) -> None:
    assert (values.percent(share), values.percent(share, small=True)) == (plain, small)
    assert values.ratio(1, 0) == values.ABSENT


def test_a_value_is_shown_with_its_deviation_and_interval_if_known() -> None:
    several = Value(0.5, -0.0001, 1.0, (0.4, 0.6))
    assert (number(several), interval(several)) == ("0.500 ± 0.141", "0.000 to 1.000")
    assert (number(Value(0.5)), interval(Value(0.5))) == ("0.500", "")
