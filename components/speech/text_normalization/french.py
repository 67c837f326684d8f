"""French, as it is said in France."""

from __future__ import annotations

import re

from components.speech.text_normalization.language import Language, listed, read_tables

_SMALL = listed("""
    zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept dix-huit dix-neuf
""")
_TENS = ["", "", *listed("vingt trente quarante cinquante soixante soixante quatre-vingt quatre-vingt")]
_LARGE = (("million", "millions"), ("milliard", "milliards"), ("billion", "billions"))


def _below_hundred(number: int, gender: str) -> str:
    if number < 20:
        return "une" if (number, gender) == (1, "f") else _SMALL[number]
    tens, ones = divmod(number, 10)
    if tens in (7, 9):
        ones += 10
    if number == 80:
        return "quatre-vingts"
    if not ones:
        return _TENS[tens]
    if ones in (1, 11) and tens < 8:
        return f"{_TENS[tens]} et {'une' if (ones, gender) == (1, 'f') else _SMALL[ones]}"
    return f"{_TENS[tens]}-{'une' if (ones, gender) == (1, 'f') else _SMALL[ones]}"


def _below_thousand(number: int, gender: str) -> str:
    hundreds, rest = divmod(number, 100)
    words = []
    if hundreds:
        words.append("cent" if hundreds == 1 else f"{_SMALL[hundreds]} cent" + ("" if rest else "s"))
    if rest:
        words.append(_below_hundred(rest, gender))
    return " ".join(words)


def cardinal(number: int, gender: str = "") -> str:
    """123 → "cent vingt-trois"; the gender inflects "un" only."""
    if number == 0:
        return "zéro"
    parts = []
    millions, rest = divmod(number, 10**6)
    for place, (one, many) in reversed(list(enumerate(_LARGE))):
        count = millions // 1000**place % 1000
        if count:
            parts.append(f"{_below_thousand(count, '')} {one if count == 1 else many}")
    thousands, rest = divmod(rest, 1000)
    if thousands:
        before = re.sub("(cent|vingt)s$", r"\1", _below_thousand(thousands, ""))
        parts.append("mille" if thousands == 1 else f"{before} mille")
    if rest:
        parts.append(_below_thousand(rest, gender))
    return " ".join(parts)


def ordinal(number: int, feminine: bool = False) -> str:
    """21 → "vingt et unième"; 1 is "premier" or "première"."""
    if number == 1:
        return "première" if feminine else "premier"
    words = cardinal(number)
    if words.endswith(("quatre-vingts", "cents", "millions", "milliards")):
        words = words[:-1]
    if words.endswith("cinq"):
        return f"{words}uième"
    if words.endswith("neuf"):
        return f"{words[:-1]}vième"
    return f"{words.removesuffix('e')}ième"


def fraction(above: int, below: int) -> str:
    """3/4 → "trois quarts"."""
    if not 2 <= below <= (1000 if above == 1 else 16):
        return ""
    name = {2: "demi", 3: "tiers", 4: "quart"}.get(below) or ordinal(below)
    return f"{cardinal(above)} {name}{'' if above == 1 or name.endswith('s') else 's'}"


def date(day: int, month: str, spoken_year: str) -> str:
    """ "vingt-trois septembre deux mille dix-sept"."""
    return f"{'premier' if day == 1 else cardinal(day)} {month}" + (f" {spoken_year}" if spoken_year else "")


def clock(hour: int, minute: int, half: str) -> str:
    """ "quinze heures trente"."""
    said = f"{cardinal(hour, 'f')} {'heure' if hour < 2 else 'heures'}"
    if minute:
        said += f" {cardinal(minute, 'f')}"
    if half == "am":
        return f"{said} du matin"
    if half == "pm":
        return said + (" de l'après-midi" if hour in (12, 1, 2, 3, 4, 5) else " du soir")
    return said


_TABLES = read_tables("french")
_is_feminine = _TABLES.pop("feminine")
LANGUAGE = Language(
    **_TABLES,
    code="fr",
    letter_plural=lambda name: name,
    cardinal=cardinal,
    ordinal=ordinal,
    year=lambda number: re.sub("(cent|vingt)s$", r"\1", cardinal(number)),
    code_number=lambda digits: cardinal(int(digits)),
    fraction=fraction,
    feminine=lambda noun: _is_feminine(noun.removesuffix("s")),
    date=date,
    clock=clock,
    ruler=lambda number, name: ordinal(1, _is_feminine(name.removesuffix("s"))) if number == 1 else cardinal(number),
)
