"""Money, units, percentages, degrees, coordinates, lengths and powers."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

from components.speech.text_normalization.draft import Draft
from components.speech.text_normalization.figures import LETTER, NUMBER, amount, is_millions, number_of, spoken
from components.speech.text_normalization.language import Language, Noun, alternatives, words_of

_COORDINATE = re.compile(
    r"(?<![\w.,])([0-9]{1,3})\s?[°º]\s?([0-9]{1,2}(?:[.,][0-9]+)?)\s?'(?:\s?([0-9]{1,2}(?:[.,][0-9]+)?)\s?(?:\"|''))?"
    r"(?:\s?([NSEWOL])(?!\w))?"
)
_COMPASS = re.compile(r"(?<=°)\s?([NSEWOL])(?!\w)")
_DEGREES = re.compile(
    rf"(?<![\w.,])(-?)([1-9]\.[0-9]{{3}}|[0-9]{{1,4}}(?:[.,][0-9]{{1,2}})?)\s?([º°])(?![\w°])(?=(?: ({LETTER}+))?)"
)
_BASE = r"(?:(?<=[0-9)])|(?<=(?<![^\W_])[A-Za-zπ])|(?<=(?<![^\W_])[A-Za-z]{2}))"
_POWER = re.compile(_BASE + r"\^(-?[0-9]{1,15})(?![0-9])")
_SQUARE = re.compile(_BASE + "([²³])(?![²³])")
_NOTE = re.compile(r"(?<=[^\W\d_]{3})\^[0-9]{1,3}(?![0-9])")
_RAISED = str.maketrans("23", "²³")
_HEAT = words_of("a de até hasta los uns unos")
"""Words before degrees rather than before an ordinal of three digits."""
_FEET = re.compile(r"(?<![\w.,])([0-9]{1,3})'\s?([0-9]{1,2})\"?(?!\w)")
_FOOT = re.compile(rf"(?<![\w.,])({NUMBER})'(?![\w'])")
_INCH = re.compile(rf"(?<![\w.,\"])({NUMBER}|[0-9]+/[0-9]+)\"(?!\w)")
_THOUSANDS = re.compile("[1-9][0-9]{0,2}(?:,[0-9]{3})+|[1-9][0-9]{0,2}(?:[.][0-9]{3})+")
_CENTS = re.compile(r"[.,][0-9]{2}(?![0-9]) ?$")
_WEIGHT = re.compile(r"(?:[mk]?g|kgs|gr|lbs?|oz|tbsp|tsp|[mc]?[lL]|gal|qt|pt|pcs?|ct)\.?$")
_PACKED = re.compile(
    "(?:tablet|pill|capsule|bottle|can|cup|bag|box|pack|jar|syringe|tin|glass|mug|steak|burger|bar|dumbbell|weight|baby)"
)
_DETERMINERS = words_of("a an the this that these those one each every another his her its their our my your")
_PERIODS = (
    "min|hour|day|week|month|year|person|night|día|semana|mes|año|noche|persona|heure|jour|semaine|mois|an|hora|dia|mês|ano"
)
_JOINT = re.compile(r"(?:,|,? (?:and|or|to|y|e|o|u|a|ou|et|à)) ")
_COORDINATED = 5
"""Maximum number of further amounts of which the last names the currency."""
_EXTENTS = words_of("tall wide long high deep thick old")
_HEIGHT = re.compile("([1-9])[.,]([1-9][0-9])")
_NEXT = re.compile(r"(?> by [0-9.,]+\s?(?:inch|ft|[cm]?m|['\"])?\.?(?!\w))? ([^\W\d_]+)")


class _Patterns:
    """The patterns of one language's money and units."""

    def __init__(self, language: Language) -> None:
        signs = alternatives(language.money)
        behind = [sign for sign in language.money if not sign.endswith("$") and sign != "S/"] + ["$"]
        after = alternatives(behind)
        scales = alternatives(language.scales)
        names = "|".join(sorted({name for money in language.money.values() for name in (money.one, money.many)}, key=len)[::-1])
        names += "|[A-Z]{3}"
        units = alternatives(language.units).replace("·", r"\s")
        number = number_of(language)
        single = "(?<![0-9])(?<![0-9] )" if language.code == "fr" else ""  # "2€50"
        self.before = re.compile(
            rf"(?<![A-Za-z$]){single}({signs})\s?({NUMBER})(?:\s?({scales})(?!\w|\.[A-Z]))?(?: ({names})(?!\w))?"
        )
        self.after = re.compile(rf"(?<![\w.,])({number})(?:\s?({scales}))?\s?({after})(?:(?<=€)\s?([0-9]{{2}})(?![\w.,])|(?!\w))")
        areas = alternatives(symbol for symbol in language.units if symbol[-1] in "²³")
        self.area = re.compile(rf"(?<![\w.,])({areas})(?![\w²³])")
        self.per = re.compile(
            rf"(?:(?<=[0-9€£$¢])\s?/\s?({units}|[a-zà-ÿ]{{2,}})|(?<=[A-Za-z])\.?/({areas})|(?<=[a-z]{{2}})/({_PERIODS}))(?![\w/²³])"
        )
        several = alternatives(symbol for symbol in language.units if len(symbol) > 1)
        self.rate = re.compile(rf"(?<![^\W0-9]|[.,/])({several}|({units}))/({_PERIODS}|{several}|(?(2)(?!)){units})(?![\w/²³])")
        self.unit = re.compile(
            rf"(?<![\w.,/])((?:[0-9]+ )?[0-9]+/[0-9]+|{NUMBER})(\s?-?)({units})(?:/({units}|{_PERIODS}))?(?![\w²³]|/[A-Za-z])"
            r"(\.(?=\s+[a-z0-9]))?"
        )


