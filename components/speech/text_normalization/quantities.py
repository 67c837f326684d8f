"""Ranges, dimensions, money, units, percentages, fractions, ordinals, and bare numbers."""

from __future__ import annotations

import re
from functools import cache

from components.speech.text_normalization.draft import Draft
from components.speech.text_normalization.figures import LETTER, NUMBER, amount, gender_of, spoken
from components.speech.text_normalization.language import Language, Noun, alternatives

_RANGE = re.compile(rf"(?<![\w.,-])((?:[$€£]|R\$ ?)?{NUMBER}[%°]?)\s?[-–—]\s?(?=(?:[$€£]|R\$ ?)?{NUMBER}(?!-?[0-9]))")
_BY = re.compile(rf"(?<![0-9.,])({NUMBER}(?:\s?(?:cm|mm|m|in|ft|px)|['\"])?)\s?[xX×]\s?(?={NUMBER})")
_TIMES_BEFORE = re.compile(r"(?<!\w)x(?=[0-9])")
_RATIO = re.compile(r"(?<![\w:.,])([0-9]{1,3}):(?=[0-9]{1,2}(?![\w:]))")
_OF = re.compile(
    r"(?i:(?<=imagem )|(?<=image )|(?<=imagen )|(?<=foto )|(?<=photo )|(?<=card )|(?<=slide )|(?<=page )|(?<=página )|(?<=parte )"
    r"|(?<=part ))([0-9]{1,2})/(?=[0-9]{1,2}(?![\w/]))"
)
_TIMES = re.compile(rf"(?<![\w.,])({NUMBER})\s?[x×](?![\w])")
_FEET = re.compile(r"(?<![\w.,])([0-9]{1,3})'\s?([0-9]{1,2})\"?(?!\w)")
_FOOT = re.compile(rf"(?<![\w.,])({NUMBER})'(?![\w'])")
_INCH = re.compile(rf"(?<![\w.,\"])({NUMBER}|[0-9]+/[0-9]+)\"(?!\w)")
_F_STOP = re.compile(rf"(?<!\w)[fF]/(?={NUMBER})")
_THOUSANDS = re.compile("[1-9][0-9]{0,2}(?:,[0-9]{3})+|[1-9][0-9]{0,2}(?:[.][0-9]{3})+")
_MIXED = re.compile(r"(?<![\w.,/])([0-9]+)\s+([0-9]{1,2})/([0-9]{1,3})(?![\w/])")
_FRACTION = re.compile(rf"(?<![\w.,/])([0-9]{{1,4}})/([0-9]{{1,4}})(?![\w/])(?= ?({LETTER}*))")
_MINUS = re.compile(r"(?:(?<=^)|(?<=[\s(]))-(?=[0-9])")
_PLUS_END = re.compile(r"(?<=[0-9])\+(?![\w+])")
_ABOUT = re.compile(r"[~≈]\s?(?=[0-9$€£])")


class _Patterns:
    """The patterns of one language's money, units, ordinals and numbers."""

    def __init__(self, language: Language) -> None:
        signs = alternatives(language.money)
        behind = [sign for sign in language.money if not sign.endswith("$") and sign != "S/"] + ["$"]
        after = alternatives(behind)
        scales = alternatives(language.scales)
        names = "|".join(sorted({name for money in language.money.values() for name in (money.one, money.many)}, key=len)[::-1])
        names += "|pesos"
        units = alternatives(language.units).replace("·", r"\s")
        marks = alternatives(language.ordinal_marks)
        number = rf"{NUMBER}" if language.group != " " else rf"(?:(?<![0-9] )[1-9][0-9]{{0,2}}(?: [0-9]{{3}})+(?![0-9])|{NUMBER})"
        self.before = re.compile(rf"(?<![A-Za-z$])({signs})\s?({NUMBER})(?:\s?({scales})(?!\w))?(?: ({names})(?!\w))?")
        self.after = re.compile(rf"(?<![\w.,])({number})(?:\s?({scales}))?\s?({after})(?!\w)")
        self.unit = re.compile(
            rf"(?<![\w.,/])((?:[0-9]+ )?[0-9]+/[0-9]+|{NUMBER})(\s?-?)({units})(?![\w²³]|/[A-Za-z])(\.(?=\s+[a-z]))?"
        )
        self.ordinal = re.compile(rf"(?<![\w.,])([0-9]{{1,4}})\s?({marks})(?![\w°])(?= ?({LETTER}*))")
        self.number = re.compile(rf"({number})(?=[ -]?({LETTER}*))")


