"""Telephone numbers, codes and model numbers, and numbers grouped by blanks."""

from __future__ import annotations

import re

from components.speech.text_normalization.draft import Draft
from components.speech.text_normalization.figures import by_digits

_PHONE = re.compile(
    r"(?<![\w.,/])(?:\+[0-9]{1,3}[ .-]?)?(?:\([0-9]{2,4}\)[ .-]?)?[0-9]{2,5}(?:[ .-][0-9]{2,5}){1,4}(?![\w/]|[.,][0-9])"
)
_CHAIN = re.compile(r"(?<![\w-])[0-9]+(?:-[0-9]+){2,}(?![\w-])")
_BY_BLANKS = re.compile(r"(?<![\w.,/])(?<![0-9] )[1-9][0-9]{0,2}(?: [0-9]{3})+(?! ?[0-9])")
_MAKERS = "|".join(f"(?<={name} )" for name in ("Boeing", "Airbus", "Porsche", "Ferrari", "Peugeot"))
_MODEL = re.compile(rf"(?:{_MAKERS})([0-9]{{3}})(?:-([0-9]{{3}}))?(?![\w-])|(?<!\w)(7[0-9]7)-([0-9]00)(?![\w-])")


def join_groups(draft: Draft) -> None:
    """Join numbers grouped by blanks, where the language does so: ``4 809`` becomes ``4.809`` for later rules."""
    if draft.language.code in ("fr", "es"):
        draft.sub("grouping", _BY_BLANKS, lambda match: match[0].replace(" ", "."))


def say_codes(draft: Draft) -> None:
    """Read telephone numbers and chains of figures, such as an ISBN, digit by digit."""
    language = draft.language

    def phone(match: re.Match[str]) -> str | None:
        digits = re.sub("[^0-9]", "", match[0])
        groups = re.findall("[0-9]+", match[0])
        dotted = re.fullmatch(r"[1-9][0-9]{0,2}(?:[. ][0-9]{3})+", match[0])
        if len(digits) < 7 or dotted or (len(groups) == 2 and all(len(group) == 4 and group[0] in "12" for group in groups)):
            return None
        return by_digits(match[0], language)

    def model(match: re.Match[str]) -> str:
        return " ".join(language.code_number(part) for part in match.groups() if part)

    draft.sub("model", _MODEL, model)
    draft.sub("digits", _PHONE, phone)
    draft.sub("digits", _CHAIN, lambda match: by_digits(match[0], language))
