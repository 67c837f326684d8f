"""A text during normalisation, with the changes made so far."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

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