_patterns = cache(_Patterns)


def join_figures(draft: Draft) -> None:
    """Replace marks between numbers by words: ranges and scores ("to"), dimensions ("by"). Later rules read the numbers."""
    words = draft.language.words
    if any(dash in draft.text for dash in "-–—"):
        draft.sub("range", _RANGE, lambda match: f"{match[1]} {words['to']} ")
        draft.sub("minus", _MINUS, lambda match: f"{words['minus']} ")
    draft.sub("dimensions", _BY, lambda match: f"{match[1]} {words['by']} ")
    draft.sub("times", _TIMES, lambda match: f"{match[1]} {words['times']}")
    draft.sub("times", _TIMES_BEFORE, lambda match: f"{words['times']} ")
    if ":" in draft.text:
        draft.sub("range", _RATIO, lambda match: f"{match[1]} {words['to']} ")
    if "/" in draft.text:
        draft.sub("part", _OF, lambda match: f"{match[1]} {words['of']} ")
    draft.sub("about", _ABOUT, lambda match: f"{words['about']} ")
    draft.sub("f_stop", _F_STOP, lambda match: f"{words['f_stop']} ")
    draft.sub("plus", _PLUS_END, lambda match: f" {words['plus']}")


def say_money(draft: Draft) -> None:
    """Read ``$5``, ``R$ 20,50``, ``3,50 €``, ``US$ 2 million``."""
    language, patterns = draft.language, _patterns(draft.language)

    def said(lexeme: str, money: Noun, scale: str) -> str:
        gender = "f" if money.feminine else "m"
        if _THOUSANDS.fullmatch(lexeme):  # No money has three decimals: "$1,500" in a Spanish text
            lexeme = re.sub("[.,]", "", lexeme)
        if scale:
            return f"{spoken(lexeme, language, 'm', year=False)} {language.scales[scale]} {_many(scale, money, language)}"
        cut = re.fullmatch(r"(.*[0-9])[.,]([0-9]{2})", lexeme)
        whole, cents = (cut[1], cut[2]) if cut and money.cent else (lexeme, "00")
        value = amount(whole, language)
        text = f"{spoken(whole, language, gender, year=False)} {money.one if 0 < value < 2 else money.many}"
        if int(cents) == 0:
            return text
        small = f"{language.cardinal(int(cents), 'm')} {money.cent if int(cents) == 1 else money.cents}"
        if value == 0:
            return small
        if not language.cents_named:
            return f"{text} {language.cardinal(int(cents), '')}"
        return f"{text} {language.cents_joint} {small}"

    def before(match: re.Match[str]) -> str:
        money = language.money[match[1]]
        if match[4]:  # "$1,500 pesos": the word takes precedence over the sign
            money = next(
                (other for other in language.money.values() if match[4] in (other.one, other.many)), Noun("peso", "pesos")
            )
        return f" {said(match[2], money, match[3] or '')} "

    draft.sub("money", patterns.before, before)
    draft.sub("money", patterns.after, lambda match: f"{said(match[1], language.money[match[3]], match[2] or '')}")


def _many(scale: str, money: Noun, language: Language) -> str:
    """Return the currency after "million" or "thousand"; only the first takes "de"."""
    return money.many if language.scales[scale] in ("mil", "mille") else language.of_many(money.many)


