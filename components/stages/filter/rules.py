"""Rules and subjects: a rule is a named test of one value against a threshold.

The first rule that a candidate breaks drops it; the ledger records the rule, the value and the threshold. Rules are grouped by
the annotations they need, and annotations are computed only for candidates that passed every earlier group.
Source: CC §3; CC12M's published variants where the setting's docstring says so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from components.language.parser import Parse
from components.stages.filter import Params
from components.vision.evidence import Evidence
from components.vision.labels import Label


@dataclass
class Subject:
    """A candidate under test; later groups' annotations are set when the cascade reaches them."""

    alt: str
    """The alt-text as published."""
    text: str = ""
    """The alt-text without boiler-plate."""
    words: tuple[str, ...] = ()
    """The words of ``text`` as written."""
    cropped: tuple[str, ...] = ()
    """The removed boiler-plate."""
    format: str = ""
    """Encoding by content: JPEG, PNG, ..."""
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
    """Nouns of the text whose hypernym the classifier recognises, as ``noun < hypernym``."""
    evidence: Sequence[Evidence] = ()
    """Evidence that the image shows what each noun names; none from a provider whose labels are compared by stem only."""
    nearest_kind: Callable[[], tuple[str, str, float] | None] = lambda: None
    """Returns noun, hypernym and confidence of the nearest to such a match; only ``hearsight explain`` calls it."""


class Finding(NamedTuple):
    """Whether a candidate passes a rule, the measured value, and the threshold in words for the ledger."""

    passed: bool
    value: Any
    threshold: Any


class Rule(NamedTuple):
    """A named test of a subject."""

    name: str
    test: Callable[[Subject, Params], Finding]
    settings: tuple[str, ...] = ()
    """The settings of ``Params`` that set its threshold; empty where it has none."""
    describe: Callable[[Subject, Params], str] | None = None
    """Describes what decided, where the value alone does not show it; for people, never in the ledger."""


def first_failure(subject: Subject, rules: Sequence[Rule], params: Params) -> tuple[str, Finding] | None:
    """Return the first rule that the subject breaks and its finding, or None."""
    for rule in rules:
        finding = rule.test(subject, params)
        if not finding.passed:
            return rule.name, finding
    return None