_patterns = cache(_Patterns)


def _measured(lexeme: str, noun: Noun, language: Language, *, single: bool = False) -> str:
    """Return a number with what it counts: "one euro", "dois milhões de reais"; ``single``: in the singular in any case."""
    gender = "f" if noun.feminine else "m" * (noun.one != noun.many)  # "uno por ciento"
    number = spoken(lexeme, language, gender, year=False)
    name = noun.one if single or _is_one(lexeme, language) else noun.many
    return f"{number} {language.of_millions * is_millions(lexeme, language)}{name}"


def _unit(symbol: str, language: Language) -> Noun:
    """Return the names of a unit, or a period in words as it is."""
    return language.units.get(symbol) or language.units.get(symbol.replace(" ", "·")) or Noun(symbol, symbol)


def _is_one(lexeme: str, language: Language) -> bool:
    """Return whether what is counted is in the singular: "1.5 million" is plural in English, not in French."""
    return amount(lexeme, language) < language.singular_below if language.singular_below else lexeme == "1"


def _attributive(match: re.Match[str], language: Language) -> bool:
    """Return whether a noun follows an English measure, which is then in the singular: "a ten kilometer run".

    After a weight it is as often what is weighed ("five grams salt"): there an article decides.
    """
    following = _NEXT.match(match.string, match.end())
    if language.code != "en" or following is None:
        return False
    if (_WEIGHT.search(match[0]) and not _PACKED.match(following[1])) or following[1] in _EXTENTS:
        return match.string[max(0, match.start() - 20) : match.start()].rstrip().rsplit(" ", 1)[-1].lower() in _DETERMINERS
    return following[1].lower() not in language.no_nouns


def say_rates(draft: Draft) -> None:
    """Read units per unit or period without a number: ``in t/ano``."""
    language = draft.language

    def rate(match: re.Match[str]) -> str | None:
        if match.string[: match.start()].rstrip(" -")[-1:].isdecimal():
            return None
        known = language.units.get(f"{match[1]}/{match[3]}")
        if known:
            return known.many
        return f"{_unit(match[1], language).many} {language.words['per']} {_unit(match[3], language).one}"

    draft.sub("per", _patterns(language).rate, rate)


