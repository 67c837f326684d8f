"""Boiler-plate of alt texts: known beginnings and ends are cropped, some patterns drop the text (seed 000, section 3).

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

    return Boilerplate(
        int(content.get("version", 0)),
        of("crop_prefix"),
        of("crop_suffix"),
        of("drop_prefix"),
        of("drop_suffix"),
        frozenset(of("drop_whole")),
        re.compile(rf"(?:{'|'.join(content.get('crop_credit', ['(?!)']))})[\s.]*$", re.IGNORECASE),
    )


def crop(text: str, lists: Boilerplate) -> Cropped:
    """Take boiler-plate off both ends until none is left; cropping twice is cropping once."""
    text = _INNER.sub(" ", text).strip()
    pieces: list[str] = []
    while True:
        # A bracketed credit goes first: a listed end inside it ("/Getty Images)") would leave the bracket open.
        credited = _without_credit(text, lists) if text.endswith((")", "]")) else None
        taken = credited or _without_listed(text, lists) or _without_credit(text, lists)
        if taken is None:
            return Cropped(text, tuple(pieces))
        text, piece = taken
        pieces.append(piece)


def _without_listed(text: str, lists: Boilerplate) -> tuple[str, str] | None:
    """The text without the first listed beginning or end that it has, and that; None when it has none."""
    for boiler, at_end in [(b, False) for b in lists.crop_prefix] + [(b, True) for b in lists.crop_suffix]:
        rest = _without(text, boiler, at_end)
        if rest is not None:
            return rest, boiler
    return None


def _without_credit(text: str, lists: Boilerplate) -> tuple[str, str] | None:
    """The text without the credit at its end, and that; None when it has none, or nothing else."""
    credit = lists.crop_credit.search(text)
    if credit is None or credit.start() == 0:
        return None
    return text[: credit.start()].rstrip(_EDGE), credit.group().strip(_EDGE)


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
        return text.endswith(pattern) and not text[: -len(pattern)][-1:].isalnum()
    return text.startswith(pattern) and not text[len(pattern) :][:1].isalnum()


def _without(text: str, boiler: str, at_end: bool) -> str | None:
    # A final full stop belongs to the boiler-plate; lower() may change the length of exotic text: then leave it alone.
    bare = text.rstrip(_EDGE + ".") if at_end else text.lstrip(_EDGE)
    if len(bare.lower()) != len(bare) or not _bounded(bare.lower(), boiler, at_end=at_end):
        return None
    return bare[: -len(boiler)].rstrip(_EDGE) if at_end else bare[len(boiler) :].lstrip(_EDGE)
