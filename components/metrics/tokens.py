"""The tokeniser of most caption metrics.

Published figures use Stanford CoreNLP's Penn Treebank tokeniser, lower-cased, without punctuation tokens. This one does the same
for simple captions: words and numbers, clitics split off (``dog 's``, ``do n't``), punctuation dropped; hyphens, full stops,
commas between digits and slashes inside words kept. Known differences: abbreviations lose their final full stop, ``cannot`` and
``gonna`` are not split, currency signs are dropped. :mod:`components.metrics.ptb` is the exact tokeniser.
"""

from __future__ import annotations

import re
import unicodedata

_WORD = re.compile(r"[^\W_]+(?:[-./'&][^\W_]+|,(?=\d{3}\b)\d{3})*", re.UNICODE)
_NOT = re.compile(r"^(.+)(n't)$")
_CLITIC = re.compile(r"^(.+)('(?:s|m|d|re|ve|ll))$")


def tokenize(caption: str) -> list[str]:
    """Return the caption's tokens, lower-cased, without punctuation; an empty list if it has no word.

    >>> tokenize("The dog's well-known ball isn't 3.5 cm wide!")
    ['the', 'dog', "'s", 'well-known', 'ball', 'is', "n't", '3.5', 'cm', 'wide']
    """
    text = unicodedata.normalize("NFC", caption).lower().replace("\u2019", "'").replace("\u2018", "'")
    tokens: list[str] = []
    for word in _WORD.findall(text):
        match = _NOT.match(word) or _CLITIC.match(word)
        tokens.extend(match.groups() if match else (word,))
    return tokens
