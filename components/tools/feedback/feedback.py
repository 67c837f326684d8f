"""Feedback on one alt-text: the remarks of all checks."""

from __future__ import annotations

from pathlib import Path

from components.core.errors import HearsightError
from components.core.graph import find_root
from components.tools.feedback.filter_rules import english_remarks, image_remarks, portuguese_remarks
from components.tools.feedback.guidelines import Remark, check_guidelines
from components.web.html.page import fold

LANGUAGES = ("en", "pt")
"""Of texts and remarks (ISO 639-1)."""
MOST = 10_000
"""Characters of a text."""


def feedback(
    text: str,
    language: str = "en",
    *,
    image: bytes | None = None,
    root: Path | None = None,
    interface: str = "en",
    where: str = "the image",
) -> list[Remark]:
    """Return remarks on an alt-text: filter rules, then guidelines, then what is not checked.

    Args:
        language: of the text: en or pt.
        image: the image's file, whose format, size and content are compared with an English text.
        root: of the project; None for the one around the current folder.
        interface: language of the remarks: en or pt.
        where: the image's name in errors.

    Raises:
        HearsightError: the text is empty or too long, a language is unknown, or the image is unusable.
    """
    for value in (language, interface):
        if value not in LANGUAGES:
            raise HearsightError(f"'{value}' is not a language here", where="feedback", hint=f"write {' or '.join(LANGUAGES)}")
    folded = fold(text[: MOST + 1])
    if not folded:
        raise HearsightError("is empty", where="the text", hint="give an alt-text")
    if len(text) > MOST:
        raise HearsightError(f"has more than {MOST:,} characters", where="the text", hint="shorten it")
    if image is not None and language != "en":
        raise HearsightError("an image is compared with English texts only", where=where, hint="leave it out")
    root = root or find_root()
    remarks = english_remarks(root, folded, interface) if language == "en" else portuguese_remarks(folded, interface)
    if image is not None:
        remarks += image_remarks(root, folded, image, interface, where)
    return remarks + check_guidelines(text, language, interface)
