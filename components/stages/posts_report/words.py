"""Words of descriptions: lengths, frequencies, content words, possibly offensive words, and topics.

Sources: PCV §5.2 (figure 16), §5.3 (figures 17 and 18) and §6.2.8 (table 3). Words are the tokens of the
caption metrics, lower-cased and without punctuation.
"""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

import numpy as np

from components.metrics.caption_lengths import CaptionStatistics
from components.metrics.tokens import tokenize

DATA = Path(__file__).parent / "data"
BANDS = ((1, 5), (6, 10), (11, 20), (21, 50), (51, 100), (101, 1000), (1001, None))
"""Ranges of a word's occurrences, both ends included; the first is the paper's "five or fewer times"."""


def count_in_bands(numbers: Collection[int], bands: Sequence[tuple[int, int | None]]) -> list[int]:
    """Return how many of the numbers are in each band, both ends included."""
    return [sum(low <= n and (high is None or n <= high) for n in numbers) for low, high in bands]


@dataclass
class Vocabulary(CaptionStatistics):
    """Statistics of a set's descriptions, with the frequencies of words."""

    name: str = ""

    @property
    def bands(self) -> list[int]:
        """Number of words in each of :data:`BANDS`."""
        return count_in_bands(self.counts.values(), BANDS)

    @property
    def ranks(self) -> dict[str, int]:
        """Word → its rank by frequency, from 1; ties are in alphabetical order."""
        ordered = sorted(self.counts, key=lambda word: (-self.counts[word], word))
        return {word: rank for rank, word in enumerate(ordered, start=1)}


@dataclass(frozen=True)
class Offence:
    """A possibly offensive word that occurs in the descriptions."""

    forms: tuple[str, ...]
    sense: str
    """``offensive``, ``ambiguous`` or ``identity``."""
    source: str
    count: int
    """Occurrences of all its forms."""
    rank: int
    """Rank of its most frequent form; 0 for a phrase, which has no rank."""


def count_words(name: str, captions: Iterable[str]) -> Vocabulary:
    """Return the word counts of a set's descriptions."""
    vocabulary = Vocabulary(name=name)
    for caption in captions:
        vocabulary.add(caption)
    return vocabulary


@lru_cache(maxsize=4)
def stop_words(language: str) -> frozenset[str]:
    """Return spaCy's lower-cased stop words of a language (ISO 639-1); the settings have checked the language."""
    words = importlib.import_module(f"spacy.lang.{language}.stop_words").STOP_WORDS
    return frozenset(word.lower() for word in words)


def content_words(caption: str, language: str) -> list[str]:
    """Return a description's words without stop words, single characters and words without a letter."""
    stop = stop_words(language)
    return [word for word in tokenize(caption) if len(word) > 1 and word not in stop and any(c.isalpha() for c in word)]


def find_offences(language: str, captions: Iterable[str], vocabulary: Vocabulary) -> list[Offence] | None:
    """Return the listed words that occur, most frequent first; None without a list for the language."""
    path = DATA / f"offensive.{language}.tsv"
    if not path.is_file():
        return None
    listed: dict[tuple[str, ...], tuple[str, str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            forms, sense, source = line.split("\t")
            listed[tuple(forms.split("|"))] = (sense, source)
    phrases = {form: tuple(tokenize(form)) for forms in listed for form in forms}
    multiword = {tokens for tokens in phrases.values() if len(tokens) > 1}
    occurrences = _count_phrases(captions, multiword) if multiword else Counter()
    ranks = vocabulary.ranks
    offences = []
    for entry, (sense, source) in listed.items():
        counts = {form: occurrences[phrases[form]] if phrases[form] in multiword else vocabulary.counts[form] for form in entry}
        if total := sum(counts.values()):
            rank = min((ranks[form] for form in entry if form in ranks), default=0)
            offences.append(Offence(entry, sense, source, total, rank))
    return sorted(offences, key=lambda offence: (-offence.count, offence.forms))


def _count_phrases(captions: Iterable[str], listed: set[tuple[str, ...]]) -> Counter[tuple[str, ...]]:
    sizes = sorted({len(phrase) for phrase in listed})
    occurrences: Counter[tuple[str, ...]] = Counter()
    for caption in captions:
        tokens = tokenize(caption)
        for size in sizes:
            occurrences.update(
                phrase for at in range(len(tokens) - size + 1) if (phrase := tuple(tokens[at : at + size])) in listed
            )
    return occurrences


PASSES = 30


@dataclass(frozen=True)
class Topic:
    """A topic: its words with their probabilities, most probable first, and its share of all words."""

    words: list[tuple[str, float]]
    share: float


def find_topics(captions: Sequence[str], language: str, number: int, min_documents: int, most: int, seed: int) -> list[Topic]:
    """Return up to ``number`` topics, largest first; none if fewer than two words are in ``min_documents`` descriptions.

    Latent Dirichlet Allocation over counts of content words: batch variational Bayes with a fixed seed on one thread.
    """
    # scikit-learn is slow to import.
    from sklearn.decomposition import LatentDirichletAllocation
    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer = CountVectorizer(analyzer=partial(content_words, language=language), min_df=min_documents, dtype=np.float64)
    try:
        counts = vectorizer.fit_transform(captions)
    except ValueError:  # no word is in so many
        return []
    words = vectorizer.get_feature_names_out().tolist()
    if len(words) < 2 or number < 1:
        return []
    counts = counts[counts.getnnz(axis=1) > 0]
    model = LatentDirichletAllocation(number, learning_method="batch", max_iter=PASSES, random_state=seed, n_jobs=1)
    mixed = model.fit_transform(counts)
    share = (mixed * counts.sum(axis=1).A1[:, None]).sum(axis=0) / counts.sum()
    topics = []
    for topic in np.argsort(-share, kind="stable"):
        weights = model.components_[topic] / model.components_[topic].sum()
        order = np.lexsort((np.arange(len(words)), -weights))[:most]
        topics.append(Topic([(words[at], float(weights[at])) for at in order], float(share[topic])))
    return topics
