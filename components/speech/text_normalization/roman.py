"""Roman numerals in unambiguous positions: after a ruler's name or a word such as "chapter", and long or small ones elsewhere."""

from __future__ import annotations

import re
from functools import cache

from components.speech.text_normalization.draft import Draft
from components.speech.text_normalization.language import Language

_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
_NUMERAL = re.compile("(?=[IVXLCDM])M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})")
_SMALL = re.compile("[IVX]{2,}")
_UNSAFE = frozenset({"XX", "IV", "VI", "XI", "MIX", "XXX", "CIVIL"})


def value_of(numeral: str) -> int:
    """Return the value of a Roman numeral (XIV → 14), 0 for an invalid one."""
    if not _NUMERAL.fullmatch(numeral):
        return 0
    values = [_VALUES[letter] for letter in numeral]
    return sum(-one if one < following else one for one, following in zip(values, [*values[1:], 0], strict=True))


@cache
def _pattern(language: Language) -> re.Pattern[str]:
    suffixes = "|".join(language.roman_suffixes)
    ending = f"({suffixes})?" if suffixes else "()"
    return re.compile(
        rf"(?:(?<![\w'])([^\W\d_]+)\.?( ))?(?<![\w'.&-])([IVXLCDM]+){ending}(?![\w'&]|\.[A-Z])(?! [A-Z]\b)(?= ?([^\W\d_]*))"
    )


def say_roman(draft: Draft) -> None:
    """Read Roman numerals: ``Louis XIV``, ``chapter IV``, ``século XIX``, ``XIXe siècle``, ``MCMXC``.

    A single letter, or an ambiguous form (``XX``, ``IV``), is read only after a name or such a word.
    """
    language = draft.language

    def said(match: re.Match[str]) -> str | None:
        before, numeral, ending = (match[1] or "").lower(), match[3], match[4]
        number = value_of(numeral)
        if not number:
            return None
        keep = f"{match[1]} " if match[1] else ""
        if ending:
            return (
                f"{keep}{language.ordinal(number, ending in ('re',))}"
                if len(numeral) > 1 or ending != "e" or number < 11
                else None
            )
        named = (match[1] or "x")[0].isupper() or (match[1] or "").islower()
        if before in language.rulers and named and number < 40:
            return f"{keep}{language.ruler(number, before)}"
        if before in language.roman_before or before.removesuffix("s") in language.roman_before:
            small = language.roman_before.get(before, False) and number <= 10
            return f"{keep}{language.ordinal(number, False) if small else language.cardinal(number, '')}"
        if (
            language.code in ("pt", "es")
            and len(numeral) > 1
            and match[5][:1].isupper()
            and match[5][1:].islower()
            and number <= 10
        ):
            return f"{keep}{language.ordinal(number, language.feminine(match[5].lower()))}"  # "la II Guerra"
        if draft.shouting or (numeral in _UNSAFE and not (match[1] or "")[:1].isupper()):
            return None
        if _SMALL.fullmatch(numeral) or (len(numeral) >= 4 and 1100 <= number <= 2099):
            return f"{keep}{language.year(number) if number >= 1100 else language.cardinal(number, '')}"
        return None

    if any(letter in draft.text for letter in "IVXLCDM"):
        draft.sub("roman", _pattern(language), said)
