"""The dictionary of the caption metrics: WordNet 3.0's nouns with their synonyms and hypernyms.

Without one only equal lemmas match, and results state so.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from components.language.wordnet import WordNet, load_wordnet, wordnet_folder

PERSON, MALE, FEMALE = 7846, 9624168, 9619168
"""WordNet 3.0's "person", "male person", "female person"."""
OBJECT, MATTER, PLACE = 2684, 20827, 2452
"""WordNet 3.0's physical object, matter, and the physical thing that includes bodies of water and body parts."""

EVENT = 29378
"""WordNet 3.0's event, which includes acts."""


class Lexicon:
    """The meanings of nouns, by the numbers of their synsets."""

    def __init__(self, wordnet: WordNet) -> None:
        self._wordnet = wordnet

    @lru_cache(maxsize=65536)  # noqa: B019 - one dictionary lives as long as the process
    def nouns(self, phrase: str) -> Sequence[int]:
        """Return the meanings of a noun or noun phrase, most frequent first; no instances ("Decker", a dramatist)."""
        return tuple(sense.number for sense in self._wordnet.senses(phrase) if not sense.instance_of) if phrase.strip() else ()

    @lru_cache(maxsize=65536)  # noqa: B019
    def above(self, number: int) -> frozenset[int]:
        """Return all hypernyms of a noun's meaning."""
        synset = self._wordnet.synset(number)
        return frozenset(item.number for item in self._wordnet.ancestors(synset)) if synset is not None else frozenset()

    def depth(self, number: int) -> int:
        """Return the number of steps from a noun's meaning to the root."""
        return self._wordnet.depth(number)


@lru_cache(maxsize=2)
def _load(folder: str) -> Lexicon:
    return Lexicon(load_wordnet())


def load_lexicon() -> Lexicon | None:
    """Return the dictionary that ``make data`` fetched or ``HEARSIGHT_WORDNET`` names; None if missing.

    Raises:
        HearsightError: the dictionary cannot be read.
    """
    folder = wordnet_folder()
    return _load(str(folder)) if (folder / "data.noun").is_file() else None
