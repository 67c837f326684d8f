"""Numbers as text, the same on every page, in every summary and in every file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from components.reporting.values import Value

ABSENT = "–"
"""Stands where a figure is not known."""


class Ends(Protocol):
    """Anything with an interval."""

    @property
    def low(self) -> float | None:
        """The lower end."""

    @property
    def high(self) -> float | None:
        """The upper end."""


def count(number: float) -> str:
    """Write a whole number with commas: 1,234."""
    return f"{number:,.0f}"


def decimal(value: float, digits: int = 3, *, plus: bool = False) -> str:
    """Write a number with a true minus sign; zero has none, and ``plus`` signs all others."""
    text = f"{value:{'+' if plus else ''}.{digits}f}"
    return text.lstrip("+-") if float(text) == 0 else text.replace("-", "−")


def percent(share: float, *, small: bool = False) -> str:
    """Write a share in per cent with one decimal: 37.2 %.

    Args:
        share: 0 to 1.
        small: below 1 %, write two significant digits instead: 0.16 %, and < 0.01 % below that.
    """
    value = 100 * share
    if not small or value == 0 or value >= 1:
        return f"{value:.1f} %"
    return f"{value:.2g} %" if value >= 0.01 else "< 0.01 %"


def ratio(part: float, whole: float, *, small: bool = False) -> str:
    """Write a part of a whole as :func:`percent` does; a dash for a part of nothing."""
    return percent(part / whole, small=small) if whole else ABSENT


def number(value: Value) -> str:
    """Write a value with its spread over seeds: 0.345 ± 0.012, or 0.345 of one seed."""
    return f"{value.mean:.3f}" if value.deviation is None else f"{value.mean:.3f} ± {value.deviation:.3f}"


def interval(found: Ends) -> str:
    """Write an interval: 0.123 to 0.456; nothing where there is none."""
    return "" if found.low is None or found.high is None else f"{decimal(found.low)} to {decimal(found.high)}"


def percent_interval(low: float, high: float) -> str:
    """Write the ends of an interval of a share in whole per cents: 12–35 %."""
    return f"{100 * low:.0f}–{100 * high:.0f} %"


def rounded(value: float) -> float:
    """Round to the six digits that JSON files hold; zero is never negative."""
    return round(value, 6) + 0.0


def six_digits(value: float | None) -> str:
    """Write a number as CSV files hold it; nothing for None."""
    return "" if value is None else f"{value + 0.0:.6f}"
