"""Boiler-plate of alt-texts: known beginnings and ends are cropped, some patterns drop the text (CC §3).

The lists are data (``data/boilerplate.<language>.yaml``); the ledger names their version.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import yaml

_EDGE = " \t\r\n-–—|:,;/•·…[]()"
"""Characters that may separate boiler-plate from the text."""
_BRACKETS = {")": "(", "]": "["}
_TAG = re.compile(r"</?[a-z][^<>]{0,200}>", re.IGNORECASE)
"""Matches a tag that a page wrote into an alt-text ("<br />")."""
_INNER = re.compile(r"\s+")
_LONGEST_CREDIT = 400
"""Characters at the end of a text that are searched for a credit; the longest listed credit takes about 200."""


class Boilerplate(NamedTuple):
    """One language's lists, in lower case, longest first."""

    version: int
    crop_prefix: tuple[str, ...]
    crop_suffix: tuple[str, ...]
    drop_prefix: tuple[str, ...]
    drop_suffix: tuple[str, ...]
    drop_whole: frozenset[str]
    drop_pattern: re.Pattern[str]
    """Beginnings of texts that are dropped."""
    crop_credit: re.Pattern[str]
    """Credits at the end of a text."""
    longest: int
    """Length in characters of the longest cropped beginning or end."""


class Cropped(NamedTuple):
    """A text without boiler-plate, and the removed pieces in the order of removal."""

    text: str
    pieces: tuple[str, ...]


@lru_cache(maxsize=8)
def load_boilerplate(language: str) -> Boilerplate:
    """Return the lists of one language (ISO 639-1); empty lists for a language without a file."""
    path = Path(__file__).parent / "data" / f"boilerplate.{language}.yaml"
    content = yaml.safe_load(path.read_text(encoding="utf-8")) if path.is_file() else {}

    def items(name: str) -> tuple[str, ...]:
        return tuple(sorted((str(item).lower() for item in content.get(name, [])), key=lambda item: (-len(item), item)))

    prefixes, suffixes = items("crop_prefix"), items("crop_suffix")
    return Boilerplate(
        int(content.get("version", 0)),
        prefixes,
        suffixes,
        items("drop_prefix"),
        items("drop_suffix"),
        frozenset(items("drop_whole")),
        re.compile(rf"(?:{'|'.join(content.get('drop_pattern', ['(?!)']))})\b", re.IGNORECASE),
        re.compile(rf"(?:{'|'.join(content.get('crop_credit', ['(?!)']))})[\s.]*$", re.IGNORECASE),
        max(map(len, prefixes + suffixes), default=0),
    )


def crop(text: str, boilerplate: Boilerplate) -> Cropped:
    """Remove boiler-plate from both ends until none is left; idempotent.

    Linear in the text: only the ends are examined, and the text is copied once.
    """
    text = _INNER.sub(" ", _TAG.sub(" ", text)).strip()
    start, end = 0, len(text)
    pieces: list[str] = []
    while True:
        removal = _without_prefix(text, start, end, boilerplate)
        # Credits before suffixes: a listed suffix inside a credit ("/Getty Images)", "AP file photo") would leave the rest of it.
        removal = removal or _without_credit(text, start, end, boilerplate) or _without_suffix(text, start, end, boilerplate)
        if removal is None:
            return Cropped(text[start:end], tuple(pieces))
        start, end, piece = removal
        pieces.append(piece)


def _without_prefix(text: str, start: int, end: int, boilerplate: Boilerplate) -> tuple[int, int, str] | None:
    """Return start and end of the text without its first listed prefix, and that prefix; None if it has none."""
    start = _past_edge(text, start, end)
    head = text[start : min(end, start + boilerplate.longest + 1)]
    lowered = head.lower()
    if len(lowered) != len(head):  # lower() can change the length, which would shift the positions
        return None
    for phrase in boilerplate.crop_prefix:
        if _bounded(lowered, phrase, at_end=False):
            return _past_edge(text, start + len(phrase), end), end, phrase
    return None


def _without_suffix(text: str, start: int, end: int, boilerplate: Boilerplate) -> tuple[int, int, str] | None:
    """Return start and end of the text without its first listed suffix, and that suffix; None if it has none."""
    end = _before_edge(text, start, end, _EDGE + ".", balanced=False)  # a final full stop belongs to the boiler-plate
    tail = text[max(start, end - boilerplate.longest - 1) : end]
    lowered = tail.lower()
    if len(lowered) != len(tail):
        return None
    for phrase in boilerplate.crop_suffix:
        if _bounded(lowered, phrase, at_end=True):
            return start, _before_edge(text, start, end - len(phrase)), phrase
    return None


def _without_credit(text: str, start: int, end: int, boilerplate: Boilerplate) -> tuple[int, int, str] | None:
    """Return start and end of the text without the credit at its end, and that credit; None if nothing else would remain."""
    credit = boilerplate.crop_credit.search(text, max(start, end - _LONGEST_CREDIT), end)
    if credit is None or credit.start() == start:
        return None
    return start, _before_edge(text, start, credit.start()), credit.group().strip(_EDGE)


def _past_edge(text: str, start: int, end: int) -> int:
    while start < end and text[start] in _EDGE:
        start += 1
    return start


def _before_edge(text: str, start: int, end: int, edge: str = _EDGE, *, balanced: bool = True) -> int:
    """Return the end of the text without separators; with ``balanced`` a closing bracket stays if its opening one does."""
    least = max(start, end - _LONGEST_CREDIT)
    while start < end and text[end - 1] in edge:
        opening = _BRACKETS.get(text[end - 1]) if balanced else None
        if opening and text.rfind(opening, least, end) > text.rfind(text[end - 1], least, end - 1):
            break
        end -= 1
    return end


def find_drop_pattern(text: str, boilerplate: Boilerplate) -> str:
    """Return the pattern because of which the text is dropped, or an empty string."""
    bare = _INNER.sub(" ", text).strip(_EDGE + ".!").lower()
    if bare in boilerplate.drop_whole:
        return bare
    for pattern in boilerplate.drop_prefix:
        if _bounded(bare, pattern, at_end=False):
            return pattern
    if match := boilerplate.drop_pattern.match(bare):
        return match.group()
    return next((pattern for pattern in boilerplate.drop_suffix if _bounded(bare, pattern, at_end=True)), "")


def _bounded(text: str, pattern: str, *, at_end: bool) -> bool:
    if at_end:
        return text.endswith(pattern) and not text[max(0, len(text) - len(pattern) - 1) : -len(pattern)].isalnum()
    return text.startswith(pattern) and not text[len(pattern) : len(pattern) + 1].isalnum()
