"""Roman numerals in unambiguous positions: after a ruler's name or a word such as "chapter", and long or small ones elsewhere."""

from __future__ import annotations

import re
from functools import cache

from components.speech.text_normalization.draft import Draft
from components.speech.text_normalization.figures import gender_of
from components.speech.text_normalization.language import Language, alternatives, words_of

_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
_NUMERAL = re.compile("(?=[IVXLCDM])M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})")
_SMALL = re.compile("[IVX]{2,}")
_ARTICLES = words_of("el la los las del al en a o os as da do das dos na no nas nos à ao pela pelo de")
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
        rf"(?:(?<![\w'])([^\W\d_]+)\.?( ))?(?<![\w'.&-])([IVXLCDM]+){ending}(?![\w&]|\.[A-Z]|'(?!s\b))"
        r"(?! [A-Z]\b)(?= ?([^\W\d_]*))"
    )


@cache
def _pairs(language: Language) -> re.Pattern[str]:
    names = alternatives(name for before in language.roman_before for name in (before, before.capitalize()))
    return re.compile(
        rf"(?<!\w)((?:{names})s?) ([IVXLC]+)(?:\s?[-–—]\s?|( (?:y|e|o|a|al|et|à|au|and|to|&) ))([IVXLC]+)(?![\w.'-])"
    )


def _numbered(before: str, number: int, language: Language) -> str:
    """Return the number after a word such as "chapter"."""
    ordinal = language.roman_before.get(before, language.roman_before.get(before.removesuffix("s"), False)) and number <= 10
    return language.ordinal(number, False) if ordinal else language.cardinal(number, "")


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
        following = match[5]
        if ending:
            return (
                f"{keep}{language.ordinal(number, ending == 're')}" if len(numeral) > 1 or ending != "e" or number < 11 else None
            )
        if language.code == "fr" and following in ("siècle", "siècles"):
            return f"{keep}{language.ordinal(number, False)}"
        named = (match[1] or "x")[0].isupper() or (match[1] or "").islower()
        if before in language.rulers and named and number < 40:
            return f"{keep}{language.ruler(number, before)}"
        if before in language.roman_before or before.removesuffix("s") in language.roman_before:
            return keep + _numbered(before, number, language)
        article = not before or before in _ARTICLES
        named = following[:1].isupper() and following[1:].islower()
        if (
            language.code in ("pt", "es")
            and (named or (article and before and gender_of(following, language)))
            and (number <= 10 or (article and number <= 50))
            and (len(numeral) > 1 or (article and numeral in ("I", "V", "X") and len(following) > 2))
        ):
            words = language.ordinal(number, language.feminine(following.lower()))  # "la II Guerra", "os XV Jogos"
            if following.endswith(("os", "as")):
                words = f"{words.replace(' ', 's ')}s"
            elif language.code == "es" and words.endswith(("primero", "tercero")):
                words = words[:-1]
            return keep + words
        if draft.shouting or (numeral in _UNSAFE and not (match[1] or "")[:1].isupper()):
            return None
        if _SMALL.fullmatch(numeral) or (len(numeral) >= 4 and 1100 <= number <= 2099):
            return f"{keep}{language.year(number) if number >= 1100 else language.cardinal(number, '')}"
        return None

    def pair(match: re.Match[str]) -> str | None:
        first, second = value_of(match[2]), value_of(match[4])
        if not first or not second:
            return None
        joint = match[3] or f" {language.words['to']} "
        return f"{match[1]} {_numbered(match[1].lower(), first, language)}{joint}{_numbered(match[1].lower(), second, language)}"

    if any(letter in draft.text for letter in "IVXLCDM"):
        draft.sub("roman", _pairs(language), pair)
        draft.sub("roman", _pattern(language), said)
