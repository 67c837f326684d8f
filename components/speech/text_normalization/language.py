"""The form of a language for the rules: number words, letter names, units, abbreviations, months.

What is computed is in ``english``, ``portuguese``, ``french`` and ``spanish``, the tables in ``data/<language>.toml``.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

LIMIT = 10**15
"""Numbers from here up are read digit by digit."""
_MODULES = {
    "en": "components.speech.text_normalization.english",
    "pt": "components.speech.text_normalization.portuguese",
    "fr": "components.speech.text_normalization.french",
    "es": "components.speech.text_normalization.spanish",
}
"""ISO 639-1 → the module with the tables; full names, which the code digest follows."""


@dataclass(frozen=True)
class Noun:
    """A currency or a unit of measure: singular and plural, and those of a currency's hundredth."""

    one: str
    many: str
    cent: str = ""
    cents: str = ""
    feminine: bool = False


@dataclass(frozen=True, eq=False)
class Language:
    """The tables and readings of one language. Genders are "m" (before a masculine noun), "f", or "" (no noun follows)."""

    code: str
    """ISO 639-1."""
    alphabet: str
    """Its small letters; other Latin letters lose their accents."""
    singles: frozenset[str]
    """Letters that are words, in lower case; not spelled when alone."""
    letters: Mapping[str, str]
    """Letter → its name."""
    group: str
    decimal: str
    decimal_word: str
    """Word for ``decimal``."""
    group_word: str
    """Word for ``group`` where it does not separate thousands: "2.5" in a Portuguese text."""
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
    and_a_half: tuple[str, str]
    """After a masculine and after a feminine noun."""
    feminine: Callable[[str], bool]
    """Whether a noun in lower case is feminine, by its ending and a list."""
    no_nouns: frozenset[str]
    """Words after a number that are not counted nouns."""
    date: Callable[[int, str, str], str]
    """Day, month's name, year in words or nothing → words."""
    month_first: bool
    months: tuple[str, ...]
    before_dates: frozenset[str]
    """Words before a date of day and month in figures: "dia 5/10"."""
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
    singular_below: float
    """Quantities below it take the singular."""
    money: Mapping[str, Noun]
    scales: Mapping[str, str]
    """What follows an amount: "million", "k" → word."""
    of_millions: str
    """What joins whole millions with what is counted: "de "; empty in English."""
    cents_joint: str
    """Between the whole and the cents."""
    cents_named: bool
    units: Mapping[str, Noun]
    words: Mapping[str, str]
    """Words inserted by rules: to, by, times, minus, number, dot, at, percent, about, over, f_stop."""
    symbols: Mapping[str, str]
    """Symbol → word, in any position."""
    abbreviations: Mapping[str, str]
    """With a dot, in lower case without the last one → word; "…~" keys only before a word in capitals or a digit."""
    before_digits: Mapping[str, str]
    """Abbreviations only in front of a number: "No. 5"."""
    bare: Mapping[str, str]
    """Abbreviations without a dot, in lower case; in the file ``dotless`` names those of ``abbreviations``."""
    acronyms: frozenset[str]
    """Acronyms spelled although they could be read as words, in capitals."""
    acronyms_but_words: frozenset[str]
    """Those of ``acronyms`` that are words where everything is in capitals."""
    rulers: frozenset[str]
    """Names, in lower case, after which a Roman numeral is an ordinal."""
    ruler: Callable[[int, str], str]
    """The number and name of a ruler → words of the number."""
    roman_before: Mapping[str, bool]
    """Words, in lower case, after which Roman numerals are read → whether small ones are ordinals ("século V")."""
    halves: tuple[str, str]
    """What goes before half of a masculine and of a feminine noun."""
    metre_joint: str | None = None
    """Between metres and centimetres in "1,80 m"; None where decimals are read."""
    contractions: Mapping[str, str] = field(default_factory=dict)
    """Pattern → replacement after numbers are words: "de un" → "d'un"."""
    decades: Callable[[str], str] | None = None
    """Digits of "1990s" → words; None for languages without such plurals."""
    letter_plural: Callable[[str], str] = lambda name: name + ("es" if name.endswith(("s", "x")) else "s")
    """A letter's name → its plural: "CDs"."""
    roman_suffixes: tuple[str, ...] = ()
    """Endings of a Roman ordinal: "XIXe"."""
    sports: str = ""
    """Pattern of words of games, near which "2 x 1" is a score; empty where scores are not written so."""
    titles: frozenset[str] = frozenset()
    """Abbreviations, in lower case, that go without their dot in front of a name: "St Patrick"."""
    short_words: frozenset[str] = frozenset()
    """Its words of two letters: "NO" is one, "AP" is none."""
    phrases: Mapping[str, str] = field(default_factory=dict)
    """Pattern → replacement for spellings in context ("18th c."), applied before numbers."""
    replaced: Mapping[str, str] = field(default_factory=dict)
    """Whole spellings of this language alone: "do n't"."""


