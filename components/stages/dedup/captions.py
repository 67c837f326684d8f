"""Captions as TF-IDF vectors (PCV §4.3.1: lower case, without stop words).

A word's weight is its count in the caption times its idf; vectors have length 1. There are two idfs. ``language``: -ln of the
share of texts of :data:`WORDS` words that contain the word, by its frequency in the language, so that the distance of two
captions depends on no third caption and added posts change nothing. ``corpus``: the paper's, ln((1 + n) / (1 + df)) + 1 over the
captions at hand; every added post changes every distance a little.
A caption of stop words alone has no vector: it is at distance 1 from every caption, itself included.
"""

from __future__ import annotations

import importlib.util
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from components.core.errors import HearsightError

WORDS = 40
"""Length in words of the texts behind the ``language`` idf: the mean of a description (PCV table 1: 39.3)."""
RAREST = 1e-9
"""Frequency of a word that no list contains."""
_WORD = re.compile(r"\w\w+")


@lru_cache(maxsize=8)
def stop_words(languages: tuple[str, ...]) -> frozenset[str]:
    """Return spaCy's stop words of ``languages`` (ISO 639-1), read from its files because loading spaCy takes seconds.

    Raises:
        HearsightError: a language has no list.
    """
    stops: set[str] = set()
    package = importlib.util.find_spec("spacy")
    assert package is not None and package.submodule_search_locations is not None
    for language in languages:
        path = Path(package.submodule_search_locations[0]) / "lang" / language / "stop_words.py"
        spec = importlib.util.spec_from_file_location(f"stop_words_{language}", path)
        if not re.fullmatch("[a-z]{2,3}", language) or not path.is_file() or spec is None or spec.loader is None:
            raise HearsightError(
                f"there are no stop words for '{language}'", where="dedup.posts.languages", hint="remove the language"
            )
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        stops |= module.STOP_WORDS
    return frozenset(stops)


def words(caption: str, stops: frozenset[str]) -> list[str]:
    """Return the words of a caption in order: runs of two or more letters or digits, in lower case, without stop words."""
    return [word for word in _WORD.findall(caption.lower()) if word not in stops]


def language_idf(vocabulary: Iterable[str], languages: Sequence[str]) -> dict[str, float]:
    """Return the idf of each word by its frequency in the language (the highest among ``languages``)."""
    # Imported here: slow to load, and only posts need it.
    from wordfreq import get_frequency_dict

    lists: list[Mapping[str, float]] = [get_frequency_dict(language) for language in languages]
    weights = {}
    for word in vocabulary:
        share = min(max([RAREST, *(known.get(word, 0.0) for known in lists)]), 0.5)
        weights[word] = -math.log(-math.expm1(WORDS * math.log1p(-share)))
    return weights


def corpus_idf(counts: Sequence[Mapping[str, int]]) -> dict[str, float]:
    """Return the smoothed idf over these captions: ln((1 + n) / (1 + df)) + 1."""
    documents = Counter(word for count in counts for word in count)
    return {word: math.log((1 + len(counts)) / (1 + df)) + 1.0 for word, df in documents.items()}


def fold(counts: Sequence[Mapping[str, int]]) -> tuple[list[Mapping[str, int]], NDArray[np.int64]]:
    """Return the distinct word counts, and for each caption the index of its own."""
    numbers: dict[frozenset[tuple[str, int]], int] = {}
    distinct: list[Mapping[str, int]] = []
    of = np.empty(len(counts), np.int64)
    for index, count in enumerate(counts):
        number = numbers.setdefault(frozenset(count.items()), len(distinct))
        if number == len(distinct):
            distinct.append(count)
        of[index] = number
    return distinct, of


def vectors(counts: Sequence[Mapping[str, int]], idf: Mapping[str, float]) -> csr_matrix:
    """Return TF-IDF rows of length 1 (or empty), float64; columns are words in alphabetical order."""
    column = {word: number for number, word in enumerate(sorted(idf))}
    ends, columns, values = [0], [], []
    for count in counts:
        for word, times in sorted(count.items()):
            columns.append(column[word])
            values.append(times * idf[word])
        ends.append(len(columns))
    table: Any = csr_matrix((np.array(values, np.float64), np.array(columns, np.int64), np.array(ends, np.int64)),
                            shape=(len(counts), len(column)))  # fmt: skip
    lengths = np.sqrt(np.asarray(table.multiply(table).sum(axis=1)).ravel())
    table.data /= np.repeat(np.where(lengths > 0, lengths, 1.0), np.diff(table.indptr))
    return table
