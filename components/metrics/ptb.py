"""Penn Treebank tokens of captions, as in the published caption metrics.

Published figures use Stanford's PTBTokenizer 3.4.1 in lower case, without punctuation (:data:`PUNCTUATION`). This implementation
was written from that program's observed behaviour and gives the same tokens for everyday text, including oddities: brackets stay
(``-lrb-``), ``£`` is ``#`` and ``€`` is ``$``, ``7 1/2`` is one token with a no-break space, characters outside Unicode's first
plane vanish. ``benchmarks/README.md`` has the frequency of differences.

One difference is intended: each caption is tokenised alone, while the tool reads all captions as one text, so that ``vitamin C.``
at the end of one depends on the start of the next. Rare cases that are not reproduced: soft hyphens beside digits and signs,
addresses with emoji or symbols, spaced numbers such as ``20 2264417`` that the tool takes for a telephone number, abbreviations
run together with the next word (``ltd.n't``), faces made of letters, letters newer than Unicode 6.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from components.metrics.ptb_characters import mask_unknown_characters
from components.metrics.ptb_scanner import scan
from components.metrics.ptb_words import FUSED

PUNCTUATION = frozenset({"''", "'", "``", "`", ".", "?", "!", ",", ":", "-", "--", "...", ";"})
"""Dropped tokens. The tool's list also has brackets in capitals, which lower-cased tokens never equal."""

_LINES = re.compile("[\r\n\x0b\x0c\x85\u2028\u2029]")
# Positions where splitting a caption changes no token: not in "7 1/2", "(020) 7946 0958", "No. 5", "C. The", ". . .".
_CUTS = re.compile(r"(?<![\s.\d)])\s++|(?<=[\d)])\s++(?!\d)|(?<=\.)\s++(?![\d.A-Z])")


def ptb_tokenize(caption: str) -> list[str]:
    """Return the caption's tokens, lower-cased, without punctuation; an empty list if it has no word.

    >>> ptb_tokenize("The dog's ball isn't 7 1/2 cm wide (Fig. 2)!")
    ['the', 'dog', "'s", 'ball', 'is', "n't", '7\\xa01/2', 'cm', 'wide', '-lrb-', 'fig.', '2', '-rrb-']
    """
    if "<" in caption or "@" in caption:  # markup may have spaces in it
        return _kept(_LINES.sub(" ", caption))
    tokens: list[str] = []
    for part in _CUTS.split(_LINES.sub(" ", caption)):
        tokens.extend(_part(part))
    return tokens


def split_multiword_tokens(tokens: Sequence[str]) -> list[str]:
    """Return tokens with those of several parts ("7 1/2") split, as the published BLEU and CIDEr count them (ROUGE does not)."""
    return [part for token in tokens for part in token.split()]


@lru_cache(maxsize=65536)
def _part(part: str) -> tuple[str, ...]:
    """Return the tokens between two splits; most are a plain word, possibly followed by a sign."""
    word = part[:-1] if part[-1:] in {",", ";", ":"} else part
    if word.isascii() and word.isalpha() and (lower := word.lower()) not in FUSED:
        return (lower,)
    return tuple(_kept(part))


def _kept(text: str) -> list[str]:
    """Return the tokens of a text that cannot be split."""
    return [token for token in scan(text if text.isascii() else mask_unknown_characters(text)) if token not in PUNCTUATION]