_WORD_LISTS = ("before_dates", "singles", "no_nouns", "acronyms", "acronyms_but_words", "rulers", "titles", "short_words")
_FORMS = ("day_short", "symbols", "abbreviations", "before_digits", "bare", "scales", "money", "units")


@cache
def language_of(code: str) -> Language | None:
    """Return the tables of a language by its ISO 639-1 code, or None where there are none."""
    return import_module(_MODULES[code]).LANGUAGE if code in _MODULES else None


def languages() -> tuple[str, ...]:
    """Return the codes of all languages with tables."""
    return tuple(_MODULES)


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text block."""
    return frozenset(text.split())


def alternatives(forms: Iterable[str]) -> str:
    """Return a pattern of any of the forms, the longest first."""
    return "|".join(re.escape(form) for form in sorted(forms, key=len, reverse=True))


def listed(text: str) -> tuple[str, ...]:
    """Return the words of a text block, in order."""
    return tuple(text.split())


def read_tables(language: str) -> dict[str, Any]:
    """Return the fields of a :class:`Language` that are in ``data/<language>.toml``, or else in ``data/shared.toml``."""
    fields: dict[str, Any] = {}
    for source in ("shared", language):
        tables = tomllib.loads((Path(__file__).parent / "data" / f"{source}.toml").read_text(encoding="utf-8"))
        for name, value in tables.items():
            forms = _by_form(value) if name in _FORMS else value
            fields[name] = fields.get(name, {}) | forms if isinstance(forms, dict) else forms
    for name in _WORD_LISTS:
        fields[name] = words_of(fields.get(name, ""))
    fields["feminine"] = _gender(*(fields.pop(name, "") for name in ("feminine_nouns", "masculine_nouns", "feminine_ends")))
    for key in fields.pop("dotless").split():
        fields["bare"][key] = fields["abbreviations"].get(key) or fields["abbreviations"][f"{key}~"]
    fields["letters"] = dict(entry.split(" ", 1) for entry in fields["letters"])
    for name in ("and_a_half", "halves"):
        fields[name] = tuple(fields[name])
    fields["months"] = listed(fields["months"])
    fields["month_short"] = {
        form: number for number, forms in enumerate(fields["month_short"].split(), 1) for form in forms.split("/")
    }
    for key in fields.pop("month_dotted", "").split():
        fields["abbreviations"][key] = fields["months"][fields["month_short"][key.removesuffix("~")] - 1]
    fields["roman_suffixes"] = listed(fields.get("roman_suffixes", ""))
    fields["roman_before"] = _flags(fields.pop("roman_cardinal"), fields.pop("roman_ordinal", ""))
    fields["ordinal_marks"] = _flags(fields.pop("ordinal_masculine"), fields.pop("ordinal_feminine", ""))
    for name in ("money", "units"):
        fields[name] = {symbol: _noun(names) for symbol, names in fields[name].items()}
    words, money, units = fields["words"], fields["money"], fields["units"]
    implied = {"@": words["at"], "+": words["plus"], "≈": words["about"], "№": words["number"], "%": units["%"].one}
    implied |= {"°": units["°"].many} | {sign: money[sign].one for sign in "£$¥¢"}
    fields["symbols"] = implied | fields["symbols"]
    return fields


def _gender(feminine: str, masculine: str, ends: str) -> Callable[[str], bool]:
    """Return whether a noun is feminine, most often: by lists of nouns, else by its end."""
    known = dict.fromkeys(masculine.split(), False) | dict.fromkeys(feminine.split(), True)
    end = re.compile(ends or "(?!)")
    return lambda noun: known.get(noun, bool(end.search(noun)))


def _by_form(table: Mapping[str, str]) -> dict[str, str]:
    return {form: said for forms, said in table.items() for form in forms.split(", ")}


def _flags(false: str, true: str) -> dict[str, bool]:
    return dict.fromkeys(false.split(), False) | dict.fromkeys(true.split(), True)


def _noun(said: str) -> Noun:
    names = said.removesuffix(" (f)")
    one, many, cent, cents = [*names.split(", "), "", ""][:4]
    return Noun(one, many, cent, cents, feminine=names != said)
