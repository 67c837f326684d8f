"""The result of one rule for one record, formatted for display: measured value, threshold and verdict in one line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_SIGNS = {">=": "at least", "<=": "at most", ">": "more than", "<": "less than"}
NONE = "no setting"
ANYTHING = "anything"
"""The threshold of a rule that the settings turn off."""


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
    setting: str = ""
    """The settings that set the threshold, as :func:`setting_names` spells them."""
    detail: str = ""
    """The value with what decided, where the value alone does not show it; text shows it instead of the value."""

    def text(self) -> str:
        """Return the result as one line of text; what the rule means only where the record did not pass."""
        if self.passed is None:
            return f"not shown  {self.rule}: {self.note}. {self.meaning}"
        measured = f"{self.rule}: {self.detail or self.value or 'none'} ({allowed(self.threshold, self.setting)})"
        passed = "off   " if self.threshold == ANYTHING else "passed"
        return f"{passed}     {measured}" if self.passed else f"failed     {measured}. {self.meaning}"


def allowed(threshold: str, setting: str) -> str:
    """Return a threshold and the setting that sets it: ``allowed: at least 2, set by english.filter.min_words``."""
    return f"allowed: {in_words(threshold)}" + ("" if not setting else f", {'' if setting == NONE else 'set by '}{setting}")


def setting_names(dataset: str, stage: str, settings: Sequence[str] | None, values: object = None) -> str:
    """Return names of settings of a stage: ``english.filter.min_words``, ``english.dedup.a, b``.

    An empty list gives "no setting"; None, for a rule that no table lists, gives ''.

    Args:
        values: the object with the settings as attributes; of several settings each gets its value, since no threshold shows it.
    """
    if settings is None:
        return ""
    if values is not None and len(settings) > 1:
        settings = [f"{name} ({getattr(values, name)})" for name in settings]
    return f"{dataset}.{stage}.{', '.join(settings)}" if settings else NONE


def in_words(threshold: str) -> str:
    """Return a threshold with its comparison operator in words: ``>= 2`` becomes ``at least 2``."""
    sign, _, bound = threshold.partition(" ")
    return f"{_SIGNS[sign]} {bound}" if sign in _SIGNS else threshold
