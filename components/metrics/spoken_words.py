"""Words as they are compared when speech was written down: what two spellings of the same speech differ in is taken away.

Case, punctuation and apostrophes go ("Don't stop." and "dont stop" are the same words), hyphens part words, and English
figures become words ("3" is "three", "1st" "first", "&" "and"), since a recogniser writes what it hears as it likes. Accents
stay: they are spelling in the languages that have them. Not taken away: British beside American spelling, words written as one
or as two, years read in pairs ("1990" becomes "one thousand nine hundred ninety"), figures in other languages; these count as
errors.
"""

from __future__ import annotations

import re
import unicodedata

from components.language.inflector import inflector

_APOSTROPHES = re.compile("['’ʼ´`]")
_FIGURES = re.compile(r"(?<![\w.])(\d+(?:,\d{3})*(?:\.\d+)?)(st|nd|rd|th)?(?!\w|[.,]\d)")
_MOST_DIGITS = 15


def spoken_words(text: str, language: str) -> list[str]:
    """The words of ``text`` to compare, in order; empty when nothing in it is said.

    Args:
        text: anything.
        language: ISO 639-1; English figures alone become words.
    """
    text = unicodedata.normalize("NFKC", text).casefold()
    if language == "en":
        text = _FIGURES.sub(_in_words, text.replace("&", " and ").replace("%", " percent "))
    text = _APOSTROPHES.sub("", text)
    # Letters, the marks that belong to them, and digits; all else parts words.
    return "".join(char if unicodedata.category(char)[0] in "LMN" else " " for char in text).split()


def _in_words(found: re.Match[str]) -> str:
    figure = found[1].replace(",", "")
    if len(figure) > _MOST_DIGITS or not figure.isascii():
        return found[0]
    words = str(inflector().number_to_words(figure, andword="", comma=""))
    return f" {inflector().ordinal(words) if found[2] else words} "
