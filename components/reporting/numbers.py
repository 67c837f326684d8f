"""Formats of numbers in all pages, summaries and files."""

from __future__ import annotations

ABSENT = "–"
"""Text of an unknown figure."""


def count(number: float) -> str:
    """Format an integer with commas: 1,234."""
    return f"{number:,.0f}"


def decimal(value: float, digits: int = 3, *, plus: bool = False) -> str:
    """Format a number with a minus sign (U+2212) and no sign for 0; ``plus`` adds a plus sign."""
    text = f"{value:{'+' if plus else ''}.{digits}f}"
    return text.lstrip("+-") if float(text) == 0 else text.replace("-", "−")


def percent(share: float, *, small: bool = False) -> str:
    """Format a share as a percentage with one decimal: 37.2 %.

    Args:
        share: 0 to 1.
        small: whether to use two significant digits below 1 % (0.16 %), and "< 0.01 %" below 0.01 %.
    """
    value = 100 * share
    if not small or value == 0 or value >= 1:
        return f"{value:.1f} %"
    return f"{value:.2g} %" if value >= 0.01 else "< 0.01 %"


def ratio(part: float, whole: float, *, small: bool = False) -> str:
    """Format a ratio as :func:`percent` does; a dash if ``whole`` is 0."""
    return percent(part / whole, small=small) if whole else ABSENT


def percent_interval(low: float, high: float) -> str:
    """Format an interval of a share in whole percent: 12–35 %."""
    return f"{100 * low:.0f}–{100 * high:.0f} %"


def rounded(value: float) -> float:
    """Round to six digits, as in JSON files; -0.0 becomes 0.0."""
    return round(value, 6) + 0.0


def six_digits(value: float | None) -> str:
    """Format a number with six digits, as in CSV files; an empty string for None."""
    return "" if value is None else f"{value + 0.0:.6f}"
