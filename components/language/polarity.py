"""Polarity of an English text: VADER's compound score, -1 (very negative) to 1 (very positive).

Stands in for the sentiment annotation of the paper's cloud service (CC, section 3).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any


class EnglishPolarity:
    """VADER, rule-based: exact, quick, no model."""

    name = "polarity.en"
    version = 2
    model = "vadersentiment-3.3.2"
    codec = "json"

    def compute(self, payload: str) -> float:
        """Return the compound score of one text, in [-1, 1]; of a long one, that of its beginning."""
        return float(_analyser().polarity_scores(payload[:LONGEST])["compound"])


LONGEST = 1000
"""Characters of a text that are scored: VADER's time grows with the square of the words."""


@lru_cache(maxsize=1)
def _analyser() -> Any:
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

    return SentimentIntensityAnalyzer()
