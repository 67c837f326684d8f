"""Abbreviations with and without a dot, initials and letters with dots."""

from __future__ import annotations

import re
from functools import cache

from components.speech.text_normalization.draft import Draft
from components.speech.text_normalization.language import Language, alternatives, listed, words_of

_DOTTED = re.compile(r"(?<![\w.'])((?:[A-Za-z]\.){2,})(?![\w])|(?<![\w.'])([A-Z](?:\.[A-Z])+|(?:[A-Z]\. )+[A-Z]\.)(?![\w.])")
_INITIALS = re.compile(r"(?<![\w.'-])([A-Z])\.(?=[ -]?[A-ZÀ-Þ])")


@cache
def _dotted(language: Language) -> re.Pattern[str]:
    known = {key.removesuffix("~") for key in (*language.abbreviations, *language.before_digits)}
    known.update(STREETS if language.code == "en" else ())
    names = alternatives(known).replace(r"\ ", r"\s?")
    return re.compile(rf"(?<![\w.'&-])({names})\.(?![\w])(\s*)(?=(\S?))", re.IGNORECASE)


@cache
def _before_digits(language: Language) -> re.Pattern[str]:
    following = r"\.?[º°]?\s?(?=[0-9])|(?<=\w{3})\.?\s(?-i:(?=[IVXLC]+(?!\w)))"
    return re.compile(rf"(?<![\w.'&-])({alternatives(language.before_digits)})(?:{following})", re.IGNORECASE)


@cache
def _bare(language: Language) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.'&/])({alternatives(language.bare)})(?![\w.'])(?<!/(?=\s*$))", re.IGNORECASE)


@cache
def _replaced(language: Language) -> re.Pattern[str] | None:
    return re.compile(rf"(?<=[A-Za-z])({alternatives(language.replaced)})(?!\w)", re.IGNORECASE) if language.replaced else None


@cache
def _titles(language: Language) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.'&-])({alternatives(map(str.capitalize, language.titles))})(?= [A-ZÀ-Þ][a-zà-ÿ])")


def say_phrases(draft: Draft) -> None:
    """Expand spellings that depend on context: ``18th c.``, ``s. XIX``, ``2700K``."""
    language = draft.language
    _replace(draft, "phrases")
    if language.code == "en":
        for pattern in (_BEFORE_STREET, _AFTER_STREET, _ON_ROAD):
            draft.sub("direction", pattern, lambda match: match[1] + _direction(match[2], language))
    draft.sub("number_sign", _NUMBER_SIGN, lambda match: f"{language.words['number']} ")


def _direction(letters: str, language: Language) -> str:
    return "".join(language.words[letter] for letter in letters if letter != ".").capitalize()


def contract(draft: Draft) -> None:
    """Join words with numbers in words: ``de un`` is "d'un" in French."""
    _replace(draft, "contractions")


def _replace(draft: Draft, table: str) -> None:
    for pattern, said in _compiled(draft.language, table):
        draft.sub(table, pattern, lambda match, said=said: match.expand(said))  # type: ignore[misc]


@cache
def _compiled(language: Language, table: str) -> list[tuple[re.Pattern[str], str]]:
    return [(re.compile(pattern), said) for pattern, said in getattr(language, table).items()]


