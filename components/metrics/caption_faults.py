"""Faults of captions: broken off, made of punctuation, or with unknown words; PCV §5.4.2 reports them of its model's captions.

**Open**: the last word is one that ends no English or Portuguese description ("a man with a"): articles, prepositions with an
object, conjunctions. **Marks**: runs of punctuation, and captions without words. **Unknown**: ``<UNK>``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from components.metrics.parses import UNKNOWN_SPELLINGS
from components.metrics.tokens import tokenize

_OPEN = {
    "en": """
        a an the and or but of with from at his her their its my your is are was were as to for into onto that which while
    """,
    "pt": """
        a o as os um uma uns umas e ou mas de da do das dos com em no na nos nas ao aos à às por para pelo pela que é são sua
        seu
    """,
}
OPEN = {language: frozenset(words.split()) for language, words in _OPEN.items()}
"""Language → words that end no description."""
_RUN = re.compile(r"(?:[^\w\s<>\[\]]\s*){3,}")
"""At least three punctuation marks with only white space between them."""
_UNKNOWN = re.compile("|".join(map(re.escape, UNKNOWN_SPELLINGS)), re.IGNORECASE)


@dataclass(frozen=True)
class CaptionFaults:
    """The faults of one caption."""

    open: bool | None
    """Whether it breaks off; None for a language without a word list."""
    marks: tuple[tuple[int, int], ...]
    """Runs of punctuation: index of the first character, index after the last."""
    wordless: bool
    """Whether it has no word."""
    unknown: int
    """Number of unknown words."""


@dataclass(frozen=True)
class Faults:
    """The faults of a set of captions; shares of all captions, 0 without captions."""

    items: Sequence[CaptionFaults]
    open: float | None
    """Captions that break off; None for a language without a word list."""
    marks: float
    """Captions with a run of punctuation."""
    wordless: float
    unknown: float
    """Captions with an unknown word."""
    reason: str = ""
    """Why ``open`` is None; empty if it is not."""


def caption_faults(captions: Sequence[str], language: str) -> Faults:
    """Return which captions break off, consist of punctuation, or have unknown words (``language``: ISO 639-1)."""
    listed = OPEN.get(language)
    items = [_faults_of(caption, listed) for caption in captions]

    def share(flags: Sequence[bool]) -> float:
        return sum(flags) / len(items) if items else 0.0

    return Faults(
        items,
        share([bool(item.open) for item in items]) if listed is not None else None,
        share([bool(item.marks) for item in items]),
        share([item.wordless for item in items]),
        share([bool(item.unknown) for item in items]),
        "" if listed is not None else f"no list of words that end no description in the language {language!r}",
    )


def _faults_of(caption: str, listed: frozenset[str] | None) -> CaptionFaults:
    unknown = len(_UNKNOWN.findall(caption))
    words = tokenize(_UNKNOWN.sub(" ", caption))
    ended = bool(words) and listed is not None and words[-1] in listed and not _UNKNOWN.search(caption[-6:])
    runs = tuple((run.start(), run.start() + len(run[0].rstrip())) for run in _RUN.finditer(caption))
    return CaptionFaults(ended if listed is not None else None, runs, not words and not unknown, unknown)
