"""The extract of WordNet that tests read instead of the whole dictionary."""

from __future__ import annotations

from functools import lru_cache

from components.knowledge.cascade import Knowledge
from components.language.wordnet import WordNet
from tests.support import PROJECT

EXTRACT = PROJECT / "tests" / "knowledge" / "wordnet"


@lru_cache(maxsize=1)
def extract() -> WordNet:
    """The extract, read once a process."""
    return WordNet(EXTRACT)


@lru_cache(maxsize=1)
def knowledge() -> Knowledge:
    """The embedded knowledge over the extract."""
    return Knowledge(extract())
