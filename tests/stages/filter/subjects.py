"""Subjects and parameters for the tests of single rules."""

from __future__ import annotations

from typing import Any

from components.language.parser import EnglishParser
from components.language.words import words_of
from components.providers.registry import ProviderParams
from components.stages.filter import Params
from components.stages.filter.cascade import GROUPS
from components.stages.filter.rules import Subject

PAPER = Params(
    providers=ProviderParams(language="embedded", vision="embedded"),
    language="en", formats=["JPEG"], sides_over=400, max_aspect_ratio=2.0, pornography_from=0.5, min_words=2, max_words=256,
    max_capital_ratio=0.7, max_repetition=0.2, min_language=0.01,
    min_zipf=0.5, min_zipf_unlisted=1.7, profanity_from=0.8, min_polarity=-0.8, max_polarity=0.8,
    require=["determiner", "noun", "preposition"], max_noun_ratio=0.75, min_unique_ratio=0.6, overlap="stem",
    min_evidence=0.25, min_labels=5, max_labels=20,
    min_label_confidence=0.05, min_kind_confidence=0.1,
)  # fmt: skip


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
