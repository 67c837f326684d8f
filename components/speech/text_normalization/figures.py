"""Numbers to words: grouping, decimals, digits; telephone numbers, codes and model numbers."""

from __future__ import annotations

import re

from components.speech.text_normalization.draft import Draft
from components.speech.text_normalization.language import LIMIT, Language

NUMBER = r"[0-9]+(?:[.,][0-9]+)*"
"""A number with its grouping and decimal marks, whatever they mean."""
LETTER = r"[^\W\d_²³ºª]"
LONGEST = 6
"""A plain number of more digits is a code, unless it is round, and read digit by digit."""
_ROUND = 1000
_PHONE = re.compile(
    r"(?<![\w.,/])(?:\+[0-9]{1,3}[ .-]?(?:\(?[0-9]\)?[ .-]?)?|[01][ .-](?=[0-9]{3}[ .-]))?(?:\([0-9]{2,4}\)[ .-]?)?"
    r"[0-9]{2,5}(?:[ .-][0-9]{2,5}){1,4}(?![\w/]|[.,][0-9])"
)
_MOBILE = re.compile(r"[6-9][0-9]{2} [0-9]{3} [0-9]{3}")
_ZIP = re.compile(r"(?<!\w)([A-Z])([A-Z]) ([0-9]{5}(?:-[0-9]{4})?)(?![\w-])")
_SUFFIX = re.compile(r"(?<=[0-9]\.[0-9])(?=[A-Z](?!\w))")
_NO_WHOLE = re.compile(r"(?<![^\s$€£(~<>+-])\.(?=[0-9])")
_CUT_OFF = re.compile(r"(?<!\S),(?=[0-9]{3}(?![0-9]))")
_VERSION = re.compile(r"(?<!\w)([A-Za-z]{1,3})(?=[0-9]+\.[0-9])")
_CHAIN = re.compile(r"(?<![\w-])[0-9]+(?:-[0-9]+){2,}(?![\w-])|(?<![\w.])[0-9]{2}\.[0-9]{3}\.[0-9]{3}/[0-9]{4}-[0-9]{2}(?!\w)")
_BY_BLANKS = re.compile(r"(?<![\w.,/])(?<![0-9] )[1-9][0-9]{0,2}(?: [0-9]{3})+(?! ?[0-9])")
_MAKERS = "|".join(f"(?<={name} )" for name in ("Boeing", "Airbus", "Porsche", "Ferrari", "Peugeot"))
_MODEL = re.compile(rf"(?=[0-9])(?:{_MAKERS})([0-9]{{3}})(?:-([0-9]{{1,3}}))?(?![\w-])|(?<!\w)(7[0-9]7)-([0-9]00)(?![\w-])")


def by_digits(text: str, language: Language) -> str:
    """Return digits in words ("2043" → "two zero four three"), with a comma between groups."""
    groups = re.findall("[0-9]+", text)
    return ", ".join(" ".join(language.cardinal(int(digit), "") for digit in group) for group in groups)


def by_groups(text: str, language: Language) -> str:
    """Return a telephone number in words: digit by digit, in French by its groups."""
    if language.code != "fr" or re.search("[0-9]{4}", text):
        return by_digits(text, language)
    groups = re.findall("(0*)([0-9]*)", re.sub("[^0-9]+", " ", text))
    return ", ".join(
        " ".join(filter(None, (by_digits(zeros, language), rest and language.cardinal(int(rest), ""))))
        for zeros, rest in groups
        if zeros or rest
    )


def plain(digits: str, language: Language, gender: str = "", *, year: bool = False) -> str:
    """Return a number without marks in words."""
    value = int(digits) if len(digits) <= 15 else LIMIT
    if (len(digits) > 1 and digits[0] == "0") or value >= LIMIT or (len(digits) > LONGEST and value % _ROUND):
        return by_digits(digits, language)
    if year and gender != "f" and len(digits) == 4 and (1000 if language.code == "en" else 1099) < value <= 2099:
        return language.year(value)
    return language.cardinal(value, gender)


def spoken(lexeme: str, language: Language, gender: str = "", *, year: bool = True) -> str:
    """Return a number in words.

    ``3.500`` is grouped in a language that groups by dots and has three decimals in another; a mark that does not group is a
    decimal mark; several such marks separate the numbers of a list or a version.
    """
    if lexeme.isdecimal():
        return plain(lexeme, language, gender, year=year)
    group, decimal = ("," if language.decimal == "." else "."), language.decimal
    for mark, other in ((group, decimal), (decimal, group)):
        if re.fullmatch(rf"[1-9][0-9]{{0,2}}(?:\{mark}[0-9]{{3}})+(?:\{other}[0-9]+)?", lexeme) and (
            mark == group or lexeme.count(mark) > 1
        ):
            whole, _, rest = lexeme.replace(mark, "").partition(other)
            return _decimal(whole, rest, language, language.decimal_word, gender)
    marks = re.findall("[.,]", lexeme)
    parts = re.split("[.,]", lexeme)
    if len(marks) == 1:
        return _decimal(
            parts[0], parts[1], language, language.decimal_word if marks[0] == decimal else language.group_word, gender
        )
    said = [plain(part, language) for part in parts]
    text = said[0]
    for mark, words in zip(marks, said[1:], strict=True):
        text += f", {words}" if mark == "," else f" {language.words['dot'] if language.code != 'en' else 'point'} {words}"
    return text


