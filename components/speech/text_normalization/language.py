"""What one language brings to the rules: numbers as words, names of letters, units, abbreviations, months.

The tables of the languages are in ``english``, ``portuguese``, ``french`` and ``spanish``; this is their shape.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module

LIMIT = 10**15
"""Numbers from here up are read digit by digit."""
_MODULES = {
    "en": "components.speech.text_normalization.english",
    "pt": "components.speech.text_normalization.portuguese",
    "fr": "components.speech.text_normalization.french",
    "es": "components.speech.text_normalization.spanish",
}
"""ISO 639-1 → the module that holds the tables; full names, which the digest of the code follows."""


@dataclass(frozen=True)
class Money:
    """A currency: one and many of it, one and many of its hundredth."""

    one: str
    many: str
    cent: str = ""
    cents: str = ""
    feminine: bool = False


@dataclass(frozen=True)
class Unit:
    """A unit of measure: one and many of it."""

    one: str
    many: str
    feminine: bool = False


@dataclass(frozen=True, eq=False)
class Language:
    """The tables and readings of one language. Genders are "m" (before a masculine noun), "f", or "" (no noun follows)."""

    code: str
    """ISO 639-1."""
    alphabet: str
    """Its small letters; other Latin letters lose their accents."""
    singles: frozenset[str]
    """Letters that are words, in lower case: they stay when alone."""
    letters: Mapping[str, str]
    """Letter → its name."""
    letter_plural: Callable[[str], str]
    """A letter's name → more than one of it: "CDs"."""
    group: str
    decimal: str
    decimal_word: str
    """Said for ``decimal``."""
    group_word: str
    """Said for ``group`` where it parts no thousands: "2.5" in a Portuguese text."""
    fraction_digits: int
    """Decimals up to so many digits are read as one number, longer ones digit by digit; 0: always by digits."""
    cardinal: Callable[[int, str], str]
    """A number below ``LIMIT`` and the gender → words."""
    ordinal: Callable[[int, bool], str]
    """A number from 1 and whether it is feminine → words."""
    year: Callable[[int], str]
    code_number: Callable[[str], str]
    """The digits of a name: "319" of A319."""
    fraction: Callable[[int, int], str]
    """Numerator and denominator → words, or nothing where there is no such name."""
    and_a_half: str
    half_feminine: str
    """Said of half of something feminine; empty where that makes no difference."""
    feminine: Callable[[str], bool]
    """Whether a noun in lower case is feminine, by its ending and a list."""
    no_nouns: frozenset[str]
    """Words behind a number that are no noun it counts."""
    date: Callable[[int, str, str], str]
    """Day, month's name, year in words or nothing → words."""
    month_first: bool
    months: tuple[str, ...]
    month_short: Mapping[str, int]
    """Short form without its dot, in lower case → 1..12."""
    day_short: Mapping[str, str]
    of_words: str
    """Pattern of what may stand between day and month, month and year."""
    clock: Callable[[int, int, str], str]
    """Hour, minute and "am", "pm" or nothing → words."""
    hour_letter: bool
    """Whether "15h30" is a time."""
    ordinal_marks: Mapping[str, bool]
    """What follows the digits of an ordinal → whether it is feminine."""
    decades: Callable[[str], str] | None
    """Digits of "1990s" → words; None where there is no such thing."""
    singular_below: float
    """A quantity below it is one, from it on many."""
    money: Mapping[str, Money]
    scales: Mapping[str, tuple[str, bool]]
    """What follows an amount: "million", "k" → word, and whether it must stand behind a currency sign's amount."""
    of_many: Callable[[str], str]
    """What joins "million" with a currency's name: "de dólares"."""
    cents_joint: str
    """Between the whole and the cents."""
    cents_named: bool
    units: Mapping[str, Unit]
    words: Mapping[str, str]
    """Words the rules insert: to, by, times, minus, number, dot, at, percent, about, over, f_stop."""
    symbols: Mapping[str, str]
    """Symbol → word, wherever it stands."""
    abbreviations: Mapping[str, str]
    """With a dot, in lower case without the last one → word; "…~" keys only before a word in capitals or a digit."""
    before_digits: Mapping[str, str]
    """Abbreviations only in front of a number: "No. 5"."""
    bare: Mapping[str, str]
    """Abbreviations without a dot, in lower case."""
    acronyms: frozenset[str]
    """Said letter by letter although they could be read as a word, in capitals."""
    acronyms_but_words: frozenset[str]
    """Those of ``acronyms`` that are words where everything is in capitals."""
    rulers: frozenset[str]
    """Names, in lower case, behind which a Roman numeral is an ordinal."""
    ruler: Callable[[int, str], str]
    """The number and name of a ruler → words of the number."""
    roman_before: Mapping[str, bool]
    """Words, in lower case, behind which a Roman numeral is safe → whether small ones are ordinals ("século V")."""
    roman_suffixes: tuple[str, ...] = ()
    """Endings of a Roman ordinal: "XIXe"."""
    titles: frozenset[str] = frozenset()
    """Abbreviations, in lower case, that go without their dot in front of a name: "St Patrick"."""
    short_words: frozenset[str] = frozenset()
    """Its words of two letters: "NO" is one, "AP" is none."""
    phrases: Mapping[str, str] = field(default_factory=dict)
    """Pattern → what is said, for spellings that need their neighbours: "18th c."; before all numbers are read."""
    replaced: Mapping[str, str] = field(default_factory=dict)
    """Whole spellings of this language alone: "do n't"."""


@cache
def language_of(code: str) -> Language | None:
    """Return the tables of a language by its ISO 639-1 code, or None where there are none."""
    return import_module(_MODULES[code]).LANGUAGE if code in _MODULES else None


def languages() -> tuple[str, ...]:
    """Return the codes of all languages with tables."""
    return tuple(_MODULES)


def words_of(text: str) -> frozenset[str]:
    """Return the words of a table written as a block."""
    return frozenset(text.split())


def listed(text: str) -> tuple[str, ...]:
    """Return the words of a table written as a block, in their order."""
    return tuple(text.split())


def letters(small: str, names: str) -> dict[str, str]:
    """Return the letters and their names, which commas part."""
    return dict(zip(small, names.split(","), strict=True))


def table(text: str) -> dict[str, str]:
    """Return a table written as a block: a line each, what is written, ``=``, what is said."""
    rows = (line.split("=", 1) for line in text.strip().splitlines())
    return {left.strip(): right.strip() for left, right in rows}


def units(text: str) -> dict[str, Unit]:
    """Units written as a block: ``symbols = one, many`` with ``f`` as a third for feminine ones; several symbols by blanks."""
    found: dict[str, Unit] = {}
    for symbols, said in table(text).items():
        one, many, *gender = [part.strip() for part in said.split(",")]
        found |= {symbol: Unit(one, many, bool(gender)) for symbol in symbols.split()}
    return found


def short_forms(text: str) -> dict[str, int]:
    """Short months written as a block of twelve words, several forms of a month joined by ``/``."""
    return {form: number for number, forms in enumerate(text.split(), 1) for form in forms.split("/")}
