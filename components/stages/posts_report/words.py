"""The words of descriptions: what counts as one, how long descriptions are, how often words come, which may offend.

Source: #PraCegoVer sections 5.3 (figures 17 and 18) and 6.2.8 (table 3). Words are the tokens of the caption metrics,
lower-cased and without punctuation.
"""

from __future__ import annotations

import importlib
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from components.core.errors import HearsightError
from components.metrics.tokens import tokenize

DATA = Path(__file__).parent / "data"
BANDS = ((1, 5), (6, 10), (11, 20), (21, 50), (51, 100), (101, 1000), (1001, None))
"""Occurrences of a word, from and to; the paper speaks of those "occurring five or fewer times" and draws the rest."""


@dataclass(frozen=True)
class Vocabulary:
    """A set's descriptions, counted."""

    name: str
    lengths: Sequence[int]
    """Words of each description."""
    counts: Counter[str]
    """word → occurrences."""

    @property
    def mean(self) -> float:
        """Words a description; 0 without descriptions."""
        return sum(self.lengths) / len(self.lengths) if self.lengths else 0.0

    @property
    def deviation(self) -> float:
        """The population's standard deviation of the words a description."""
        mean = self.mean
        return math.sqrt(sum((n - mean) ** 2 for n in self.lengths) / len(self.lengths)) if self.lengths else 0.0

    @property
    def bands(self) -> list[int]:
        """Words in each of :data:`BANDS`."""
        return [sum(1 for n in self.counts.values() if low <= n and (high is None or n <= high)) for low, high in BANDS]

    @property
    def ranks(self) -> dict[str, int]:
        """word → its place by frequency, from 1; words of equal frequency in the alphabet's order."""
        ordered = sorted(self.counts, key=lambda word: (-self.counts[word], word))
        return {word: place for place, word in enumerate(ordered, start=1)}


@dataclass(frozen=True)
class Offence:
    """A word that may offend, as it was found."""

    forms: tuple[str, ...]
    sense: str
    """offensive, ambiguous or identity."""
    source: str
    count: int
    """Occurrences of all its forms."""
    rank: int
    """Of the form that comes most often; 0 for a phrase, which has no rank among words."""


def vocabulary(name: str, captions: Iterable[str]) -> Vocabulary:
    """Count a set's descriptions."""
    lengths: list[int] = []
    counts: Counter[str] = Counter()
    for caption in captions:
        tokens = tokenize(caption)
        lengths.append(len(tokens))
        counts.update(tokens)
    return Vocabulary(name, lengths, counts)


@lru_cache(maxsize=4)
def stop_words(language: str) -> frozenset[str]:
    """spaCy's stop words of a language (ISO 639-1), lower-cased; raises HearsightError where it has none."""
    try:
        words = importlib.import_module(f"spacy.lang.{language}.stop_words").STOP_WORDS
    except ImportError:
        raise HearsightError(
            f"no stop words are known for '{language}'",
            where="params.yaml: analyze.language",
            hint="give an ISO 639-1 code, pt say",
        ) from None
    return frozenset(word.lower() for word in words)


def content_words(caption: str, language: str) -> list[str]:
    """The words of a description that say something: no stop words, no single letters, nothing without a letter."""
    stop = stop_words(language)
    return [word for word in tokenize(caption) if len(word) > 1 and word not in stop and any(c.isalpha() for c in word)]


def offences(language: str, captions: Iterable[str], vocabulary: Vocabulary) -> list[Offence] | None:
    """The words of the list that come at all, most frequent first; None where there is no list for the language."""
    path = DATA / f"offensive.{language}.tsv"
    if not path.is_file():
        return None
    listed: dict[tuple[str, ...], tuple[str, str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            forms, sense, source = line.split("\t")
            listed[tuple(forms.split("|"))] = (sense, source)
    phrases = {form: tuple(tokenize(form)) for forms in listed for form in forms}
    longer = {tokens for tokens in phrases.values() if len(tokens) > 1}
    met = _phrases(captions, longer) if longer else Counter()
    ranks = vocabulary.ranks
    found = []
    for entry, (sense, source) in listed.items():
        counts = {form: met[phrases[form]] if phrases[form] in longer else vocabulary.counts[form] for form in entry}
        if total := sum(counts.values()):
            rank = min((ranks[form] for form in entry if form in ranks), default=0)
            found.append(Offence(entry, sense, source, total, rank))
    return sorted(found, key=lambda each: (-each.count, each.forms))


def _phrases(captions: Iterable[str], wanted: set[tuple[str, ...]]) -> Counter[tuple[str, ...]]:
    sizes = sorted({len(phrase) for phrase in wanted})
    met: Counter[tuple[str, ...]] = Counter()
    for caption in captions:
        tokens = tokenize(caption)
        for size in sizes:
            met.update(phrase for at in range(len(tokens) - size + 1) if (phrase := tuple(tokens[at : at + size])) in wanted)
    return met
