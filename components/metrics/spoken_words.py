"""Normalised words for comparing speech transcripts: differences of spelling alone are removed.

Case, punctuation and apostrophes are removed ("Don't stop." and "dont stop" are the same words), hyphens separate words, and
English numbers become words ("3" is "three", "1st" "first", "&" "and"), since recognisers differ in these. Accents stay, as part
of the spelling. Remaining differences count as errors: British and American spelling, words written as one or two, years read in
pairs ("1990" becomes "one thousand nine hundred ninety"), digits in other languages.
"""

from __future__ import annotations

import re
import unicodedata

from components.language.words import inflector

_APOSTROPHES = re.compile("['’ʼ´`]")
_FIGURES = re.compile(r"(?<![\w.])(\d+(?:,\d{3})*(?:\.\d+)?)(st|nd|rd|th)?(?!\w|[.,]\d)")
_MOST_DIGITS = 15


def spoken_words(text: str, language: str) -> list[str]:
    """Return the words of ``text`` to compare, in order; empty if nothing in it is spoken.

    Args:
        text: any text.
        language: ISO 639-1; only English numbers become words.
    """
    text = unicodedata.normalize("NFKC", text).casefold()
    if language == "en":
        text = _FIGURES.sub(_in_words, text.replace("&", " and ").replace("%", " percent "))
    text = _APOSTROPHES.sub("", text)
    # Letters, their combining marks, and digits; everything else separates words.
    return "".join(char if unicodedata.category(char)[0] in "LMN" else " " for char in text).split()


def _in_words(match: re.Match[str]) -> str:
    figure = match[1].replace(",", "")
    if len(figure) > _MOST_DIGITS or not figure.isascii():
        return match[0]
    words = str(inflector().number_to_words(figure, andword="", comma=""))
    return f" {inflector().ordinal(words) if match[2] else words} "
