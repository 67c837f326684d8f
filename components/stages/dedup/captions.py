"""Captions as TF-IDF vectors (PCV, section 4.3.1: lower-cased, stop words out).

A word's weight in a caption is how often it stands there times its idf; vectors have length 1. There are two idfs.
``language``: -ln of the share of texts of :data:`WORDS` words that hold the word, by its frequency in the language at large, so
that the distance of two captions never depends on a third and nothing moves when posts are added. ``corpus``: the paper's,
ln((1 + n) / (1 + df)) + 1 over the captions at hand; every added post moves every distance a little.
A caption of stop words alone has no vector: it is at distance 1 from every other, itself included.
"""

from __future__ import annotations

import importlib.util
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.core.errors import HearsightError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from scipy.sparse import csr_matrix

WORDS = 40
"""Words of a text whose share is asked for: the mean length of a description (PCV, table 1: 39.3)."""
RAREST = 1e-9
"""Frequency taken for a word that no list holds."""
_WORD = re.compile(r"\w\w+")


@lru_cache(maxsize=8)
def stop_words(languages: tuple[str, ...]) -> frozenset[str]:
    """spaCy's stop words of ``languages`` (ISO 639-1), read from its file alone: loading spaCy takes seconds.

    Raises:
        HearsightError: there is no list for a language.
    """
    found: set[str] = set()
    package = importlib.util.find_spec("spacy")
    assert package is not None and package.submodule_search_locations is not None
    for language in languages:
        path = Path(package.submodule_search_locations[0]) / "lang" / language / "stop_words.py"
        spec = importlib.util.spec_from_file_location(f"stop_words_{language}", path)
        if not re.fullmatch("[a-z]{2,3}", language) or not path.is_file() or spec is None or spec.loader is None:
            raise HearsightError(
                f"there are no stop words for '{language}'", where="dedup.languages", hint="name others, or none"
            )
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        found |= module.STOP_WORDS
    return frozenset(found)


def words(caption: str, stops: frozenset[str]) -> list[str]:
    """The words of a caption, in order: runs of two or more letters or digits, lower-cased, without stop words."""
    return [word for word in _WORD.findall(caption.lower()) if word not in stops]


def language_idf(vocabulary: Iterable[str], languages: Sequence[str]) -> dict[str, float]:
    """The idf of each word by its frequency in the language at large (the highest among ``languages``)."""
    from wordfreq import get_frequency_dict

    lists: list[Mapping[str, float]] = [get_frequency_dict(language) for language in languages]
    weights = {}
    for word in vocabulary:
        share = min(max([RAREST, *(known.get(word, 0.0) for known in lists)]), 0.5)
        weights[word] = -math.log(-math.expm1(WORDS * math.log1p(-share)))
    return weights


def corpus_idf(counts: Sequence[Mapping[str, int]]) -> dict[str, float]:
    """The smoothed idf over these captions: ln((1 + n) / (1 + df)) + 1."""
    documents = Counter(word for count in counts for word in count)
    return {word: math.log((1 + len(counts)) / (1 + df)) + 1.0 for word, df in documents.items()}


def fold(counts: Sequence[Mapping[str, int]]) -> tuple[list[Mapping[str, int]], NDArray[np.int64]]:
    """Captions of the same words as often are one: the distinct ones, and which of them each caption is."""
    import numpy as np

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
    """TF-IDF rows of length 1 (or empty), float64; a column a word, the words in order of the alphabet."""
    import numpy as np
    from scipy.sparse import csr_matrix

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
