"""Polarity of an English text: VADER's compound score, -1 (very negative) to 1 (very positive).

Replaces the sentiment annotation of the cloud service in CC §3.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from components.language.capitals import begins_sentence

_WORDS = re.compile(r"[^\s.!?:|]+|[.!?:|]+")


class EnglishPolarity:
    """VADER: rules without a trained model."""

    name = "polarity.en"
    version = 3
    model = "vadersentiment-3.3.2"
    codec = "json"

    def compute(self, payload: str) -> float:
        """Return the compound score, in [-1, 1], of the first ``LONGEST`` characters of a text, its names left out."""
        return float(_analyser().polarity_scores(_without_names(payload[:LONGEST]))["compound"])


LONGEST = 1000
"""Maximum characters that are scored: VADER takes quadratic time in the words."""


def _without_names(text: str) -> str:
    """Return a text without capitalised words that begin no sentence: a street called Grace is no praise.

    Words in capitals stay, because VADER reads them as emphasis.
    """
    words = _WORDS.findall(text)
    kept = (word for at, word in enumerate(words) if not word[:1].isupper() or word.isupper() or begins_sentence(words, at))
    return " ".join(kept)


@lru_cache(maxsize=1)
def _analyser() -> Any:
    # Imported on use: it reads its lexicon.
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

    return SentimentIntensityAnalyzer()
