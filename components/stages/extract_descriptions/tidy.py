"""Spacing and punctuation after removals: one line, no orphaned marks, a final stop."""

from __future__ import annotations

import re

_HASH = re.compile(r"(?<![^\W_])[#＃]++|[#＃]++(?=\w)")
_AT = re.compile(r"(?<![\w@＠])[@＠]++(?=\w)")
_HOLLOW = re.compile(r"\(\s*+\)|\[\s*+\]|\{\s*+\}|“\s*+”|«\s*+»|\"\s++\"")
_BEFORE = re.compile(r"\s+([,;:!?…)\]}]|[”»](?!\w))|\s+(\.)(?!\w)")
"""A ” before a word may open a quotation: ”assim”."""
_AFTER_OPENING = re.compile(r"([(\[{“«])\s+")
_ORPHAN = re.compile(r"([,;:])(?:\s*+[,;:])++")
_WEAK = re.compile(r"(?<![,;:])[,;:]++\s*+(?=[.!?])")
_TWICE = re.compile(r"([.!?…])(?:\s+[.,;:])+")
_EDGE = " \t\r\n\u2800.,;:-–—_|/\\*~•·●▪◦■□→➡»›>=+&^`´)]}…!?"
_END_EDGE = " \t\r\n\u2800,;:-–—_|/\\*~•·●▪◦■□→➡<>=+&^`´([{“«‹¿¡@＠"
_ENDS = ".!?…。！？"
_QUOTING = "\"'”’»)]}*"


def one_line(text: str) -> str:
    """Return the text with each run of white space as one space."""
    return " ".join(text.replace("\u2800", " ").split())


def fix_punctuation(text: str) -> str:
    """Return the text without spaces before commas, empty brackets, commas before full stops, and stray hash or at signs.

    Each rule makes one pass; :func:`components.stages.extract_descriptions.extract` repeats them until nothing changes.
    """
    text = _HASH.sub("", text)
    text = _AT.sub("", text)
    text = _HOLLOW.sub(" ", text)
    text = one_line(text)
    text = _TWICE.sub(r"\1", text)
    text = _ORPHAN.sub(r"\1", text)
    text = _WEAK.sub("", text)
    text = _BEFORE.sub(_moved, text)
    return _AFTER_OPENING.sub(r"\1", text)


def _moved(match: re.Match[str]) -> str:
    """Return the mark without the space before it; in "preto ,bonito" the space moves after it."""
    mark = match[1] or match[2]
    behind = match.string[match.end() : match.end() + 1]
    return f"{mark} " if mark in ",;:!?" and behind.isalpha() else mark


def clean_ends(text: str) -> str:
    """Return the text without stray marks at its ends, and with a final stop."""
    begin = 0
    while begin < len(text) and text[begin] in _EDGE and not (text[begin] == "+" and text[begin + 1 : begin + 2].isdigit()):
        begin += 1
    text = text[begin:]
    end = len(text)
    surplus = {closer: text.count(closer) - text.count(opener) for opener, closer in ("()", "[]", "{}")}
    while end and (text[end - 1] in _END_EDGE or surplus.get(text[end - 1], 0) > 0):
        if text[end - 1] in surplus:
            surplus[text[end - 1]] -= 1
        elif text[end - 1] in "([{":
            surplus[{"(": ")", "[": "]", "{": "}"}[text[end - 1]]] += 1
        end -= 1
    text = text[:end]
    bare = text.rstrip(_QUOTING)
    return text if not text or bare.endswith(tuple(_ENDS)) else text + "."
