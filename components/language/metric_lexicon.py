"""WordNet 3.0's nouns as the lexicon of the caption metrics (``metrics/lexicon.py``)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from components.language.wordnet import WordNet, load_wordnet, wordnet_folder


class WordNetLexicon:
    """Implements ``metrics/lexicon.Lexicon``, which describes the methods."""

    def __init__(self, wordnet: WordNet) -> None:
        self._wordnet = wordnet

    @lru_cache(maxsize=65536)  # noqa: B019 - one dictionary lives as long as the process
    def nouns(self, phrase: str) -> Sequence[int]:
        """See ``Lexicon``; instances ("Decker", a dramatist) are excluded."""
        return tuple(sense.number for sense in self._wordnet.senses(phrase) if not sense.instance_of) if phrase.strip() else ()

    @lru_cache(maxsize=65536)  # noqa: B019
    def above(self, number: int) -> frozenset[int]:
        synset = self._wordnet.synset(number)
        return frozenset(item.number for item in self._wordnet.ancestors(synset)) if synset is not None else frozenset()

    def depth(self, number: int) -> int:
        return self._wordnet.depth(number)


@lru_cache(maxsize=2)
def _load(folder: str) -> WordNetLexicon:
    return WordNetLexicon(load_wordnet())


def load_lexicon() -> WordNetLexicon | None:
    """Return the dictionary that ``make data`` fetched or ``HEARSIGHT_WORDNET`` names; None if missing.

    Raises:
        HearsightError: the dictionary cannot be read.
    """
    folder = wordnet_folder()
    return _load(str(folder)) if (folder / "data.noun").is_file() else None