def _decimal(whole: str, rest: str, language: Language, mark: str, gender: str) -> str:
    if not rest:
        return plain(whole, language, gender) if len(whole) <= LONGEST else _grouped(whole, language, gender)
    if language.fraction_digits and len(rest) <= language.fraction_digits and rest[0] != "0":
        after = language.cardinal(int(rest), "")
    else:
        after = by_digits(rest, language)
    turned = gender if gender == "f" and language.code == "pt" else ""
    return f"{_grouped(whole, language, turned)} {mark} {after}"


def _grouped(digits: str, language: Language, gender: str) -> str:
    value = int(digits) if len(digits) <= 15 else LIMIT
    return language.cardinal(value, gender) if value < LIMIT else by_digits(digits, language)


def amount(lexeme: str, language: Language) -> float:
    """Return the approximate value of a number, to choose singular or plural."""
    digits = lexeme.replace(",", ".") if re.fullmatch(r"[0-9]+[.,][0-9]{1,2}", lexeme) else re.sub("[.,]", "", lexeme)
    return float(digits[:15])


def number_of(language: Language) -> str:
    """Return the pattern of a number, with blanks between groups where the language writes them."""
    return rf"(?:(?<![0-9] )[1-9][0-9]{{0,2}}(?: [0-9]{{3}})+(?![0-9])|{NUMBER})" if language.group == " " else NUMBER


def is_millions(lexeme: str, language: Language) -> bool:
    """Return whether a number is of whole millions, after which "de" follows in Spanish, Portuguese and French."""
    digits = re.sub("[.,]", "", lexeme)
    return bool(language.of_millions) and len(digits) <= 15 and digits.endswith("000000") and int(digits) > 0


def gender_of(noun: str, language: Language) -> str:
    """Return the gender of a number before ``noun``: "m", "f", or "" for a word that is not a counted noun."""
    word = noun
    if not noun.islower() or word in language.no_nouns:
        return ""
    return "f" if language.feminine(word) else "m"


def join_groups(draft: Draft) -> None:
    """Write numbers in the form of later rules: ``4 809`` as ``4.809`` where a language groups so, ``.5`` as ``0.5``."""
    language = draft.language

    def joined(match: re.Match[str]) -> str | None:
        telephone = (
            language.code == "es" and _MOBILE.fullmatch(match[0]) and not match.string[match.end() :].lstrip()[:1].islower()
        )
        return None if telephone else match[0].replace(" ", ".")

    draft.sub("grouping", _NO_WHOLE, lambda match: f"0{language.decimal}")
    draft.sub("marks", _CUT_OFF, lambda match: "")
    if language.code in ("fr", "es"):
        draft.sub("grouping", _BY_BLANKS, joined)


def say_codes(draft: Draft) -> None:
    """Read telephone numbers and chains of figures, such as an ISBN, digit by digit."""
    language = draft.language

    def phone(match: re.Match[str]) -> str | None:
        digits = re.sub("[^0-9]", "", match[0])
        groups = re.findall("[0-9]+", match[0])
        dotted = re.fullmatch(r"[1-9][0-9]{0,2}(?:[. ][0-9]{3})+", match[0]) and not (language.code == "es" and " " in match[0])
        if len(digits) < 7 or dotted or (len(groups) == 2 and all(len(group) == 4 and group[0] in "12" for group in groups)):
            return None
        return f"{language.words['plus']} " * match[0].startswith("+") + by_groups(match[0], language)

    def model(match: re.Match[str]) -> str:
        return " ".join(language.code_number(part) for part in match.groups() if part)

    def zip_code(match: re.Match[str]) -> str:
        state = " ".join(language.letters[letter.lower()] for letter in match.groups()[:2])
        return f"{state} {by_digits(match[3], language)}"

    def chain(match: re.Match[str]) -> str:
        groups = match[0].split("-")
        if len(groups) == 3 and all(len(group) < 3 and group[0] != "0" for group in groups):  # measurements, angles
            return ", ".join(plain(group, language) for group in groups)
        return by_digits(match[0], language)

    draft.sub("model", _MODEL, model)
    draft.sub(
        "letters", _VERSION, lambda match: " ".join(language.letters.get(letter, letter) for letter in match[1].lower()) + " "
    )
    draft.sub("letters", _SUFFIX, lambda match: " ")
    draft.sub("digits", _ZIP, zip_code)
    draft.sub("digits", _PHONE, phone)
    draft.sub("digits", _CHAIN, chain)
