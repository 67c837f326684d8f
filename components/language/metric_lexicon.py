"""WordNet 3.0 as the lexicon of the caption metrics (``metrics/lexicon.py``): nouns with hypernyms, verbs, adjectives.

Two words are synonyms when they share a synset in the index, so for verbs and adjectives only the index is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from components.language.wordnet import WordNet, load_wordnet, unreadable, wordnet_folder

_PARTS = {"index.verb": 10**8, "index.adj": 2 * 10**8}
"""Index file → offset of its synset numbers, which are unique only within a part of speech."""


class WordNetLexicon:
    """Implements ``metrics/lexicon.Lexicon``, which describes the methods."""

    def __init__(self, wordnet: WordNet, folder: Path) -> None:
        self._wordnet = wordnet
        self._others: dict[str, tuple[int, ...]] = {}
        for name, added in _PARTS.items():
            try:
                lines = (folder / name).read_text(encoding="utf-8").splitlines()
                for line in lines:
                    if not line.startswith("  "):
                        word, _, count, *rest = line.split()
                        # An extract has zeros for unused synsets.
                        numbers = tuple(added + number for number in map(int, rest[-int(count) :]) if number)
                        self._others[word] = (*self._others.get(word, ()), *numbers)
            except (OSError, UnicodeDecodeError, ValueError) as error:
                raise unreadable(error, folder / name) from None

    @lru_cache(maxsize=65536)  # noqa: B019 - one dictionary lives as long as the process
    def meanings(self, word: str) -> frozenset[int]:
        return frozenset(self.nouns(word)) | frozenset(self._others.get(word.replace(" ", "_"), ()))

    @lru_cache(maxsize=65536)  # noqa: B019
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
    return WordNetLexicon(load_wordnet(), Path(folder))


def load_lexicon() -> WordNetLexicon | None:
    """Return the dictionary that ``make data`` fetched or ``HEARSIGHT_WORDNET`` names; None if missing.

    Raises:
        HearsightError: the dictionary cannot be read.
    """
    folder = wordnet_folder()
    return _load(str(folder)) if (folder / "data.noun").is_file() else None
