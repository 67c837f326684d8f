"""Abbreviations with and without a dot, initials and letters with dots."""

from __future__ import annotations

import re
from functools import cache

from components.speech.text_normalization.draft import Draft
from components.speech.text_normalization.language import Language, alternatives, words_of

_DOTTED = re.compile(r"(?<![\w.'])((?:[A-Za-z]\.){2,})(?![\w])|(?<![\w.'])([A-Z](?:\.[A-Z])+)(?![\w.])")
_INITIALS = re.compile(r"(?<![\w.'-])([A-Z])\.(?=[ -]?[A-ZÀ-Þ])")


@cache
def _dotted(language: Language) -> re.Pattern[str]:
    known = {key.removesuffix("~") for key in (*language.abbreviations, *language.before_digits)}
    names = alternatives(known).replace(r"\ ", r"\s?")
    return re.compile(rf"(?<![\w.'&-])({names})\.(?![\w])(\s*)(?=(\S?))", re.IGNORECASE)


@cache
def _before_digits(language: Language) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.'&-])(?<![0-9] )({alternatives(language.before_digits)})\.?[º°]?\s?(?=[0-9])", re.IGNORECASE)


@cache
def _bare(language: Language) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.'&/])({alternatives(language.bare)})(?![\w.'])(?<!/(?=\s*$))", re.IGNORECASE)


@cache
def _replaced(language: Language) -> re.Pattern[str] | None:
    return re.compile(rf"(?<=[A-Za-z])({alternatives(language.replaced)})(?!\w)", re.IGNORECASE) if language.replaced else None


@cache
def _titles(language: Language) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.'&-])({alternatives(map(str.capitalize, language.titles))})(?= [A-ZÀ-Þ][a-zà-ÿ])")


@cache
def _phrases(language: Language) -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(pattern), said) for pattern, said in language.phrases.items())


def say_phrases(draft: Draft) -> None:
    """Expand spellings that depend on context: ``18th c.``, ``s. XIX``, ``2700K``."""
    for pattern, said in _phrases(draft.language):
        draft.sub("phrase", pattern, lambda match, said=said: match.expand(said))  # type: ignore[misc]


def say_before_digits(draft: Draft) -> None:
    """Expand abbreviations before numbers: ``No. 5``, ``fig. 2``."""
    language = draft.language

    def said(match: re.Match[str]) -> str | None:
        key = match[1].lower()
        ambiguous = key in _NEED_DOT and "." not in match[0] and "º" not in match[0] and "°" not in match[0]
        return None if ambiguous else f"{language.before_digits[key]} "

    draft.sub("abbreviation", _before_digits(language), said)
    draft.sub("number_sign", _NUMBER_SIGN, lambda match: f"{language.words['number']} ")


def say_abbreviations(draft: Draft) -> None:
    """Expand ``Mr.``, ``St.``, ``etc.``, ``F.B.I.``, ``J. K. Rowling``.

    At the end of the text the dot stays as a full stop. "St." and "Dr." are streets after a name and not before one.
    """
    language = draft.language
    table = language.abbreviations

    def dotted(match: re.Match[str]) -> str | None:
        key = re.sub(r"(?<=\.)\s", " ", match[1].lower())
        following = match[3]
        capital = following.isupper()
        word = None
        if f"{key}~" in table and capital and (key not in table or match[1][0].isupper()):
            word = table[f"{key}~"]
        else:
            word = table.get(key) or table.get(key.replace(". ", ".")) or table.get(key.replace(".", ". "))
        if language.code == "en" and key in _STREETS and _after_name(match) and (not capital or key == "dr"):
            word = _STREETS[key]
        if word is None:
            return None
        end = "." if not following else ""
        return f"{word}{end}{match[2]}"

    def letters(match: re.Match[str]) -> str | None:
        written = match[1] or match[2]
        known = table.get(written.rstrip(".").lower())
        said = known or " ".join(language.letters.get(letter.lower(), letter) for letter in written if letter != ".")
        return said + ("." if match.end() == len(match.string) and written.endswith(".") else "")

    if "." in draft.text:
        draft.sub("abbreviation", _dotted(language), dotted)
        draft.sub("letters", _DOTTED, letters)
        draft.sub("initial", _INITIALS, lambda match: f"{language.letters.get(match[1].lower(), match[1])} ")

    def title(match: re.Match[str]) -> str | None:
        key = match[1].lower()
        return None if key == "st" and language.code == "en" and _after_name(match) else table.get(f"{key}~") or table.get(key)

    draft.sub("abbreviation", _titles(language), title)
    draft.sub(
        "abbreviation", _bare(language), lambda match: language.bare[match[1].lower()] + (" " if match[1].endswith("/") else "")
    )
    replaced = _replaced(language)
    if replaced is not None:
        draft.sub("joined", replaced, lambda match: language.replaced[match[1].lower()])


def _after_name(match: re.Match[str]) -> bool:
    """Return whether a capitalised word or an ordinal precedes: "Main St.", "5th St."."""
    before = match.string[: match.start()].rstrip(" ").rsplit(" ", 1)[-1]
    return before[:1].isupper() and before[-1:].isalpha() and before.lower() not in ("at", "in", "the", "of", "and", "near")


_NEED_DOT = words_of("""
    no nos n c ca ch p pg art sec est ed ver op ste apt cap ap min env fig vol lat long a al d r v rm
""")
_STREETS = {"st": "Street", "dr": "Drive"}
_NUMBER_SIGN = re.compile(r"(?:#|№)\s?(?=[0-9])|#\s(?=[A-Z0-9])")