def say_before_digits(draft: Draft) -> None:
    """Expand abbreviations before numbers: ``No. 5``, ``fig. 2``."""
    language = draft.language

    def said(match: re.Match[str]) -> str | None:
        key = match[1].lower()
        after_number = match.string[: match.start()][-2:-1].isdecimal()
        ambiguous = (after_number or key in _NEED_DOT) and not any(mark in match[0] for mark in ".º°")
        return None if ambiguous else f"{language.before_digits[key]} "

    if _NUMERIC.search(draft.text):
        draft.sub("abbreviation", _before_digits(language), said)


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
        if _is_street(match, language):
            word = STREETS[key]
        if word is None:
            return None
        end = "." if not following else ""
        return f"{word}{end}{match[2]}"

    def letters(match: re.Match[str]) -> str | None:
        written = match[1] or match[2]
        known = table.get(written.rstrip(".").lower())
        said = known or " ".join(language.letters.get(letter.lower(), letter) for letter in written if letter.isalpha())
        return said + ("." if match.end() == len(match.string) and written.endswith(".") else "")

    if "." in draft.text:
        draft.sub("letters", _DOTTED, letters)
        draft.sub("abbreviation", _dotted(language), dotted)
        draft.sub("initial", _INITIALS, lambda match: f"{language.letters.get(match[1].lower(), match[1])} ")

    def title(match: re.Match[str]) -> str | None:
        key = match[1].lower()
        return None if _is_street(match, language) else table.get(f"{key}~") or table.get(key)

    if language.code == "en":
        draft.sub("abbreviation", _STREET, lambda match: STREETS[match[1].lower()] if _is_street(match, language) else None)
    draft.sub("abbreviation", _titles(language), title)

    def bare(match: re.Match[str]) -> str | None:
        if match[1] in language.acronyms and not draft.shouting:
            return None
        return language.bare[match[1].lower()] + (" " if match[1].endswith("/") else "")

    draft.sub("abbreviation", _bare(language), bare)
    replaced = _replaced(language)
    if replaced is not None:
        draft.sub("joined", replaced, lambda match: language.replaced[match[1].lower()])


def _is_street(match: re.Match[str], language: Language) -> bool:
    """Return whether a street's abbreviation ends a name: "Main St.", "5th St.", and not "East St. Louis"."""
    if language.code != "en" or match[1].lower() not in STREETS:
        return False
    before = match.string[max(0, match.start() - 40) : match.start()].rstrip(" ").rsplit(" ", 1)[-1]
    if before.endswith(_ORDINALS):
        return True
    after = _FOLLOWING.match(match.string, match.end())
    name = before[:1].isupper() and before[-1:].isalpha() and before.lower() not in _NO_NAMES
    return name and (match[1].lower() != "st" or after is None or after[1] in _AFTER_NAMES)


_NEED_DOT = words_of("""
    no nos n c ca ch p pg art sec est ed ver op ste apt cap ap min env fig vol lat long a al d r v rm fl pop inc max ext
""")
STREETS = {
    "st": "Street", "dr": "Drive", "ave": "Avenue", "rd": "Road", "ln": "Lane", "pkwy": "Parkway", "sq": "Square", "pl": "Place",
}  # fmt: skip
_STREET = re.compile(r"(?<![\w.'&-])(St|Dr|Ave|Rd|Ln|Pkwy|Sq|Pl)(?![\w.'])")
_ORDINALS = tuple(
    listed("first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth teenth tieth")
)
_KINDS = r"(?:St|Ave|Blvd|Rd|Dr|Ln|Pl|Ct|Street|Avenue|Boulevard|Road|Drive)(?!\w)"
_DIRECTION = r"(N\.?[EW]?|S\.?[EW]?|E|W)"
_BEFORE_STREET = re.compile(rf"(?<!\w)((?:[0-9] )?){_DIRECTION}\.?(?= (?:[A-Z][a-z]+|[0-9]{{1,3}}(?:st|nd|rd|th)) {_KINDS})")
_AFTER_STREET = re.compile(rf"(?<!\w)({_KINDS}\.?,? ){_DIRECTION}(?![\w.'])")
_ON_ROAD = re.compile(r"(?<![\w-])((?:[A-Z]{1,2}-|Interstate |Route |Highway )[0-9]{1,3} )([NSEW])(?![\w.'])")
_FOLLOWING = re.compile(r"\.? ([A-Z]\w*)")
_AFTER_NAMES = words_of("N S E W NE NW SE SW North South East West Station Bridge Market Theater Theatre Pier Garage Cafe and")
_NO_NAMES = words_of("at in the of and near rue mount port east west north south fort sault cathedral church a")
_NUMERIC = re.compile("[0-9IVXLC]")
_NUMBER_SIGN = re.compile(r"[#№](?:\s?(?=[0-9])|(?<=#)\s(?=[A-Z]))")
