"""Ranges, dimensions, fractions, ordinals and bare numbers."""

from __future__ import annotations

import re
from functools import cache

from components.speech.text_normalization.draft import Draft
from components.speech.text_normalization.figures import LETTER, NUMBER, gender_of, is_millions, number_of, spoken
from components.speech.text_normalization.language import Language, alternatives, words_of

_RANGE = re.compile(rf"(?<![\w.,-])((?:[$€£]|R\$ ?)?{NUMBER}[%°]?)\s?[-–—]\s?(?=(?:[$€£]|R\$ ?)?{NUMBER}(?!-?[0-9]|/[0-9]))")
_BY = re.compile(rf"(?<![0-9.,])({NUMBER}(?: [0-9]/[0-9])?(?:\s?(?:cm|mm|m|in|inch|ft|px)\.?|['\"])?)\s?[xX×]\s?(?={NUMBER})")
_TIMES_BEFORE = re.compile(r"(?<!\w)x(?=[0-9])")
_RATIO = re.compile(r"(?<![\w:.,])([0-9]{1,3}):(?=[0-9]{1,2}(?![\w:]))")
_OF = re.compile(
    r"(?i:(?<=imagem )|(?<=image )|(?<=imagen )|(?<=foto )|(?<=photo )|(?<=card )|(?<=slide )|(?<=page )|(?<=página )|(?<=parte )"
    r"|(?<=part ))([0-9]{1,2})/(?=[0-9]{1,2}(?![\w/]))"
)
_TIMES = re.compile(rf"(?<![\w.,])({NUMBER})\s?[x×](?!\w|\s?[+=])")
_PRODUCT = re.compile(rf"(?<![\w.,])({NUMBER})\s?[xX×*]\s?(?={NUMBER}\s?=)")
_DIFFERENCE = re.compile(rf"(?<![\w.,])({NUMBER})\s?[-–]\s?(?={NUMBER}\s?=)")
_SCORE = re.compile(
    r"(?<![\w.,/])([0-9]{1,3}[.,][0-9])/(?=[0-9]{1,3}(?![\w/]))|(?i:(?<=rated )|(?<=rating )|(?<=score )|(?<=nota )|(?<=note ))"
    r"([0-9]{1,3})/(?=[0-9]{1,3}(?![\w/]))|(?<![\w.,/])([0-9]{1,2})/(?=[0-9]{1,3} (?:stars|estrel|étoile))"
)
_BETWEEN = re.compile(r"(?<=[\w)]) ?([<>]) ?(?=[0-9])")
_COMPARED = re.compile(r"(?<![<>=-])\s?([<>])\s?(?=[$€£]?[0-9])")
_PORTIONS = re.compile("(?:xícar|colher|copo|litr|quilo|taza|cuchara|vaso|kilo|tasse|verre|cuill)")
_F_STOP = re.compile(rf"(?<!\w)[fF]/(?={NUMBER})")
_MIXED = re.compile(rf"(?<![\w.,/])([0-9]{{1,15}})(?:\s(?:e |y |et )?|-)([0-9]{{1,2}})/([0-9]{{1,3}})(?![\w/])(?: ({LETTER}+))?")
_FRACTION = re.compile(rf"(?<![\w.,/])([0-9]{{1,4}})/([0-9]{{1,4}})(?![\w/])( ?)(?=({LETTER}*))")
_OF_WORDS = words_of("of de des del da do d")
_MINUS = re.compile(r"(?:(?<=^)|(?<=[\s(]))-(?=[$€£]?[0-9])|(?:(?<=^)|(?<=: ))- (?=[0-9]{1,3} ?%)")
_MONEY_RANGE = re.compile(rf"([$€£]|R\$|US\$)\s?({NUMBER})\s?[-–—]\s?(?:\1\s?)?(?={NUMBER})")
_PLUS_END = re.compile(r"(?<=[0-9])\+(?![\w+])")
_ERAS = re.compile(r"(?<!\w)(BCE?|AD|CE|[ad]\. ?C\.?|[ad]C|a[pv]r?\. J\.-C\.)\s?[-–—]\s?(?=(?:AD |c\. ?|ca\. ?)?[0-9])")
_RESULT = re.compile(
    r"(?<![\w.,])([0-9]{1,2})( ?)[xX] ?(?=([0-9]{1,2})(?![\w.,]*[0-9]| ?(?:[xX×]|[cm]?m\b|pol|pulg))( [A-ZÀ-Þ])?)"
)
_ABOUT = re.compile(r"[~≈]\s?(?=[0-9$€£])")


class _Patterns:
    """The patterns of one language's ordinals and numbers."""

    def __init__(self, language: Language) -> None:
        marks = alternatives(language.ordinal_marks)
        self.ordinal = re.compile(
            rf"(?<![\w.,])([0-9]{{1,4}})(?:\s(?=[ºª]))?({marks})(?![\w°])(?:\.(?=\s{LETTER}))?(?= ?({LETTER}*))"
        )
        self.number = re.compile(rf"({number_of(language)})(?=(?: (?:a|à|ou|o|e|y|et) {NUMBER})?[ -]?(?:mil )?({LETTER}*))")


_patterns = cache(_Patterns)


