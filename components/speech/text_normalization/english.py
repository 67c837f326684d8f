"""English, as Americans say it."""

from __future__ import annotations

from functools import lru_cache

from components.language.words import inflector
from components.speech.text_normalization.language import Language, read_tables


@lru_cache(maxsize=65536)
def cardinal(number: int, gender: str = "") -> str:
    """123 → "one hundred twenty-three"."""
    return str(inflector().number_to_words(number, andword="", comma=""))


def ordinal(number: int, feminine: bool = False) -> str:
    """23 → "twenty-third"."""
    return str(inflector().ordinal(cardinal(number)))


def year(number: int) -> str:
    """1905 → "nineteen oh five", 2017 → "twenty seventeen", 2005 → "two thousand five"."""
    first, last = divmod(number, 100)
    if not 10 <= first <= 99 or (first % 10 == 0 and last < 10):
        return cardinal(number)
    if last == 0:
        return f"{cardinal(first)} hundred"
    return f"{cardinal(first)} {'oh ' if last < 10 else ''}{cardinal(last)}"


def code_number(digits: str) -> str:
    """Return the number of a name: "319" → "three nineteen", "500" → "five hundred", "16" → "sixteen"."""
    if len(digits) == 3 and digits[1:] != "00":
        return f"{cardinal(int(digits[0]))} {'oh ' if digits[1] == '0' else ''}{cardinal(int(digits[1:]))}"
    return year(int(digits)) if len(digits) == 4 else cardinal(int(digits))


def fraction(above: int, below: int) -> str:
    """3/4 → "three quarters"."""
    if below in (2, 4):
        name = {2: "half", 4: "quarter"}[below]
        return f"{cardinal(above)} {name if above == 1 else {2: 'halves', 4: 'quarters'}[below]}"
    if below < 3 or below > 1000:
        return ""
    return f"{cardinal(above)} {ordinal(below)}{'' if above == 1 else 's'}"


def plural(words: str) -> str:
    """Several of a number: "ninety" → "nineties"."""
    if words.endswith("y"):
        return f"{words[:-1]}ies"
    return words + ("es" if words.endswith(("x", "s")) else "s")


def decades(digits: str) -> str:
    """ "1990" → "nineteen nineties", "90" → "nineties"."""
    number = int(digits)
    return plural(year(number) if len(digits) == 4 else code_number(digits) if len(digits) == 3 else cardinal(number))


def date(day: int, month: str, spoken_year: str) -> str:
    """ "September twenty-third, twenty seventeen"."""
    return f"{month} {ordinal(day)}" + (f", {spoken_year}" if spoken_year else "")


def clock(hour: int, minute: int, half: str) -> str:
    """ "three thirty pee em"."""
    if minute:
        said = f"{cardinal(hour)} {'oh ' if minute < 10 else ''}{cardinal(minute)}"
    elif half:
        said = cardinal(hour)
    else:
        said = f"{cardinal(hour)} o'clock" if 0 < hour <= 12 else "midnight" if hour in (0, 24) else f"{cardinal(hour)} hundred"
    return f"{said} {'pee em' if half == 'pm' else 'ay em'}" if half else said


LANGUAGE = Language(
    **read_tables("english"),
    code="en",
    cardinal=cardinal,
    ordinal=ordinal,
    year=year,
    code_number=code_number,
    fraction=fraction,
    date=date,
    clock=clock,
    decades=decades,
    ruler=lambda number, name: f"the {ordinal(number)}",
)
