"""Subjects and parameters for the tests of single rules."""

from __future__ import annotations

from typing import Any

from components.language.parser import EnglishParser
from components.language.words import words_of
from components.stages.filter import Params
from components.stages.filter.cascade import GROUPS
from components.stages.filter.rules import Subject

PAPER = Params(overlap="stem", first_capital=True, min_description=0.0)
"""The defaults, with the paper's rules for labels and capitals, and without ours for descriptions."""


def subject(text: str = "A dog on the beach.", *, parsed: bool = False, **values: Any) -> Subject:
    """A subject that breaks no rule, but for what is given."""
    made = Subject(text, text, tuple(words_of(text)), format="JPEG", width=800, height=600, language="en")
    if parsed:
        made.parse = EnglishParser().compute(text)
    for name, value in values.items():
        setattr(made, name, value)
    return made


def passes(rule: str, what: Subject, **params: Any) -> bool:
    """Whether the rule of that name lets the subject stay."""
    tests = {each.name: each.test for rules in GROUPS.values() for each in rules}
    return tests[rule](what, PAPER.model_copy(update=params)).passed
