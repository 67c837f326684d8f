"""Spanish, with the words most of America and Spain share."""

from __future__ import annotations

from components.speech.text_normalization.language import Language, listed, read_tables, words_of

_SMALL = listed("""
    cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete dieciocho
    diecinueve veinte veintiuno veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete veintiocho veintinueve
""")
_TENS = ["", "", "", *listed("treinta cuarenta cincuenta sesenta setenta ochenta noventa")]
_HUNDREDS = [
    "", *listed("ciento doscientos trescientos cuatrocientos quinientos seiscientos setecientos ochocientos novecientos"),
]  # fmt: skip
_ORDINAL_ONES = ["", *listed("primero segundo tercero cuarto quinto sexto séptimo octavo noveno")]
_ORDINAL_TENS = [
    "", *listed("décimo vigésimo trigésimo cuadragésimo quincuagésimo sexagésimo septuagésimo octogésimo nonagésimo"),
]  # fmt: skip
_ORDINAL_TEENS = listed("""
    undécimo duodécimo decimotercero decimocuarto decimoquinto decimosexto decimoséptimo decimoctavo decimonoveno
""")
_QUEENS = words_of("isabel elizabeth beatriz leonor margarita")


def _below_thousand(number: int, gender: str) -> str:
    if number == 100:
        return "cien"
    hundreds, rest = divmod(number, 100)
    words = []
    if hundreds:
        words.append(_HUNDREDS[hundreds].replace("ientos", "ientas") if gender == "f" else _HUNDREDS[hundreds])
    if rest >= 30:
        words.append(_TENS[rest // 10] + (f" y {_SMALL[rest % 10]}" if rest % 10 else ""))
    elif rest:
        words.append(_SMALL[rest])
    text = " ".join(words)
    if gender == "f" and text.endswith("uno"):
        return f"{text[:-1]}a"
    if gender == "m" and text.endswith("uno"):
        return f"{text[:-3]}ún" if rest == 21 else text[:-1]
    return text


def cardinal(number: int, gender: str = "") -> str:
    """123 → "ciento veintitrés"; the gender turns uno and the hundreds. Long scale: 10**9 is "mil millones"."""
    if number == 0:
        return "cero"
    millions, rest = divmod(number, 10**6)
    billions, millions = divmod(millions, 10**6)
    parts = []
    for count, one, many in ((billions, "billón", "billones"), (millions, "millón", "millones")):
        if count:
            parts.append(f"un {one}" if count == 1 else f"{_below_million(count, 'm')} {many}")
    if rest:
        parts.append(_below_million(rest, gender))
    return " ".join(parts)


def _below_million(number: int, gender: str) -> str:
    thousands, rest = divmod(number, 1000)
    words = []
    if thousands:
        words.append("mil" if thousands == 1 else f"{_thousands(thousands, gender)} mil")
    if rest:
        words.append(_below_thousand(rest, gender))
    return " ".join(words)


def _thousands(number: int, gender: str) -> str:
    """Return the words before "mil": "doscientas", and "veintiún" before any noun."""
    return (
        _below_thousand(number, "m")
        if number % 10 == 1 and number % 100 != 11 and number < 100
        else _below_thousand(number, gender or "m")
    )


def ordinal(number: int, feminine: bool = False) -> str:
    """21 → "vigésimo primero"; from 100 up, but for 1000, the cardinal."""
    if number == 1000:
        return "milésima" if feminine else "milésimo"
    if number >= 100:
        return cardinal(number, "f" if feminine else "")
    if 11 <= number <= 19:
        words = [_ORDINAL_TEENS[number - 11]]
    else:
        words = [word for word in (_ORDINAL_TENS[number // 10], _ORDINAL_ONES[number % 10]) if word]
    return " ".join(f"{word[:-1]}a" if feminine else word for word in words)


def fraction(above: int, below: int) -> str:
    """3/4 → "tres cuartos"."""
    if not 2 <= below <= 10:
        return ""
    name = {2: "medio", 3: "tercio"}.get(below) or ordinal(below)
    if (above, below) == (1, 2):
        return name
    return f"{cardinal(above, 'm')} {name}{'' if above == 1 else 's'}"


def date(day: int, month: str, spoken_year: str) -> str:
    """ "veintitrés de septiembre de dos mil diecisiete"."""
    return f"{'primero' if day == 1 else cardinal(day)} de {month}" + (f" de {spoken_year}" if spoken_year else "")


def clock(hour: int, minute: int, half: str) -> str:
    """ "quince y treinta", "tres de la tarde"."""
    said = cardinal(hour, "f")
    if minute:
        said += f" y {cardinal(minute)}"
    elif not half:
        said += " hora" if hour == 1 else " horas"
    if half == "am":
        return f"{said} de la mañana"
    return f"{said} de la {'tarde' if hour in (12, 1, 2, 3, 4, 5, 6, 7) else 'noche'}" if half else said


_TABLES = read_tables("spanish")
_is_feminine = _TABLES["feminine"]
LANGUAGE = Language(
    **_TABLES,
    code="es",
    cardinal=cardinal,
    ordinal=ordinal,
    year=cardinal,
    code_number=lambda digits: cardinal(int(digits)),
    fraction=fraction,
    date=date,
    clock=clock,
    ruler=lambda number, name: ordinal(number, name in _QUEENS or _is_feminine(name)) if number <= 10 else cardinal(number),
)
