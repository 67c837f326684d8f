"""Dates, times of day and decades."""

from __future__ import annotations

import re
from functools import cache

from components.speech.text_normalization.draft import Draft
from components.speech.text_normalization.figures import plain
from components.speech.text_normalization.language import Language, alternatives

_BEFORE = r"(?<![\w/.,:-])"
_AFTER = r"(?![\w/:-]|[.,][0-9])"
_TIME = r"[0-2]?[0-9](?:[:h][0-5][0-9]|\s?h(?!\w))?(?:\s?[aApP]\.?[mM](?!\w)\.?)?"
_TIMED = r"[0-2]?[0-9](?:[:h][0-5][0-9]|\s?h(?!\w)|\s?[aApP]\.?[mM](?!\w))"
_HALVED = re.compile(r"[0-9:]{1,5}\s?[aApP]\.?[mM]")
_HALF = r"(?:\s?([aApP])\.?\s?[mM](?:\.(?!$)|(?![\w.])|(?=\.$)))"

_PARTS = re.compile(r" d(?:[aeou]s?|el)?(?:'| (?![12][0-9]{3}))")
"""After a fraction: "em 3/4 dos casos"."""
_MILITARY = re.compile(
    r"(?=[0-2])(?:(?<=\b[Aa]t )|(?<=\b[ÀàAa]s )|(?<=\b[Ll]as )|(?<=\b[Àà] ))"
    r"([01][0-9]|2[0-3])(?:(?<=0[0-9])|(?=.. ?h))([0-5][0-9])"
    r"(?:(?! ?h|[\w/:-]|[.,][0-9])|(\s?h(?:s|rs|ours|oras|eures)?(?!\w)))"
)


class _Patterns:
    """The patterns of one language's dates, times of day and decades."""

    def __init__(self, language: Language) -> None:
        full = "|".join(language.months)
        short = alternatives(language.month_short)
        month = rf"({full}|(?:{short})(?![^\W\d_])\.?)"
        year = r"([12][0-9]{3})(?![\w/-]|[.,][0-9])"
        marks = r"(?:\s?(?:st|nd|rd|th|er|º|°|ª))?"
        joint = language.of_words
        flags = re.IGNORECASE
        days = "|".join(language.day_short)
        hours = r"(?:\s?(?:hs|hrs|h)(?!\w))?" if language.hour_letter else ""
        self.iso = re.compile(rf"{_BEFORE}([12][0-9]{{3}})[-/]([01]?[0-9])[-/]([0-3]?[0-9]){_AFTER}")
        self.numeric = re.compile(rf"{_BEFORE}([0-3]?[0-9])([-/.])([0-3]?[0-9])\2([12][0-9]{{3}}|[0-9]{{2}}){_AFTER}")
        self.day_first = re.compile(rf"{_BEFORE}([0-3]?[0-9]){marks}{joint}[ /-]{month}(?:{joint},?[ /-]{year})?(?![\w])", flags)
        self.month_first = re.compile(
            rf"(?<![\w]){month} ([0-3]?[0-9])(?:st|nd|rd|th)?(?:\s?,?\s?{year}|(?![\w:%/-]|[.,][0-9]))", flags
        )
        self.month_year = re.compile(rf"(?<![\w])((?:{short})(?![^\W\d_])\.?)(?:,? |{joint} |[/-]){year}", flags)
        self.day_month = re.compile(rf"{_BEFORE}([0-3]?[0-9])/([0-3]?[0-9]){_AFTER}")
        self.clock = re.compile(rf"(?<![\w:.,])([0-2]?[0-9])[:h]([0-5][0-9])(?::([0-5][0-9]))?{_HALF}?{hours}(?![\w:]|[.,][0-9])")
        self.hour_half = re.compile(rf"(?<![\w:.,])([0-2]?[0-9]){_HALF}")
        self.hour_letter = re.compile(r"(?<![\w:.,/])([0-2]?[0-9])\s?[hH](?:\s?([0-5][0-9])(?:\s?(?:min|m))?)?(?![\w/])")
        others = "|[0-9]{1,3}" if language.decades else ""  # "747s"; elsewhere "23s" are seconds
        self.decade = re.compile(rf"(?:(?<=[a-z])-|(?<![\w.,-]))'?([0-9]{{3}}0|[0-9]0{others})'?s(?!\w)")
        self.weekdays = re.compile(
            rf"(?<!\w)({days})\.?(?:\s?[-–—/]\s?|( (?:to|a|à|au|e|et|y|&|through) ))({days})(?:\.(?!$)|(?!\w))", flags
        )
        self.range = re.compile(rf"(?<![\w:.,/-])({_TIME})\s?[-–—]\s?(?={_TIMED})")
        dot = r"\.?" if language.month_first else r"\."
        self.weekday = re.compile(rf"(?<!\w)({days}){dot}(?=,? (?:{full}|(?:{short})\b|[0-9]))", flags)


_patterns = cache(_Patterns)


