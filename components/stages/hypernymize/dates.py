"""Dates, times of day and durations in a parsed text, by their form: the recogniser of entities misses one in five.

Positions are token positions; the tokens are spaCy's ("Sept.", "5", "," "2017"; "'s" apart). Not in scope: striking them
(``strip``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_MONTHS = """
    january february march april may june july august september october november december jan feb mar apr jun jul aug sep
    sept oct nov dec
"""
MONTHS = frozenset(_MONTHS.split())
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


def dates(words: Sequence[str]) -> list[tuple[int, int]]:
    """The spans, ``start`` to ``end`` (not included), that are dates, times or durations by their form; none overlap.

    A year counts where it stands alone as four digits from 1000 to 2099; "may" only beside a day or a year.
    """
    plain = [word.lower().rstrip(".") for word in words]
    found: list[tuple[int, int]] = []
    place = 0
    while place < len(words):
        end = _date(plain, words, place)
        if end > place:
            found.append((place, end))
            place = end
        else:
            place += 1
    return found


def _date(plain: Sequence[str], words: Sequence[str], start: int) -> int:
    """Where the date that begins at ``start`` ends; ``start`` itself when none does."""

    def at(place: int) -> str:
        return plain[place] if place < len(plain) else ""

    place = start
    if at(place) in CALENDAR and at(place) not in MONTHS:  # "Friday, March 9"
        after = place + 2 if at(place + 1) == "," else place + 1
        return max(place + 1, _date(plain, words, after)) if at(after) in MONTHS or _DAY.match(at(after)) else place + 1
    if _WHOLE.match(at(place)) or at(place) in RELATIVE:
        return place + 1
    month = at(place) in MONTHS and words[place][:1].isupper()
    if month and (_DAY.match(at(place + 1)) or _YEAR.match(at(place + 1)) or at(place) != "may"):
        place += 1
        if _DAY.match(at(place)):
            place += 1
        return _year_after(plain, place)
    if _DAY.match(at(place)):
        after = place + 2 if at(place + 1) == "of" else place + 1
        if at(after) in MONTHS and words[after][:1].isupper():
            return _year_after(plain, after + 1)
        if at(place + 1) in _CLOCK:
            return place + 2
    if at(place) in SEASONS and _YEAR.match(at(place + 1)):
        return place + 2
    if _YEAR.match(at(place)) or _DECADE.match(at(place)):
        return place + 1
    if at(place) in ("last", "next", "this") and (at(place + 1) in _UNITS or at(place + 1) in CALENDAR | SEASONS):
        return place + 2
    return start


def _year_after(plain: Sequence[str], place: int) -> int:
    """Past the year that may follow, with or without a comma."""
    comma = place + 1 if place < len(plain) and plain[place] == "," else place
    return comma + 1 if comma < len(plain) and _YEAR.match(plain[comma]) else place