def say_units(draft: Draft) -> None:
    """Read ``5 km``, ``20°C``, ``50%``, ``5'10"``, ``10-km``."""
    language, patterns, words = draft.language, _patterns(draft.language), draft.language.words

    def unit(match: re.Match[str]) -> str | None:
        found: Noun = language.units.get(match[3]) or language.units[match[3].replace(" ", "·")]
        if "/" in match[1]:
            whole, _, part = match[1].rpartition(" ")
            above, below = map(int, part.split("/"))
            name = language.fraction(above, below) if 0 < above < below else ""
            if not name:
                return None
            if not whole:
                return f"{name} {found.one}"
            joined = language.and_a_half if (above, below) == (1, 2) else f"{language.symbols['&']} {name}"
            return f"{spoken(whole, language, year=False)} {joined} {found.many}"
        value = amount(match[1], language)
        one = match[1] == "1" if not language.singular_below else value < language.singular_below
        gender = "f" if found.feminine else "m"
        joint = "-" if match[2] == "-" and " " not in found.one and language.code == "en" else " "
        name = found.one if one or match[2] == "-" else found.many
        return f"{spoken(match[1], language, gender, year=False)}{joint}{name}"

    def length(value: str, one: str, many: str) -> str:
        return f"{value} {words[one] if value == '1' else words[many]} "

    if "'" in draft.text or '"' in draft.text:
        draft.sub(
            "units", _FEET, lambda match: f"{length(match[1], 'foot', 'foot' if language.code == 'en' else 'feet')}{match[2]} "
        )
        if draft.text.count("'") % 2:
            draft.sub("units", _FOOT, lambda match: length(match[1], "foot", "feet"))
        if draft.text.count('"') % 2 or " x " in draft.text or words["by"] in draft.text:
            draft.sub("units", _INCH, lambda match: length(match[1], "inch", "inches"))
    draft.sub("units", patterns.unit, unit)


def say_fractions(draft: Draft) -> None:
    """Read ``1/2``, ``2 1/2``, ``24/7``."""
    language = draft.language

    def mixed(match: re.Match[str]) -> str | None:
        part = language.fraction(int(match[2]), int(match[3])) if 0 < int(match[2]) < int(match[3]) else ""
        if not part:
            return None
        whole = spoken(match[1], language, year=False)
        if (match[2], match[3]) == ("1", "2"):
            return f"{whole} {language.and_a_half}"
        return f"{whole} {language.symbols['&']} {part}"

    def fraction(match: re.Match[str]) -> str | None:
        above, below = int(match[1]), int(match[2])
        if language.half_feminine and (above, below) == (1, 2) and language.feminine(match[3].lower()):
            return language.half_feminine
        name = language.fraction(above, below) if 0 < above < below else ""
        if name:
            return name
        if 0 < above < below and below < 1000:
            return f"{spoken(match[1], language)} {language.words['over']} {spoken(match[2], language)}"
        return f"{spoken(match[1], language)} {spoken(match[2], language)}"

    if "/" in draft.text:
        draft.sub("fraction", _MIXED, mixed)
        draft.sub("fraction", _FRACTION, fraction)


def say_ordinals(draft: Draft) -> None:
    """Read ``1st``, ``1º``, ``3er``, ``2e``."""
    language = draft.language

    def said(match: re.Match[str]) -> str | None:
        number, mark = int(match[1]), match[2]
        if number == 0 or (mark == "°" and not match[3]):
            return None
        words = language.ordinal(number, language.ordinal_marks[mark])
        if language.code == "es" and mark in ("er", "º", ".º", "°") and match[3] and words.endswith(("primero", "tercero")):
            return words[:-1] if language.code == "es" and gender_of(match[3], language) else words
        return words

    draft.sub("ordinal", _patterns(language).ordinal, said)


def say_numbers(draft: Draft) -> None:
    """Read the remaining numbers."""
    language = draft.language

    def said(match: re.Match[str]) -> str:
        before = match.string[match.start() - 1 : match.start()]
        behind = match.string[match.end() : match.end() + 1]
        lexeme = match[1].replace(" ", ".")
        gender = gender_of(match[2], language)
        if match[1].isdecimal() and language.code in ("pt", "es", "fr") and 1100 <= int(match[1][:15]) <= 2099 and not match[2]:
            gender = ""
        text = spoken(lexeme, language, gender)
        left = " " if before.isalnum() or (before == "-" and text) else ""
        return f"{left}{text}{' ' if behind.isalnum() else ''}"

    draft.sub("number", _patterns(language).number, said)