def say_prices(draft: Draft) -> None:
    """Read a slash after an amount: ``$4.50/cup``, ``85/km²``; a month behind it belongs to a date."""
    language = draft.language

    def per(match: re.Match[str]) -> str | None:
        measure = match[1] or match[2] or match[3]
        if measure in language.month_short or measure in language.months:
            return None
        return f" {language.words['per']} {_unit(measure, language).one}"

    draft.sub("per", _patterns(language).per, per)


def say_degrees(draft: Draft) -> None:
    """Read coordinates, and decide whether ``º`` and ``°`` are degrees or an ordinal."""
    language, words = draft.language, draft.language.words

    def coordinate(match: re.Match[str]) -> str:
        parts = zip(match.groups()[:3], ("°", "min", "s"), strict=True)
        said = [_measured(part, language.units[unit], language) for part, unit in parts if part]
        return " ".join([*said, words[match[4]]] if match[4] else said)

    def mark(match: re.Match[str]) -> str:
        noun = match[4] or ""
        digits = re.sub(r"\.(?=[0-9]{3})", "", match[2])
        if "º" in language.ordinal_marks and not match[1] and digits.isdecimal():
            number = int(digits)
            counted = len(noun) > 2 and noun.lower() not in language.no_nouns
            before = match.string[: match.start()].rstrip().rsplit(" ", 1)[-1].lower()
            if (counted and (number < 100 or before not in _HEAT)) or (number <= 20 and match[3] == "º"):
                return f"{number}º"
        return f"{match[1]}{match[2]}°"

    draft.sub("units", _COORDINATE, coordinate)
    draft.sub("units", _DEGREES, mark)
    draft.sub("units", _COMPASS, lambda match: f" {words[match[1]]}")


def say_money(draft: Draft) -> None:
    """Read ``$5``, ``R$ 20,50``, ``3,50 €``, ``US$ 2 million``."""
    language, patterns = draft.language, _patterns(draft.language)

    def said(lexeme: str, money: Noun, scale: str) -> str:
        if scale:
            name = language.scales[scale]
            name = language.words.get(name, name) if _is_one(lexeme, language) else name
            return f"{spoken(lexeme, language, 'm', year=False)} {name} {_many(scale, money, language)}"
        cut = re.fullmatch(r"(.*[0-9])[.,]([0-9]{2})", lexeme)
        whole, cents = (cut[1], cut[2]) if cut and money.cent else (lexeme, "00")
        if _THOUSANDS.fullmatch(whole) and (language.code != "en" or "," in whole):
            # No money has three decimals: "$1,500" in a Spanish text
            whole = re.sub("[.,]", "," if language.decimal == "." else ".", whole)
        text = _measured(whole, money, language)
        value = amount(whole, language)
        if int(cents) == 0:
            return text
        small = f"{language.cardinal(int(cents), 'm')} {money.cent if int(cents) == 1 else money.cents}"
        if value == 0:
            return small
        if not language.cents_named:
            return f"{text} {language.cardinal(int(cents), '')}"
        return f"{text} {language.cents_joint} {small}"

    def behind(match: re.Match[str]) -> str | None:
        """Return the currency's name behind an amount or behind the last of its coordination: "$500 y $200 pesos"."""
        sign = match[1]
        for _ in range(_COORDINATED):
            joint = _JOINT.match(match.string, match.end())
            following = joint and patterns.before.match(match.string, joint.end())
            if match[4] or not following or following[1] != sign:
                break
            match = following
        return match[4]

    def before(match: re.Match[str]) -> str:
        money = language.money[match[1]]
        named = behind(match) or ""  # "$1,500 pesos", "$20 USD": the word takes precedence over the sign
        if named in language.money:
            money, named = language.money[named], ""
        elif named and not named.isupper():
            money, named = next(other for other in language.money.values() if named in (other.one, other.many)), ""
        return f" {said(match[2], _counted(match, money, language), match[3] or '')} {named}{' ' * bool(named)}"

    def after(match: re.Match[str]) -> str:
        money = _counted(match, language.money[match[3]], language)
        return said(match[1] + ("," + match[4] if match[4] else ""), money, match[2] or "")

    draft.sub("money", patterns.before, before)
    draft.sub("money", patterns.after, after)


