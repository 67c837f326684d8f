"""Parses of English captions for the caption metrics (``components/metrics/parses.py``).

``<UNK>`` is passed to the parser as a plain noun of equal length, and is an unknown word again in the result.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from components.core.digests import sha256_bytes
from components.language.parser import LONGEST, EnglishParser
from components.metrics.parses import STAND_IN, UNKNOWN_SPELLINGS, Sentence

if TYPE_CHECKING:
    from components.core.result_cache import ResultCache

_UNKNOWN = re.compile("|".join(map(re.escape, UNKNOWN_SPELLINGS)), re.IGNORECASE)


def parse_captions(captions: Iterable[str], annotations: ResultCache | None = None) -> dict[str, Sentence]:
    """Return the parse of each distinct caption.

    Args:
        captions: as written; duplicates are parsed once.
        annotations: cache of parses, shared with the filter; None: no cache.

    Raises:
        HearsightError: the cache cannot be read or written.
    """
    texts = {caption: _UNKNOWN.sub(STAND_IN, caption[:LONGEST]) for caption in dict.fromkeys(captions)}
    parser = EnglishParser()
    if annotations is None:
        parses = dict(zip(texts, parser.compute_many(list(texts.values())), strict=True))
    else:
        keys = {caption: sha256_bytes(text.encode("utf-8", "surrogatepass")) for caption, text in texts.items()}
        stored = annotations.annotate(parser, {keys[caption]: text for caption, text in texts.items()})
        parses = {caption: stored[key] for caption, key in keys.items()}
    return {caption: Sentence.of(parse, caption) for caption, parse in parses.items()}
