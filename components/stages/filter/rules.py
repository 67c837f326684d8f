"""Rules and subjects: a rule is a named test of one value against a threshold.

The first rule that a candidate breaks drops it; the ledger records the rule, the value and the threshold. Rules are grouped by
the annotations they need, and annotations are computed only for candidates that passed every earlier group.
Source: CC §3; CC12M's published variants where the setting's docstring says so.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from components.core.ledger import format_value
from components.core.rule_values import RuleValue, setting_names
from components.language.parser import Parse
from components.stages.filter import Params
from components.vision.evidence import Evidence
from components.vision.labels import Label
from components.web.html.context import Context


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
    context: Context | None = None
    """What the page around the image says; None for a table, a post or a text without a page."""
    profanity: float = 0.0
    polarity: float = 0.0
    pornography: float = 0.0
    parse: Parse | None = None
    labels: Sequence[Label] = ()
    image_text: float = 0.0
    """Cosine of image and text."""
    kinds: Sequence[str] = ()
    """Nouns of the text whose hypernym the classifier recognises, as ``noun < hypernym``."""
    evidence: Sequence[Evidence] = ()
    """Evidence that the image shows what each noun names; none from a provider whose labels are compared by stem only."""
    nearest_kind: Callable[[], tuple[str, str, float] | None] = lambda: None
    """Returns noun, hypernym and confidence of the nearest to such a match; only ``hearsight explain`` calls it."""


class Finding(NamedTuple):
    """Whether a candidate passes a rule, and what the ledger records of it."""

    passed: bool
    value: Any
    """What was measured or found: a number, a text, or a list of texts."""
    threshold: Any
    """What is allowed: a sign with a number (``>= 2``), or words; :data:`ANYTHING` where the settings turn the rule off."""


Sign = Literal["<=", ">=", "<"]
SIGNS: dict[Sign, Callable[[Any, Any], Any]] = {"<=": operator.le, ">=": operator.ge, "<": operator.lt}
"""Relation of a value to a threshold → its test, also of arrays."""


def compare(value: float, sign: Sign, threshold: float) -> Finding:
    """Return the finding of a rule that allows the values on one side of a threshold."""
    return Finding(SIGNS[sign](value, threshold), value, f"{sign} {threshold}")


Test = Callable[[Subject, Params], Finding]


class Sweep(NamedTuple):
    """Thresholds that ``hearsight calibrate`` tries: of the first of the rule's settings, a number."""

    sign: Sign
    """Relation of the value to the threshold for a candidate to pass."""
    low: float = 0.0
    high: float = 1.0
    """Range of the thresholds."""
    shown: tuple[float, ...] = ()
    """Thresholds for which texts are shown; empty for the tenths of the range."""


class Rule(NamedTuple):
    """A named test of a subject: all that commands, pages and tests know about the rule."""

    name: str
    test: Test
    settings: tuple[str, ...]
    """The settings of ``Params`` that set its threshold; empty where it has none."""
    portuguese: str = ""
    """The requirement in plain words, as ``meaning``, which stands for it where it is empty."""
    sweep: Sweep | None = None
    """None for a rule that is not calibrated: its threshold is not a number, or is the paper's."""
    describe: Callable[[Subject, Params], str] | None = None
    """Describes the value and what decided, where the value alone does not show it; for people, never in the ledger."""

    @property
    def meaning(self) -> str:
        """The requirement in plain words: the first line of the test's docstring, with code in single backticks."""
        return (inspect.getdoc(self.test) or "").partition("\n")[0].replace("``", "`")

    def shown(self, finding: Finding, dataset: str, params: Params, detail: str = "") -> RuleValue:
        """Return a finding formatted for display, with the settings of the dataset that set its threshold."""
        setting = setting_names(dataset, "filter", self.settings, params)
        value, threshold = format_value(finding.value), format_value(finding.threshold)
        return RuleValue(self.name, finding.passed, value, threshold, self.meaning, setting=setting, detail=detail)


def rule(group: list[Rule], *settings: str, **more: Any) -> Callable[[Test], Test]:
    """Return a decorator that adds a function to a group as the test, name and meaning of a :class:`Rule` with these fields."""

    def add(test: Test) -> Test:
        group.append(Rule(test.__name__, test, settings, **more))
        return test

    return add


def first_failure(subject: Subject, rules: Sequence[Rule], params: Params) -> tuple[str, Finding] | None:
    """Return the first rule that the subject breaks and its finding, or None."""
    findings = ((rule.name, rule.test(subject, params)) for rule in rules)
    return next(((name, finding) for name, finding in findings if not finding.passed), None)