def _many(scale: str, money: Noun, language: Language) -> str:
    """Return the currency after "million" or "thousand"; only the first takes "de"."""
    return money.many if language.scales[scale] in ("mil", "mille") else language.of_millions + money.many


def _counted(match: re.Match[str], money: Noun, language: Language) -> Noun:
    """Return the currency as a noun after it requires: "a five dollar bill"."""
    return replace(money, many=money.one) if _attributive(match, language) and not _CENTS.search(match[0]) else money


def say_units(draft: Draft) -> None:
    """Read ``5 km``, ``20°C``, ``50%``, ``5'10"``, ``10-km``."""
    language, patterns, words = draft.language, _patterns(draft.language), draft.language.words
    foot = language.units["ft"]

    def unit(match: re.Match[str]) -> str | None:
        found = _unit(match[3], language)
        if "/" in match[1]:
            whole, _, part = match[1].rpartition(" ")
            above, below = map(int, part.split("/"))
            if whole:
                single = _attributive(match, language) if language.code == "en" else whole == "1"
                return f"{match[1]} {found.one if single else found.many}"
            joint = language.of_millions * ((above, below) != (1, 2)) or "of a " * (language.code == "en" and below > 16)
            return f"{part} {joint}{found.one}"
        if match[3] == "m" and language.metre_joint is not None and (height := _HEIGHT.fullmatch(match[1])):
            metres = _measured(height[1], found, language)
            return " ".join(filter(None, (metres, language.metre_joint, language.cardinal(int(height[2]), ""))))
        per = f" {language.words['per']} {_unit(match[4], language).one}" if match[4] else ""
        said = _measured(match[1], found, language, single=match[2] == "-" or _attributive(match, language))
        if match[2] == "-" and " " not in found.one and language.code == "en":
            said = "-".join(said.rsplit(" ", 1))
        return said + per

    def length(match: re.Match[str], unit: Noun) -> str:
        name = unit.one if match[1] == "1" or _attributive(match, language) else unit.many
        return f"{match[1]} {name}{'' if match.string[match.end() :][:1] == ' ' else ' '}"

    def minutes(number: str) -> str:
        return f"{_measured(number, language.units['min'], language)} "

    def feet(match: re.Match[str]) -> str:
        if language.code != "en" and int(match[2]) > 11:  # 2'30" of a race
            return f"{minutes(match[1])}{_measured(match[2], language.units['s'], language)} "
        return f"{match[1]} {foot.one if language.code == 'en' or match[1] == '1' else foot.many} {match[2]} "

    if "'" in draft.text or '"' in draft.text:
        draft.sub("units", _FEET, feet)
        if draft.text.count("'") % 2 or words["by"] in draft.text:
            draft.sub("units", _FOOT, lambda match: length(match, foot) if language.code == "en" else minutes(match[1]))
        if draft.text.count('"') % 2 or " x " in draft.text or words["by"] in draft.text:
            draft.sub("units", _INCH, lambda match: length(match, language.units["inch"]))
    draft.sub("units", patterns.unit, unit)
    draft.sub("units", patterns.area, lambda match: language.units[match[1]].one)
    say_powers(draft, _SQUARE)


def say_powers(draft: Draft, pattern: re.Pattern[str] = _POWER) -> None:
    """Read ``10⁶``; ``x²`` is read after the units, and other superscripts are dropped."""
    language, words = draft.language, draft.language.words

    def power(match: re.Match[str]) -> str:
        if match[1] in ("2", "3", "²", "³"):
            return f" {words[match[1].translate(_RAISED)]} "
        exponent = int(match[1])
        if language.code == "en" and exponent > 0:
            return f" {words['power']} {language.ordinal(exponent, False)} "
        return f" {words['power']} {(words['minus'] + ' ') * (exponent < 0)}{language.cardinal(abs(exponent), '')} "

    draft.sub("power", pattern, power)
    draft.sub("note", _NOTE, lambda match: " ")
