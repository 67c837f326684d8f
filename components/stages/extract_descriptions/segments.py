"""Segments of a description: what a line break, the end of a sentence, a dash, a bracket or an emoji separates.

Quotations are never split, nor are sentences at the dot of an abbreviation ("Av. Brasil"). One pass, linear in the text.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from components.core.hashtags import fold
from components.stages.extract_descriptions.marks import QUOTATION
from components.stages.extract_descriptions.plain_text import PICTORIAL, without_emoji
from components.stages.extract_descriptions.rules import Rules
from components.stages.extract_descriptions.words import words_of

_GAP = re.compile(
    r"[\s\u2800]++(?:[-–—•|_·.*~]++[\s\u2800]++)*+(?:[-–—•]++(?=[^\W\d]))?+|(?<=[a-zà-ÿ)][.!?…])[-–—]?+(?=[A-ZÀ-Ý](?:[a-zà-ÿ]|[A-ZÀ-Ý]{3}))"
)
"""White space with the marks that stand alone in it, or the place of a space that is missing: "praia.Compre"."""
_EMOJI = re.compile(f"[{PICTORIAL}]")
_STOPS, _CLOSING = ".!?…", "\"”»’')]"
_LAST_WORD = re.compile(r"[^\W\d_]+\.$")
_NEXT_WORD = re.compile(r"[^\W\d_]++")
_ENDING = ".!?…:;\"”»’')]"
_REMARK = re.compile(r"[(\[][^()\[\]\n]{1,80}[)\]][ .]*+(?:\n|$|[A-ZÀ-Ý])")
"""A bracket that ends its sentence; it is a segment if it cites or appeals: "(via Ana)"."""
_MARKS = re.compile(r"(?:[#＃@]\S++[ \t,|]*+)++(?:\n|$)")
"""Hashtags and mentions alone up to the end of the line."""
_LOOKED, _SHORT = 40, 4


class Segment(NamedTuple):
    """A piece of a text: its span, and what separates it from the one before."""

    start: int
    end: int
    gap: str
    """start, blank (line), line, dash, sentence, bracket, marks, emoji, or opener: a word that begins appeals."""
    spacer: bool
    """Whether marks alone fill a line before it."""


def split(text: str, rules: Rules) -> list[Segment]:
    """Return the segments of a text in order; each has a word, and together they are the text."""
    quoted = iter([match.span() for match in QUOTATION.finditer(text)])
    span = next(quoted, None)
    starts, gaps, has_word, seen = [0], [("start", False)], False, 0
    for match in _GAP.finditer(text):
        while span is not None and span[1] <= match.start():
            span = next(quoted, None)
        if span is not None and span[0] < match.start() < span[1]:
            continue
        gap = _gap(text, match, rules)
        if gap is None or not words_of(text[match.end() : match.end() + _NEAR]):
            continue
        has_word = has_word or bool(words_of(text[seen : match.start()]))
        seen = match.end()
        if has_word:
            starts.append(match.end())
            gaps.append((gap, "\n" in match[0] and any(not char.isspace() for char in match[0])))
            has_word = False
    ends = [*starts[1:], len(text)]
    return [Segment(start, end, *gap) for start, end, gap in zip(starts, ends, gaps, strict=True)]


_NEAR = 60
"""Characters behind a gap that are searched for a word."""


def _gap(text: str, match: re.Match[str], rules: Rules) -> str | None:
    """Return what kind of gap stands there; None inside a sentence."""
    lines, end = match[0].count("\n"), match.end()
    bare = text[max(0, match.start() - _LOOKED) : match.start()]
    before, behind = bare[-1:], text[end : end + 1]
    word = _NEXT_WORD.match(text, end + (behind == "*"))
    last = bare.split()[-1] if bare.split() else ""
    opens = word is not None and word[0].lower() in rules.openers
    if last in rules.stranded or (before and before not in _ENDING and behind.islower() and not opens):
        return None
    if lines:
        return "blank" if lines > 1 else "line"
    if not match[0].isspace() and any(char in match[0] for char in "-–—•|_~*"):
        return "dash"
    if before in tuple(_CLOSING) and behind.islower():
        return None
    stopped = bare.rstrip(_CLOSING)
    if stopped[-1:] in tuple(_STOPS):
        found = _LAST_WORD.search(stopped)
        short = found is not None and before == "." and len(found[0]) <= _SHORT and behind.islower()
        abbreviated = short or (found is not None and before == "." and found[0][:-1].lower() in rules.abbreviations)
        return None if abbreviated else "sentence"
    if "." in match[0] or (before in tuple(_CLOSING) and behind.isupper()):
        return "sentence"
    if _MARKS.match(text, end) and last[:1] not in tuple("#＃@") and fold(last) not in rules.governing:
        return "marks"
    remark = _REMARK.match(text, end)
    if remark and any(word.lower() in rules.openers for word in _NEXT_WORD.findall(remark[0])):
        return "bracket"
    if _EMOJI.match(behind):
        return "emoji" if without_emoji(text[end : end + _LOOKED]).lstrip()[:1].isupper() else None
    shouted = word is not None and word[0].isupper() and last.isupper()
    if word is not None and word[0][0].isupper() and not shouted and before not in tuple(",;") and (behind == "*" or opens):
        return "opener"
    return None
