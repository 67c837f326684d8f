"""The Penn Treebank scanner: the longest matching kind of token at each position."""

from __future__ import annotations

import re
from functools import cache

from components.metrics import ptb_kinds as kinds
from components.metrics import ptb_words as words
from components.metrics.ptb_characters import GAP, SPACE, SPELLED

_BETWEEN = re.compile(f"[{SPACE}{GAP}\n\r]+")
_DOTS = re.compile(r"\.[. ]+\.")
_OPEN = "`\u2018\u201b"
_CLITIC = re.compile("(n?)('|\u2019|\x92|&apos;|[`\u2018\u201b])(s|d|m|ll|re|ve|t)")
_NAMES = re.compile("[a-z]+(?:(?:[&+]|&amp;)[a-z]+)+")
_QUOTES = re.compile(f"{kinds.QUOTE}{{2}}")
_LONG_DASH = re.compile("-{2,4}")


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


def scan(text: str) -> list[str]:
    """Return the text's tokens in lower case, with punctuation."""
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
