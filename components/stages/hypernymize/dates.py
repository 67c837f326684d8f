"""Dates, times of day and durations by their form, because the entity recogniser misses one in five.

Positions are positions of spaCy's tokens ("Sept.", "5", "," "2017"; "'s" apart). ``removals`` removes them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_MONTHS = """
    january february march april may june july august september october november december jan feb mar apr jun jul aug sep
    sept oct nov dec
"""
MONTHS = frozenset(_MONTHS.split())
_WHOLE_MONTHS = {month for month in MONTHS if len(month) > 4} | {"june", "july"}
_DAYS = """
    monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thurs fri sat sun
"""
DAYS = frozenset(_DAYS.split())
CALENDAR = MONTHS | DAYS - {"sun", "sat", "wed"}
SEASONS = frozenset({"spring", "summer", "autumn", "fall", "winter"})
RELATIVE = frozenset({"yesterday", "today", "tonight", "tomorrow"})
_UNITS = frozenset({"night", "morning", "evening", "day", "week", "weekend", "month", "year", "decade", "century"})
_YEAR = re.compile(r"(?:1[0-9]|20)\d\d(?:s|['’]s)?$")
_DECADE = re.compile(r"['’]?\d0(?:s|['’]s)$")
_DAY = re.compile(r"(?:[0-2]?\d|3[01])(?:st|nd|rd|th)?$")
_WHOLE = re.compile(
    r"(?:\d{1,2}[/.]\d{1,2}[/.](?:\d{4}|\d\d)|\d{4}-\d\d(?:-\d\d)?|\d{1,2}[:.]\d\d(?:am|pm)?|\d{1,2}(?:am|pm)"
    r"|(?:1[0-9]|20)\d\d[-–/](?:\d\d|\d{4}))$"
)
_CLOCK = frozenset({"am", "pm", "a.m.", "p.m.", "a.m", "p.m", "o'clock"})


def find_dates(words: Sequence[str]) -> list[tuple[int, int]]:
    """Return the spans, ``start`` to ``end`` (exclusive), that are dates, times or durations by their form; they do not overlap.

    A year counts as four digits from 1000 to 2099; "may" only next to a day or a year.
    """
    lowered = [word.lower().rstrip(".") for word in words]
    spans: list[tuple[int, int]] = []
    position = 0
    while position < len(words):
        end = _date(lowered, words, position)
        if end > position:
            spans.append((position, end))
            position = end
        else:
            position += 1
    return spans


def _date(lowered: Sequence[str], words: Sequence[str], start: int) -> int:
    """Return the end (exclusive) of the date that begins at ``start``; ``start`` if none does."""

    def at(position: int) -> str:
        return lowered[position] if position < len(lowered) else ""

    position = start
    if at(position) in DAYS:  # "Friday, March 9", "Sat. May 2"
        after = position + 2 if at(position + 1) in (",", "") else position + 1
        if at(after) in MONTHS or (_DAY.match(at(after)) and at(position) in CALENDAR):
            return max(position + 1, _date(lowered, words, after))
        if at(position) in CALENDAR:
            return position + 1
    if _WHOLE.match(at(position)) or at(position) in RELATIVE:
        return position + 1
    month = at(position) in MONTHS and words[position][:1].isupper()
    whole = at(position) in _WHOLE_MONTHS or words[position].endswith(".")  # "Jan" alone is a name
    if month and (_DAY.match(at(position + 1)) or _YEAR.match(at(position + 1)) or whole):
        position += 1
        if _DAY.match(at(position)):
            position += 1
        return _year_after(lowered, position)
    if _DAY.match(at(position)):
        after = position + 2 if at(position + 1) == "of" else position + 1
        if at(after) in MONTHS and words[after][:1].isupper():
            return _year_after(lowered, after + 1)
        if at(position + 1) in _CLOCK:
            return position + 2
    if at(position) in SEASONS and _YEAR.match(at(position + 1)):
        return position + 2
    if _YEAR.match(at(position)) or _DECADE.match(at(position)):
        return position + 1
    if at(position) in ("last", "next", "this") and (at(position + 1) in _UNITS or at(position + 1) in CALENDAR | SEASONS):
        return position + 2
    return start


def _year_after(lowered: Sequence[str], position: int) -> int:
    """Return the position after an optional year, with or without a comma."""
    year = position + 1 if position < len(lowered) and lowered[position] == "," else position
    return year + 1 if year < len(lowered) and _YEAR.match(lowered[year]) else position
