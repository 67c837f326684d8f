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
from functools import cache, lru_cache

from components.metrics import ptb_kinds as kinds
from components.metrics import ptb_words as words
from components.metrics.ptb_words import GAP, SPACE, SPELLED, mask_unknown_characters

PUNCTUATION = frozenset({"''", "'", "``", "`", ".", "?", "!", ",", ":", "-", "--", "...", ";"})
"""Dropped tokens. The tool's list also has brackets in capitals, which lower-cased tokens never equal."""

_LINES = re.compile("[\r\n\x0b\x0c\x85\u2028\u2029]")
# Positions where splitting a caption changes no token: not in "7 1/2", "(020) 7946 0958", "No. 5", "C. The", ". . .".
_CUTS = re.compile(r"(?<![\s.\d)])\s++|(?<=[\d)])\s++(?!\d)|(?<=\.)\s++(?![\d.A-Z])")

_BETWEEN = re.compile(f"[{SPACE}{GAP}\n\r]+")
_DOTS = re.compile(r"\.[. ]+\.")
_OPEN = "`\u2018\u201b"
_CLITIC = re.compile("(n?)('|\u2019|\x92|&apos;|[`\u2018\u201b])(s|d|m|ll|re|ve|t)")
_NAMES = re.compile("[a-z]+(?:(?:[&+]|&amp;)[a-z]+)+")
_QUOTES = re.compile(f"{kinds.QUOTE}{{2}}")
_LONG_DASH = re.compile("-{2,4}")


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
    if word.isascii() and word.isalpha() and (lower := word.lower()) not in words.FUSED:
        return (lower,)
    return tuple(_kept(part))


def _kept(text: str) -> list[str]:
    """Return the tokens of a text that cannot be split."""
    return [token for token in _scan(text if text.isascii() else mask_unknown_characters(text)) if token not in PUNCTUATION]


@cache
def _patterns() -> tuple[list[re.Pattern[str]], list[re.Pattern[str]], list[re.Pattern[str]]]:
    """Return the kinds that start with a letter, with a digit, and with anything else."""
    lists = (
        kinds.BEFORE_ALL + kinds.OF_WORDS + kinds.OF_WORDS_AND_NUMBERS,
        kinds.BEFORE_ALL + kinds.OF_NUMBERS + kinds.OF_WORDS_AND_NUMBERS,
        kinds.BEFORE_ALL + kinds.OF_NUMBERS + kinds.OF_SIGNS,
    )
    letters, figures, signs = ([re.compile(kind) for kind in patterns] for patterns in lists)
    return letters, figures, signs


def _scan(text: str) -> list[str]:
    """Return the text's tokens in lower case, with punctuation: the longest matching kind at each position."""
    letters, figures, signs = _patterns()
    tokens: list[str] = []
    position, end = 0, len(text)
    while position < end:
        first = text[position]
        if gap := _BETWEEN.match(text, position):
            position = gap.end()
            continue
        longest, stop = 0, position + 1
        for pattern in letters if first.isalpha() else figures if first.isdecimal() else signs:
            if (match := pattern.match(text, position)) and match.end() - position > longest:
                longest, stop = match.end() - position, match.end(match.lastindex or 0)
        tokens.extend(_spelled(text[position:stop]))
        position = stop
    return tokens


def _spelled(token: str) -> list[str]:
    """Return the token as the tool spells it, or its parts."""
    token = token.lower()
    if token in words.FUSED:
        return list(words.FUSED[token])
    if (replacement := SPELLED.get(token)) is not None:
        return [replacement] if replacement else []
    if _LONG_DASH.fullmatch(token):
        return ["--"]
    if token.isalpha():
        return [token]
    if _DOTS.fullmatch(token):
        return ["..."]
    if _QUOTES.fullmatch(token):
        return ["".join(SPELLED.get(char, char) for char in token)]
    if clitic := _CLITIC.fullmatch(token):
        return [f"{clitic[1]}{'`' if clitic[2] in _OPEN else chr(39)}{clitic[3]}"]
    if _NAMES.fullmatch(token):
        token = token.replace("&amp;", "&")
    if token[0] != "#" and "@" not in token:
        token = token.replace("\xad", "")
    token = token.replace(" ", "\xa0")
    return [token.replace("(", "-lrb-").replace(")", "-rrb-")]
