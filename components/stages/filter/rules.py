"""Define what a rule is: a named test of one value, with a threshold.

A rule measures one thing of a candidate and says whether the value is allowed; the first rule that says no drops the
candidate, and the ledger gets its name, value and threshold. Rules are grouped by what they must know; the glue
(``components/stages/filter/__init__.py``) gathers that knowledge only for candidates that passed every group before.
Source: CC section 3; CC12M's published variants where a comment in params.yaml says so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from components.language.parser import Parse
    from components.stages.filter import Params
    from components.vision.labels import Label


@dataclass
class Subject:
    """A candidate under examination; what a later group needs is filled in as it gets there."""

    alt: str
    """The alt text as found."""
    text: str = ""
    """The alt text without boiler-plate."""
    words: tuple[str, ...] = ()
    """The words of ``text`` as written."""
    cropped: tuple[str, ...] = ()
    """The boiler-plate taken off."""
    format: str = ""
    """By content: JPEG, PNG, ..."""
    width: int = 0
    """px"""
    height: int = 0
    """px"""
    language: str = ""
    """ISO 639-1, of the page."""
    profanity: float = 0.0
    polarity: float = 0.0
    pornography: float = 0.0
    parse: Parse | None = None
    labels: Sequence[Label] = ()
    kinds: Sequence[str] = ()
    """Nouns of the text whose kind the classifier sees, as ``noun < kind``."""

    def see(self, format: str, width: int, height: int, language: str) -> None:
        """Say what is known of its picture and page."""
        self.format, self.width, self.height, self.language = format, width, height, language


class Finding(NamedTuple):
    """What a rule measured, what it allows (in words for the ledger), and whether the candidate may stay."""

    passed: bool
    value: Any
    threshold: Any


class Rule(NamedTuple):
    """A named test of a subject."""

    name: str
    test: Callable[[Subject, Params], Finding]


def first_failure(subject: Subject, rules: Sequence[Rule], params: Params) -> tuple[str, Finding] | None:
    """The first rule the subject breaks and what it found, or None."""
    for rule in rules:
        finding = rule.test(subject, params)
        if not finding.passed:
            return rule.name, finding
    return None
