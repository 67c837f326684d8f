"""A text on its way to being speakable, and what was changed in it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from components.speech.text_normalization.language import Language


@dataclass(frozen=True)
class Step:
    """One change: by which rule, what stood there, what stands there now (nothing where it was dropped)."""

    rule: str
    before: str
    after: str


@dataclass
class Draft:
    """The text so far. Rules change it in place, through :meth:`sub`, so that every change is a step."""

    text: str
    language: Language
    steps: list[Step] = field(default_factory=list)
    shouting: bool = False
    """Whether the text as it came was in capitals throughout, so that capitals tell nothing of a word."""

    def sub(self, rule: str, pattern: re.Pattern[str], replacement: Callable[[re.Match[str]], str | None]) -> None:
        """Put what ``replacement`` says in the place of each match; None leaves it as it is."""

        def one(match: re.Match[str]) -> str:
            new = replacement(match)
            old = match[0]
            if new is None or new == old:
                return old
            self.steps.append(Step(rule, old.strip(), new.strip()))
            return new

        self.text = pattern.sub(one, self.text)

    def record(self, rule: str, before: str, after: str) -> None:
        """Note a change made by other means than :meth:`sub`."""
        self.steps.append(Step(rule, before, after))

    @property
    def has_digits(self) -> bool:
        """Whether any digit is left."""
        return _DIGIT.search(self.text) is not None


_DIGIT = re.compile("[0-9]")
