"""Boiler-plate of alt texts: known beginnings and ends are cropped, some patterns drop the text (CC, section 3).

The lists are data (``data/boilerplate.<language>.yaml``), with a version that the ledger repeats.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

_EDGE = " \t\r\n-–—|:,;/•·…[]()"
"""What may stand between boiler-plate and the text proper."""
_INNER = re.compile(r"\s+")
_LONGEST_CREDIT = 400
"""Characters at the end of a text in which a credit is looked for; the lists' longest takes about 200."""


class Boilerplate(NamedTuple):
    """One language's lists, lower-cased, longest first."""

    version: int
    crop_prefix: tuple[str, ...]
    crop_suffix: tuple[str, ...]
    drop_prefix: tuple[str, ...]
    drop_suffix: tuple[str, ...]
    drop_whole: frozenset[str]
    crop_credit: re.Pattern[str]
    """Whom a picture is by, at the end of a text."""
    longest: int
    """Characters of the longest beginning or end that is cropped."""


class Cropped(NamedTuple):
    """The text without boiler-plate, and the pieces taken off, in the order taken."""

    text: str
    pieces: tuple[str, ...]


@lru_cache(maxsize=8)
def load_boilerplate(language: str) -> Boilerplate:
    """The lists of one language (ISO 639-1); a language without a file has none."""
    import yaml

    path = Path(__file__).parent / "data" / f"boilerplate.{language}.yaml"
    content = yaml.safe_load(path.read_text(encoding="utf-8")) if path.is_file() else {}

    def of(name: str) -> tuple[str, ...]:
        return tuple(sorted((str(item).lower() for item in content.get(name, [])), key=lambda item: (-len(item), item)))

    prefixes, suffixes = of("crop_prefix"), of("crop_suffix")
    return Boilerplate(
        int(content.get("version", 0)),
        prefixes,
        suffixes,
        of("drop_prefix"),
        of("drop_suffix"),
        frozenset(of("drop_whole")),
        re.compile(rf"(?:{'|'.join(content.get('crop_credit', ['(?!)']))})[\s.]*$", re.IGNORECASE),
        max(map(len, prefixes + suffixes), default=0),
    )


def crop(text: str, lists: Boilerplate) -> Cropped:
    """Take boiler-plate off both ends until none is left; cropping twice is cropping once.

    Linear in the text, however much of it is boiler-plate: only its ends are looked at, and nothing is copied on the way.
    """
    text = _INNER.sub(" ", text).strip()
    start, end = 0, len(text)
    pieces: list[str] = []
    while True:
        # A bracketed credit goes first: a listed end inside it ("/Getty Images)") would leave the bracket open.
        bracketed = text.endswith((")", "]"), start, end)
        taken = _without_credit(text, start, end, lists) if bracketed else None
        taken = taken or _without_prefix(text, start, end, lists) or _without_suffix(text, start, end, lists)
        taken = taken or _without_credit(text, start, end, lists)
        if taken is None:
            return Cropped(text[start:end], tuple(pieces))
        start, end, piece = taken
        pieces.append(piece)


def _without_prefix(text: str, start: int, end: int, lists: Boilerplate) -> tuple[int, int, str] | None:
    """Where the text lies without the first listed beginning that it has, and that; None when it has none."""
    start = _past_edge(text, start, end)
    head = text[start : min(end, start + lists.longest + 1)]
    low = head.lower()
    if len(low) != len(head):  # lower() may change the length of exotic text: then leave it alone
        return None
    for boiler in lists.crop_prefix:
        if _bounded(low, boiler, at_end=False):
            return _past_edge(text, start + len(boiler), end), end, boiler
    return None


def _without_suffix(text: str, start: int, end: int, lists: Boilerplate) -> tuple[int, int, str] | None:
    """Where the text lies without the first listed end that it has, and that; None when it has none."""
    end = _before_edge(text, start, end, _EDGE + ".")  # a final full stop belongs to the boiler-plate
    tail = text[max(start, end - lists.longest - 1) : end]
    low = tail.lower()
    if len(low) != len(tail):
        return None
    for boiler in lists.crop_suffix:
        if _bounded(low, boiler, at_end=True):
            return start, _before_edge(text, start, end - len(boiler)), boiler
    return None


def _without_credit(text: str, start: int, end: int, lists: Boilerplate) -> tuple[int, int, str] | None:
    """Where the text lies without the credit at its end, and that; None when it has none, or nothing else."""
    credit = lists.crop_credit.search(text, max(start, end - _LONGEST_CREDIT), end)
    if credit is None or credit.start() == start:
        return None
    return start, _before_edge(text, start, credit.start()), credit.group().strip(_EDGE)


def _past_edge(text: str, start: int, end: int) -> int:
    while start < end and text[start] in _EDGE:
        start += 1
    return start


def _before_edge(text: str, start: int, end: int, edge: str = _EDGE) -> int:
    while start < end and text[end - 1] in edge:
        end -= 1
    return end


def dropping_pattern(text: str, lists: Boilerplate) -> str:
    """The pattern for which the text must be dropped, or empty."""
    bare = _INNER.sub(" ", text).strip(_EDGE + ".!").lower()
    if bare in lists.drop_whole:
        return bare
    for pattern in lists.drop_prefix:
        if _bounded(bare, pattern, at_end=False):
            return pattern
    return next((pattern for pattern in lists.drop_suffix if _bounded(bare, pattern, at_end=True)), "")


def _bounded(text: str, pattern: str, *, at_end: bool) -> bool:
    if at_end:
        return text.endswith(pattern) and not text[max(0, len(text) - len(pattern) - 1) : -len(pattern)].isalnum()
    return text.startswith(pattern) and not text[len(pattern) : len(pattern) + 1].isalnum()