def join_figures(draft: Draft) -> None:
    """Replace marks between numbers by words: ranges and scores ("to"), dimensions ("by"). Later rules read the numbers."""
    words, sports = draft.language.words, draft.language.sports

    def result(match: re.Match[str]) -> str | None:
        tie = match[1] == match[3] and not match[2] and "empat" not in match.string.lower()  # "4x4", "basquete 3x3"
        named = match[4] and match.string[: match.start()].rstrip()[-1:].isalpha()  # "Brasil 2 x 1 Chile"
        sure = named or "0" in (match[1], match[3]) or (not tie and re.search(sports, match.string.lower()))
        return f"{match[1]} {words['to']} " if sure else None

    if sports:
        draft.sub("score", _RESULT, result)
    draft.sub("times", _PRODUCT, lambda match: f"{match[1]} {words['multiplied']} ")
    draft.sub("minus", _DIFFERENCE, lambda match: f"{match[1]} {words['minus']} ")
    draft.sub("compared", _BETWEEN, lambda match: f" {words['lt' if match[1] == '<' else 'gt']} ")
    draft.sub("compared", _COMPARED, lambda match: f" {words[match[1]]} ")
    draft.sub("range", _MONEY_RANGE, lambda match: f"{match[2]} {words['to']} {match[1]}")
    draft.sub("range", _RANGE, lambda match: f"{match[1]} {words['to']} ")
    draft.sub("range", _ERAS, lambda match: f"{match[1]} {words['to']} ")
    draft.sub("minus", _MINUS, lambda match: f"{words['minus']} ")
    draft.sub("dimensions", _BY, lambda match: f"{match[1]} {words['by']} ")
    draft.sub("times", _TIMES, lambda match: f"{match[1]} {words['times']}")
    draft.sub("times", _TIMES_BEFORE, lambda match: f"{words['times']} ")
    draft.sub("range", _RATIO, lambda match: f"{match[1]} {words['to']} ")
    draft.sub("part", _OF, lambda match: f"{match[1]} {words['of']} ")
    draft.sub("part", _SCORE, lambda match: f"{match[1] or match[2] or match[3]} {words['out_of']} ")
    draft.sub("about", _ABOUT, lambda match: f"{words['about']} ")
    draft.sub("f_stop", _F_STOP, lambda match: f"{words['f_stop']} ")
    draft.sub("plus", _PLUS_END, lambda match: f" {words['plus']}")


def say_fractions(draft: Draft) -> None:
    """Read ``1/2``, ``2 1/2``, ``24/7``."""
    language = draft.language

    def mixed(match: re.Match[str]) -> str | None:
        part = language.fraction(int(match[2]), int(match[3])) if 0 < int(match[2]) < int(match[3]) else ""
        if not part:
            return None
        noun = match[4] or ""
        counted = language.code != "en" and gender_of(noun, language)  # "una taza y media"
        half = (match[2], match[3]) == ("1", "2")
        part = language.and_a_half[counted == "f"] if half else f"{language.symbols['&']} {part}"
        whole = spoken(match[1], language, counted or "", year=False)
        if counted:
            return f"{whole} {noun.removesuffix('s') if match[1] == '1' else noun} {part}"
        return f"{whole} {part}{' ' * bool(noun)}{noun}"

    def fraction(match: re.Match[str]) -> str | None:
        above, below = int(match[1]), int(match[2])
        if (above, below) == (1, 2) and language.code != "en" and (gender := gender_of(match[4], language)):
            return language.halves[gender == "f"]
        rated = below in (10, 20, 100) and above > 1 and not gender_of(match[4], language) and match[4] not in _OF_WORDS
        name = language.fraction(above, below) if 0 < above < below and not rated else ""
        if name:
            return name + " de" * (language.code != "en" and bool(_PORTIONS.match(match[4]))) + match[3]
        joint = ""
        if 0 < above <= below < 1000 and (above < below or rated):
            joint = f"{language.words['out_of' if rated else 'over']} "
        return f"{spoken(match[1], language)} {joint}{spoken(match[2], language)}{match[3]}"

    draft.sub("fraction", _MIXED, mixed)
    draft.sub("fraction", _FRACTION, fraction)


def say_ordinals(draft: Draft) -> None:
    """Read ``1st``, ``1º``, ``3er``, ``2e``."""
    language = draft.language

    def said(match: re.Match[str]) -> str | None:
        number, mark = int(match[1]), match[2]
        if number == 0:
            return None
        words = language.ordinal(number, language.ordinal_marks[mark])
        if mark.endswith("s"):
            return f"{words}s"
        counted = len(match[3]) > 1 and not match[3].isupper() and gender_of(match[3].lower(), language)
        if language.code == "es" and words.endswith(("primero", "tercero")) and (counted or mark.endswith("er")):
            return words[:-1]
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
        if lexeme != "1" and not match[2].endswith(("s", "x")):
            gender = ""  # what follows several is in the plural: "veintiuno ante"
        if match[1].isdecimal() and len(match[1]) == 4 and match[2][-1:] != "s":
            gender = ""  # most often a year
        text = spoken(lexeme, language, gender)
        if gender and is_millions(lexeme, language):
            text = f"{text} {language.of_millions}".rstrip()
        left = " " if before.isalnum() or (before == "-" and text) else ""
        return f"{left}{text}{' ' if behind.isalnum() else ''}"

    draft.sub("number", _patterns(language).number, said)
