"""The tokeniser that stands before every caption metric.

The published figures use the Penn Treebank tokeniser of Stanford CoreNLP, lower-cased, with punctuation tokens
removed. This one does the same for plain captions: words and numbers, clitics split off (``dog 's``, ``do n't``),
punctuation dropped, inner hyphens, full stops, commas between digits and slashes kept. Known differences from the
Java tool: abbreviations keep no final full stop, ``cannot`` and ``gonna`` stay whole, currency signs are dropped.
"""

from __future__ import annotations

import re
import unicodedata

_WORD = re.compile(r"[^\W_]+(?:[-./'&][^\W_]+|,(?=\d{3}\b)\d{3})*", re.UNICODE)
_NOT = re.compile(r"^(.+)(n't)$")
_CLITIC = re.compile(r"^(.+)('(?:s|m|d|re|ve|ll))$")


def tokenize(caption: str) -> list[str]:
    """The caption's tokens, lower-cased, without punctuation; an empty list when it has no word.

    >>> tokenize("The dog's well-known ball isn't 3.5 cm wide!")
    ['the', 'dog', "'s", 'well-known', 'ball', 'is', "n't", '3.5', 'cm', 'wide']
    """
    text = unicodedata.normalize("NFC", caption).lower().replace("\u2019", "'").replace("\u2018", "'")
    tokens: list[str] = []
    for word in _WORD.findall(text):
        match = _NOT.match(word) or _CLITIC.match(word)
        tokens.extend(match.groups() if match else (word,))
    return tokens
