"""Polarity of an English text: VADER's compound score, -1 (very negative) to 1 (very positive).

Replaces the sentiment annotation of the cloud service in CC §3.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any


class EnglishPolarity:
    """VADER: rules without a trained model."""

    name = "polarity.en"
    version = 2
    model = "vadersentiment-3.3.2"
    codec = "json"

    def compute(self, payload: str) -> float:
        """Return the compound score, in [-1, 1], of the first ``LONGEST`` characters of a text."""
        return float(_analyser().polarity_scores(payload[:LONGEST])["compound"])


LONGEST = 1000
"""Maximum characters that are scored: VADER takes quadratic time in the words."""


@lru_cache(maxsize=1)
def _analyser() -> Any:
    # Imported on use: it reads its lexicon.
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

    return SentimentIntensityAnalyzer()