def say_dates(draft: Draft) -> None:
    """Read dates. ``12/05/2014`` is read in the language's order, or in the other where that is not a date."""
    language, patterns = draft.language, _patterns(draft.language)

    def said(day: int, month: int, year: str) -> str | None:
        if not (1 <= day <= 31 and 1 <= month <= 12):
            return None
        if len(year) == 2:
            year = ("20" if int(year) <= 40 else "19") + year
        return language.date(day, language.months[month - 1], language.year(int(year)) if year else "")

    def numeric(match: re.Match[str]) -> str | None:
        first, second = int(match[1]), int(match[3])
        if len(match[4]) == 2 and match[2] == ".":
            return None  # more often a version
        if language.month_first:
            return said(second, first, match[4]) or said(first, second, match[4])
        return said(first, second, match[4]) or said(second, first, match[4])

    def day_month(match: re.Match[str]) -> str | None:
        first, second = match[1], match[2]
        day, month = (second, first) if language.month_first else (first, second)
        before = re.split(r"\W+", match.string[max(0, match.start() - 20) : match.start()].lower().rstrip(" ,"))[-1]
        if before in (*language.before_dates, *language.day_short.values()) and not _PARTS.match(match.string, match.end()):
            sure = True
        elif language.month_first:
            sure = (len(month) == 2 and month[0] == "0") or (12 < int(day) <= 31 and int(day) not in (16, 20))
        else:
            sure = len(month) == 2 and (int(day) > 12 or day[0] == "0" or int(month) > 10)
        return said(int(day), int(month), "") if sure else None

    def in_words(day: str, written: str, year: str | None, match: re.Match[str], *, day_first: bool = False) -> str | None:
        number = _month(written, language)
        short = language.months[number - 1].lower() != written.lower()
        if short and not (written.endswith(".") or year or (language.month_first and written[0].isupper())):
            return None
        if not short and not year and written == "may" and match.string[match.end() :].lstrip()[:1] not in ("", ",", "."):
            return None
        kept = written if not short else language.months[number - 1]
        if not 1 <= int(day) <= 31:
            return None
        spoken_year = language.year(int(year)) if year else ""
        if language.month_first and day_first and (" of " in match[0] or match.string[: match.start()].endswith("the ")):
            return f"{language.ordinal(int(day), False)} of {kept}" + (f", {spoken_year}" if year else "")
        return language.date(int(day), kept, spoken_year)

    draft.sub("date", patterns.weekday, lambda match: language.day_short[match[1].lower()])
    draft.sub("date", patterns.iso, lambda match: said(int(match[3]), int(match[2]), match[1]))
    draft.sub("date", patterns.numeric, numeric)
    draft.sub("date", patterns.day_first, lambda match: in_words(match[1], match[2], match[3], match, day_first=True))
    if language.month_first:
        draft.sub("date", patterns.month_first, lambda match: in_words(match[2], match[1], match[3], match))
    draft.sub(
        "date",
        patterns.month_year,
        lambda match: f"{language.months[_month(match[1], language) - 1]} {'de ' * (language.code in ('es', 'pt'))}{match[2]}",
    )
    draft.sub("date", patterns.day_month, day_month)


def say_weekdays(draft: Draft) -> None:
    """Read a range or pair of days in short: ``Mon-Fri``, ``lun. au ven.``."""
    days, joint = draft.language.day_short, f" {draft.language.words['through']} "
    draft.sub(
        "date",
        _patterns(draft.language).weekdays,
        lambda match: f"{days[match[1].lower()]}{match[2] or joint}{days[match[3].lower()]}",
    )


def _month(written: str, language: Language) -> int:
    """Return 1..12 for a month's name or short form."""
    name = written.lower().rstrip(".")
    if name in language.month_short:
        return language.month_short[name]
    return [month.lower() for month in language.months].index(name) + 1


def say_times(draft: Draft) -> None:
    """Read times of day: ``3:30 pm``, ``15h30``, ``15:30:10``."""
    language, patterns = draft.language, _patterns(draft.language)

    def half(letter: str | None) -> str:
        return f"{letter.lower()}m" if letter else ""

    def clock(match: re.Match[str]) -> str | None:
        if "h" in match[0] and not language.hour_letter:
            return None
        hour = int(match[1])
        if hour > 24:
            return None
        if match[3]:
            return " ".join(
                plain(part, language) if part[0] != "0" else language.cardinal(int(part), "") for part in match.groups()[:3]
            )
        return language.clock(hour, int(match[2]), half(match[4]))

    def hour_half(match: re.Match[str]) -> str | None:
        hour = int(match[1])
        return language.clock(hour, 0, half(match[2])) if 1 <= hour <= 12 else None

    def hour_letter(match: re.Match[str]) -> str | None:
        if int(match[1]) > 24:
            return None
        if match[2] and match[0].endswith(("m", "n")):  # a duration
            hours, minutes = language.clock(int(match[1]), 0, ""), language.units["min"]
            joint = "" if language.code == "fr" else f"{language.symbols['&']} "
            return f"{hours} {joint}{language.cardinal(int(match[2]), 'f' if minutes.feminine else 'm')} {minutes.many}"
        return language.clock(int(match[1]), int(match[2] or 0), "")

    def ranged(match: re.Match[str]) -> str:
        halved = language.code == "en" and _HALVED.match(match.string, match.end())  # "8:00-10:00 a.m."
        return f"{match[1].removesuffix(':00') if halved else match[1]} {language.words['until']} "

    def military(match: re.Match[str]) -> str:
        hour, minute = int(match[1]), int(match[2])
        if not language.month_first:
            return language.clock(hour, minute, "")
        said = f"{'oh ' * (match[1][0] == '0')}{language.cardinal(hour, '')}"
        return f"{said} {language.clock(hour, minute, '').split(' ', 1)[1] if minute else 'hundred'}{' hours' * bool(match[3])}"

    draft.sub("time", _MILITARY, military)
    draft.sub("range", patterns.range, ranged)
    draft.sub("time", patterns.clock, clock)
    draft.sub("time", patterns.hour_half, hour_half)
    if language.hour_letter:
        draft.sub("time", patterns.hour_letter, hour_letter)


def say_decades(draft: Draft) -> None:
    """Read ``1990s``, ``'90s``, ``90's``; languages without such plurals drop the "s"."""
    language = draft.language
    say = language.decades or (lambda digits: plain(digits, language))
    draft.sub(
        "decade",
        _patterns(language).decade,
        lambda match: f"{' ' * (match[0][0] == '-')}{say(match[1])}" if match[1][0] != "0" else None,
    )
