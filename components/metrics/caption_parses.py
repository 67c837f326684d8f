"""Captions to the parses that the caption metrics take (``metrics/parses.py``): English alone has a parser.

``<UNK>`` is given to the parser as a plain noun of as many letters, and is an unknown word again in what comes out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from components.language.parser import LONGEST, EnglishParser
from components.metrics.parses import STAND_IN, UNKNOWN_SPELLINGS, Parses, Sentence

if TYPE_CHECKING:
    from components.core.result_cache import ResultCache

_UNKNOWN = re.compile("|".join(map(re.escape, UNKNOWN_SPELLINGS)), re.IGNORECASE)


def parse_captions(captions: Iterable[str], language: str, annotations: ResultCache | None = None) -> Parses:
    """The parse of each different caption, or the reason why there is none.

    Args:
        captions: as they were written; a caption that comes twice is parsed once.
        language: ISO 639-1.
        annotations: where parses are kept, if they shall be; the filter's own are among them.

    Raises:
        HearsightError: the annotations cannot be read or written.
    """
    if language != "en":
        return Parses(None, f"no parser for the language {language!r}: English (en) alone has one")
    from components.core.digests import sha256_bytes

    texts = {caption: _UNKNOWN.sub(STAND_IN, caption[:LONGEST]) for caption in dict.fromkeys(captions)}
    parser = EnglishParser()
    if annotations is None:
        parsed = dict(zip(texts, parser.compute_many(list(texts.values())), strict=True))
    else:
        keys = {caption: sha256_bytes(text.encode("utf-8", "surrogatepass")) for caption, text in texts.items()}
        stored = annotations.annotate(parser, {keys[caption]: text for caption, text in texts.items()})
        parsed = {caption: stored[key] for caption, key in keys.items()}
    return Parses({caption: Sentence.of(parse, caption) for caption, parse in parsed.items()})
