"""Portuguese, as Brazilians say it."""

from __future__ import annotations

from components.speech.text_normalization.language import Language, listed, read_tables, words_of

_SMALL = listed("""
    zero um dois três quatro cinco seis sete oito nove dez onze doze treze catorze quinze dezesseis dezessete dezoito dezenove
""")
_TENS = ["", "", *listed("vinte trinta quarenta cinquenta sessenta setenta oitenta noventa")]
_HUNDREDS = [
    "", *listed("cento duzentos trezentos quatrocentos quinhentos seiscentos setecentos oitocentos novecentos"),
]  # fmt: skip
_LARGE = (("", ""), ("mil", "mil"), ("milhão", "milhões"), ("bilhão", "bilhões"), ("trilhão", "trilhões"))
_ORDINAL_ONES = ["", *listed("primeiro segundo terceiro quarto quinto sexto sétimo oitavo nono")]
_ORDINAL_TENS = [
    "", *listed("décimo vigésimo trigésimo quadragésimo quinquagésimo sexagésimo septuagésimo octogésimo nonagésimo"),
]  # fmt: skip
_ORDINAL_HUNDREDS = [
    "", *listed("centésimo ducentésimo tricentésimo quadringentésimo quingentésimo sexcentésimo septingentésimo octingentésimo"),
    "nongentésimo",
]  # fmt: skip
_QUEENS = words_of("isabel elizabeth beatriz leonor margarita")


def _below_thousand(number: int, gender: str) -> str:
    if number == 100:
        return "cem"
    hundreds, rest = divmod(number, 100)
    words = [_HUNDREDS[hundreds]] if hundreds else []
    if gender == "f":
        words = [word.replace("entos", "entas") for word in words]
    if rest >= 20:
        words.append(_TENS[rest // 10])
        rest %= 10
    if rest:
        words.append({1: "uma", 2: "duas"}.get(rest, _SMALL[rest]) if gender == "f" else _SMALL[rest])
    return " e ".join(words)


def cardinal(number: int, gender: str = "") -> str:
    """123 → "cento e vinte e três"; the gender turns um, dois and the hundreds."""
    if number == 0:
        return "zero"
    groups = []
    while number:
        number, rest = divmod(number, 1000)
        groups.append(rest)
    text = ""
    for place in range(len(groups) - 1, -1, -1):
        group = groups[place]
        if not group:
            continue
        if place == 1 and group == 1:
            words = "mil"
        else:
            words = _below_thousand(group, gender if place < 2 else "")
            if place:
                words += " " + _LARGE[place][group > 1]
        joined = not any(groups[:place]) and (group < 100 or group % 100 == 0)
        text += (" e " if joined else " ") * bool(text) + words
    return text


def ordinal(number: int, feminine: bool = False) -> str:
    """21 → "vigésimo primeiro"; above 1000 the cardinal."""
    if number == 1000:
        return "milésima" if feminine else "milésimo"
    if number > 1000:
        return cardinal(number, "f" if feminine else "")
    parts = (_ORDINAL_HUNDREDS[number // 100], _ORDINAL_TENS[number // 10 % 10], _ORDINAL_ONES[number % 10])
    words = [part for part in parts if part]
    return " ".join(f"{word[:-1]}a" if feminine else word for word in words)


def fraction(above: int, below: int) -> str:
    """3/4 → "três quartos"."""
    if not 2 <= below <= 10:
        return ""
    name = {2: "meio", 3: "terço"}.get(below) or ordinal(below)
    if (above, below) == (1, 2):
        return name
    return f"{cardinal(above)} {name}{'' if above == 1 else 's'}"


def date(day: int, month: str, spoken_year: str) -> str:
    """ "vinte e três de setembro de dois mil e dezessete"."""
    return f"{'primeiro' if day == 1 else cardinal(day)} de {month}" + (f" de {spoken_year}" if spoken_year else "")


def clock(hour: int, minute: int, half: str) -> str:
    """ "quinze e trinta", "três da tarde"."""
    said = cardinal(hour, "f")
    if minute:
        said += f" e {cardinal(minute)}"
    elif not half:
        said += " hora" if hour < 2 else " horas"
    if half == "am":
        return f"{said} da manhã"
    return f"{said} {'da tarde' if hour in (12, 1, 2, 3, 4, 5) else 'da noite'}" if half else said


_TABLES = read_tables("portuguese")
_is_feminine = _TABLES["feminine"]
LANGUAGE = Language(
    **_TABLES,
    code="pt",
    cardinal=cardinal,
    ordinal=ordinal,
    year=cardinal,
    code_number=lambda digits: cardinal(int(digits)),
    fraction=fraction,
    date=date,
    clock=clock,
    ruler=lambda number, name: ordinal(number, name in _QUEENS or _is_feminine(name)) if number <= 10 else cardinal(number),
)
