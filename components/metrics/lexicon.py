"""The dictionary interface of the caption metrics: synonyms and hypernyms.

The dictionary is passed in (``components/language/metric_lexicon.py`` reads WordNet 3.0); without one only equal lemmas match,
and results state so. Meaning numbers are opaque except those named here, which are WordNet 3.0's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

PERSON, MALE, FEMALE = 7846, 9624168, 9619168
"""WordNet 3.0's "person", "male person", "female person"."""
OBJECT, MATTER, PLACE = 2684, 20827, 2452
"""WordNet 3.0's physical object, matter, and the physical thing that includes bodies of water and body parts."""

EVENT = 29378
"""WordNet 3.0's event, which includes acts."""


class Lexicon(Protocol):
    """An English dictionary."""

    def nouns(self, phrase: str) -> Sequence[int]:
        """Return the meanings of a noun or noun phrase, most frequent first; empty for other words."""
        ...

    def above(self, number: int) -> frozenset[int]:
        """Return all hypernyms of a noun's meaning."""
        ...

    def depth(self, number: int) -> int:
        """Return the number of steps from a noun's meaning to the root."""
        ...
