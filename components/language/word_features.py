"""Features of a text's words: their vectors, and how much likelier each is in captions than in titles and link texts of pages.

Only nouns, verbs, adjectives and adverbs count, never names. The ratios come from large texts that nobody labelled
(:func:`likelihood_ratios`), and the vectors tell what a word means that is in none of them.
"""

from __future__ import annotations

import math
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from components.language.parser import Parse
from components.language.vectors import load_vectors
from components.language.words import words_of

COUNTED = frozenset({"NOUN", "VERB", "ADJ", "ADV"})
"""Universal tags of the words that count."""
VECTOR_SCALE = 3.0
"""Factor of the vectors' components, which are about .14: under one penalty for all weights they would else weigh too little."""
LEAST = 6.0
"""Occurrences that a word needs for a ratio."""
LARGEST = 3.0
"""Logarithm of the ratio, at most; its negative at least."""
DECIMALS = 1
"""Of the ratios."""


def word_key(word: str) -> int:
    """Return the number that stands for a word in small letters, so that weights hold no list of a text's words."""
    return zlib.crc32(word.encode())


def word_counts(texts: Sequence[str], weight: float = 1.0) -> Counter[str]:
    """Return how often each word, in small letters, is in the texts; each time counts ``weight``."""
    counts: Counter[str] = Counter()
    for text in texts:
        for word in words_of(text.lower()):
            counts[word] += weight  # type: ignore[assignment]
    return counts


def likelihood_ratios(captions: Mapping[str, float], others: Mapping[str, float]) -> dict[str, float]:
    """Return for each frequent word the logarithm of its likelihood in captions over that in other texts, from their counts."""
    total, of_others = sum(captions.values()) or 1.0, sum(others.values()) or 1.0
    ratios = {}
    for word in sorted(captions.keys() | others.keys()):
        here, there = captions.get(word, 0.0), others.get(word, 0.0)
        if here + there >= LEAST:
            ratio = math.log((here + 1) / total) - math.log((there + 1) / of_others)
            ratios[word] = round(max(-LARGEST, min(LARGEST, ratio)), DECIMALS)
    return ratios


def word_features(parse: Parse, ratios: Mapping[int, float]) -> dict[str, float]:
    """Return the features by name: numbers from about -1.5 to 1.5; one that the text has no word for is absent.

    Args:
        ratios: by the words' keys.
    """
    pos, dep = parse["pos"], parse["dep"]
    counted = [at for at, tag in enumerate(pos) if tag in COUNTED]
    nouns = [at for at in counted if pos[at] == "NOUN"]
    head = next((at for at in nouns if dep[at] in ("ROOT", "nsubj", "nsubjpass")), nouns[0] if nouns else None)
    verbs = [at for at, tag in enumerate(pos) if tag in ("VERB", "AUX")]
    verb = next((at for at in verbs if dep[at] == "ROOT"), None)
    if verb is None:
        verb = next((at for at in verbs if pos[at] == "VERB"), None)
    found: dict[str, float] = {}
    _add_vector("words", [parse["text"][at] for at in counted], found)
    for name, at in (("head", head), ("verb", verb)):
        if at is not None:
            _add_vector(name, [parse["lemma"][at]], found)
            found[f"ratio {name}"] = (_ratio(parse, at, ratios) or 0.0) / 2
    known = [ratio for at in counted if (ratio := _ratio(parse, at, ratios)) is not None]
    if known:
        found["ratio mean"] = sum(known) / len(known) / 2
        found["ratio sum"] = sum(known) / math.sqrt(len(known)) / LARGEST
        found["ratio least"] = min(known) / LARGEST
        found["ratio most"] = max(known) / LARGEST
        found["ratio rare"] = sum(ratio < -1 for ratio in known) / len(known)
        found["ratio usual"] = sum(ratio > 1 for ratio in known) / len(known)
    return found


def _ratio(parse: Parse, at: int, ratios: Mapping[int, float]) -> float | None:
    """Return the ratio of a word as it stands, else that of its lemma; None where both are too rare."""
    keys = (word_key(parse[form][at].lower()) for form in ("text", "lemma"))
    return next((ratios[key] for key in keys if key in ratios), None)


def _add_vector(name: str, words: Sequence[str], found: dict[str, float]) -> None:
    """Add the mean of the words' vectors, one feature for each dimension."""
    vectors = [vector for word in words if (vector := _vector(word.lower())) is not None]
    if vectors:
        mean = VECTOR_SCALE * np.mean(vectors, axis=0)
        found.update((f"{name} {dimension}", value) for dimension, value in enumerate(mean.tolist()))


@lru_cache(maxsize=16384)
def _vector(word: str) -> np.ndarray | None:
    return load_vectors().word(word)
