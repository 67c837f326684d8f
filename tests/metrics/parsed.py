"""Parses and the small extract of the dictionary, for the tests of metrics that read sentences."""

from __future__ import annotations

from functools import lru_cache

from components.metrics.caption_parses import parse_captions
from components.metrics.lexicon import Lexicon
from components.metrics.parses import Sentence
from tests.support.knowledge.dictionary import extract


@lru_cache(maxsize=1)
def lexicon() -> Lexicon:
    """Over the extract of WordNet that lies with the tests."""
    return Lexicon(extract())


@lru_cache(maxsize=256)
def sentence(caption: str) -> Sentence:
    """One caption, parsed."""
    return parse_captions([caption])[caption]


def parses(*captions: str) -> dict[str, Sentence]:
    """Several captions, parsed."""
    return {caption: sentence(caption) for caption in captions}
