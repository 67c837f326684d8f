"""Words in capitals, acronyms, single letters, and letters mixed with figures."""

from __future__ import annotations

import re
from functools import cache

from components.speech.text_normalization.draft import Draft
from components.speech.text_normalization.language import Language

_WORD = r"[^\W\d_²³ºª]"
_MIXED = re.compile(rf"(?<!\w)(?:{_WORD}+-?[0-9]|[0-9]+{_WORD})(?:{_WORD}|[0-9])*(?!\w)")
_ROAD = re.compile(r"(?<![\w-])([A-Z]{1,3})-([0-9]{1,4})(?![\w-]|[.,][0-9])")
_RUNS = re.compile(rf"{_WORD}+|[0-9]+")
_LAST_LETTER = re.compile(r"(?<=\w{2})-(?=[B-HJ-Z](?![\w.'’-]))")
_TO_DIGITS = re.compile(rf"(?<={_WORD})-(?=[0-9])|(?<=[0-9])-(?=[A-Z]{{1,3}}(?!\w))")
_CAPITALS = re.compile(
    r"(?:(?<![\w'])(?:([A-ZÀ-Þ]{1,2}')(?=[A-ZÀ-Þ]{2}))?|(?<=[a-z]'))([A-ZÀ-Þ]{2,})('[A-ZÀ-Þ]{1,2})?('?s)?(?!\w)"
)
_QUOTED = re.compile('"[^"a-zà-ÿ]* [^"a-zà-ÿ]*"')
"""Several words in capitals in quotation marks."""
_ALONE = re.compile(rf"(?<![\w'’-])({_WORD})(?![\w'’-])")
_PAIR = re.compile(r"(?<![\w'])([A-Z])\s?&\s?([A-Z])(?![\w'])")
_LETTER_S = re.compile(r"(?<![\w'])([A-Z])'s(?!\w)")
_VOWELS = re.compile("[aeiouyáâãàäéêèëíîìïóôõòöúûùü]")
_CLUSTER = re.compile("^(?!s|ch|th|ph)[bcdfghjklmnpqrtvwxz]{3}|[bcdfghjklmnpqrtvwxz]{5}")
"""Consonants that no word has: "BNDES"."""
_COMMON = 10**-5.6
"""A word of two or three letters is common above this frequency (``wordfreq``): "NEW", "BIG"."""
_SHORT = 3


@cache
def _frequencies(code: str) -> dict[str, float]:
    # Imported here: slow to load.
    from wordfreq import get_frequency_dict

    return {word: share for word, share in get_frequency_dict(code, "small").items() if len(word) <= _SHORT and share > _COMMON}


def is_shouting(text: str) -> bool:
    """Return whether the text is in capitals throughout: of at least two words and eight letters, nine in ten letters are."""
    letters = [letter for letter in text if letter.isalpha()]
    return len(letters) >= 8 and " " in text.strip() and sum(map(str.isupper, letters)) > 0.9 * len(letters)


def is_word(capitals: str, language: Language, *, shouting: bool) -> bool:
    """Return whether a word in capitals is read as a word instead of spelled."""
    small = capitals.lower()
    if not _VOWELS.search(small):
        return False
    if capitals in language.acronyms:
        return shouting and capitals in language.acronyms_but_words
    if not _VOWELS.search(small.replace("y", "")) and not shouting:
        return small in _frequencies(language.code)
    if _CLUSTER.search(small):
        return False
    if len(small) == 2:
        return shouting or small in language.short_words
    return len(small) > _SHORT or shouting or small in _frequencies(language.code)


def spell(letters: str, language: Language) -> str:
    """Return the names of letters: "BMW" → "bee em double you"."""
    return " ".join(language.letters.get(letter, letter) for letter in letters.lower())


def say_capitals(draft: Draft) -> None:
    """Lower-case words in capitals, and spell acronyms."""
    language = draft.language
    joint = language.symbols["&"]
    draft.sub("letters", _PAIR, lambda match: f"{spell(match[1], language)} {joint} {spell(match[2], language)}")
    draft.sub("letters", _LAST_LETTER, lambda match: " ")
    shouted = [quoted.span() for quoted in _QUOTED.finditer(draft.text)]

    def said(match: re.Match[str]) -> str:
        word, ending = match[2], match[4] or ""
        before = (match[1] or "").lower() if draft.shouting else match[1] or ""
        shouting = draft.shouting or any(start < match.start() < end for start, end in shouted)
        if match[3] or is_word(word, language, shouting=shouting):  # "DON'T" is a word
            return before + word.lower() + (match[3] or "").lower() + ending
        names = spell(word, language)
        if ending == "s":
            head, _, last = names.rpartition(" ")
            return before + f"{head} {language.letter_plural(last)}".strip()
        return before + names + ending

    draft.sub("capitals", _CAPITALS, said)


def say_roads(draft: Draft) -> None:
    """Read letters and a number joined by a hyphen, before the number is taken for a quantity: ``BR-101 km 5``, ``B-52``."""
    draft.sub("mixed", _ROAD, lambda match: f"{spell(match[1], draft.language)} {_part(match[2], draft.language)}")


def say_mixed(draft: Draft) -> None:
    """Read names of letters and figures: ``A319``, ``mp3``, ``3D``, ``H2O``, ``COVID-19``, ``iPhone12``."""
    language = draft.language

    def runs(match: re.Match[str]) -> str:
        parts = _RUNS.findall(match[0])
        if parts[-1] == "s" and len(parts) > 1 and len(parts[-2]) < 4:  # "B-52s"
            number = language.decades(parts[-2]) if language.decades else _part(parts[-2], language)
            return " ".join([*(_part(part, language) for part in parts[:-2]), number])
        return " ".join(_part(part, language) for part in parts)

    draft.sub("mixed", _MIXED, runs)
    draft.sub("mixed", _TO_DIGITS, lambda match: " ")


def _part(text: str, language: Language) -> str:
    """Return the digits or the letters of a name as they are said."""
    if text.isdecimal():
        if len(text) <= 4 and text[0] != "0":
            return language.code_number(text)
        return " ".join(language.cardinal(int(digit), "") for digit in text)
    word = len(text) > _SHORT and is_word(text, language, shouting=not text.isupper())
    lowered = text.islower() and (text in language.no_nouns or (len(text) == _SHORT and text in _frequencies(language.code)))
    if word or lowered or (text[1:].islower() and len(text) >= _SHORT and _VOWELS.search(text)):
        return text
    return spell(text, language)


def say_letters(draft: Draft) -> None:
    """Replace single letters by their names, except words of the language."""
    language = draft.language

    def alone(match: re.Match[str]) -> str | None:
        letter = match[1].lower()
        return None if letter in language.singles else language.letters.get(letter)

    draft.sub("letter", _LETTER_S, lambda match: language.letter_plural(language.letters.get(match[1].lower(), match[1])))
    draft.sub("letter", _ALONE, alone)
