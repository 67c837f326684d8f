"""What one rule of a stage measured of a record, for people: value, threshold and verdict in a line."""

from __future__ import annotations

from dataclasses import dataclass

_SIGNS = {">=": "at least", "<=": "at most", ">": "more than", "<": "less than"}


@dataclass(frozen=True)
class RuleValue:
    """What one rule measured of a record, or why that cannot be shown."""

    rule: str
    passed: bool | None
    """None where the value cannot be shown."""
    value: str
    threshold: str
    meaning: str
    """The rule in a sentence."""
    note: str = ""
    """Why the value cannot be shown."""

    def text(self) -> str:
        """For a person, one line."""
        if self.passed is None:
            return f"not shown  {self.rule}: {self.note}. {self.meaning}"
        measured = f"{self.rule}: {self.value or 'none'} (allowed: {in_words(self.threshold)})"
        return f"{'passed' if self.passed else 'failed':<9}  {measured}. {self.meaning}"


def in_words(threshold: str) -> str:
    """A threshold with its sign of comparison in words: ``>= 2`` as ``at least 2``."""
    sign, _, bound = threshold.partition(" ")
    return f"{_SIGNS[sign]} {bound}" if sign in _SIGNS else threshold
