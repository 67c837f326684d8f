"""A text during normalisation, with the changes made so far."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

from components.speech.text_normalization.language import Language


@dataclass(frozen=True)
class Step:
    """One change: the rule, the text before, and the text after (empty if dropped)."""

    rule: str
    before: str
    after: str


@dataclass
class Draft:
    """The current text. Rules change it through :meth:`sub`, which records every change as a step."""

    text: str
    language: Language
    steps: list[Step] = field(default_factory=list)
    shouting: bool = False
    """Whether the original text is all in capitals, so that capitals do not mark names and acronyms."""

    def sub(self, rule: str, pattern: re.Pattern[str], replacement: Callable[[re.Match[str]], str | None]) -> None:
        """Replace each match by the value of ``replacement``; None leaves it unchanged."""
        for part in needed(pattern.pattern, pattern.flags):
            if part in self.text:
                break
        else:
            return
        if pattern.search(self.text) is None:
            return

        def replace(match: re.Match[str]) -> str:
            new = replacement(match)
            old = match[0]
            if new is None or new == old:
                return old
            self.steps.append(Step(rule, old.strip(), new.strip()))
            return new

        self.text = pattern.sub(replace, self.text)

    def record(self, rule: str, before: str, after: str) -> None:
        """Record a change made without :meth:`sub`."""
        self.steps.append(Step(rule, before, after))

    @property
    def has_digits(self) -> bool:
        """Whether any digit or power is left."""
        return _DIGIT.search(self.text) is not None


_DIGIT = re.compile("[0-9²³]")
_CLASS = re.compile(r"\[((?:\\.|[^\]\\])+)\]([*?{]?)|\\[A-Za-z0-9]")
_SMALL_CLASS = re.compile(r"(?!\^)[^\\][^\\-]{0,4}")
_CAPTURE = re.compile(r"\((?:\?:)?([^()|?][^()|]*)\)(?![*?{])")
_GROUP = re.compile(r"\([^()]*\)")
_OPTIONAL = re.compile(r".(?:[*?]|\{[^}]*\})")
_PARTS = re.compile("\1[^\1]+\1|[^\0\1.^$+]+")
_LITERAL = 0xF0000
"""Added to the code of a character that has no meaning in the pattern."""


@cache
def needed(pattern: str, flags: int) -> tuple[str, ...]:
    """Return strings of which any match of the pattern contains one; the empty string where none is known.

    Looking for them is much faster than a search. Groups of alternatives, optional ones and those that look around are left out.
    """
    if flags & re.IGNORECASE:
        return ("",)

    def literal(text: str) -> str:
        return "".join(chr(_LITERAL + ord(character)) for character in text)

    def small_class(match: re.Match[str]) -> str:
        small = match[1] and not match[2] and _SMALL_CLASS.fullmatch(match[1])
        return f"\1{literal(match[1])}\1" if small else f"\0{match[2] or ''}"

    rest = _CLASS.sub(small_class, pattern)
    rest = re.sub(r"\\(.)", lambda match: literal(match[1]), rest)
    before = ""
    while rest != before:
        before, rest = rest, _GROUP.sub("\0", _CAPTURE.sub(r"\1", rest))
    found: list[str] = []
    for branch in _OPTIONAL.sub("\0", rest).split("|"):
        parts = ["".join(chr(ord(c) % _LITERAL) for c in part) for part in _PARTS.findall(branch)]
        best = max(parts, key=lambda part: (part != " " and part[0] != "\1", len(part)), default="")
        found += best.strip("\1") if best[:1] == "\1" else [best]
    return tuple(found)
