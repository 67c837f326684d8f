"""The cascade of rules: cheap rules first, so that expensive annotations are computed only for candidates still alive.

The stage runs it over shards, ``hearsight try`` over lines; the caller supplies the annotations. ``evaluate_all`` applies every
rule to every candidate, which shows what other thresholds would do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from components.language.words import words_of
from components.stages.filter import Params, context_rules, image_rules, parse_rules, text_rules
from components.stages.filter.boilerplate import Boilerplate, crop, load_boilerplate
from components.stages.filter.rules import Finding, Rule, Subject, first_failure
from components.web.html.context import from_row

AnnotateGroup = Callable[[str, Mapping[str, Subject]], None]
"""Sets the annotations of each subject that a group of rules needs."""
GROUPS: dict[str, list[Rule]] = {
    "record": image_rules.RECORD_RULES,
    "context": context_rules.CONTEXT_RULES,
    "text": text_rules.TEXT_RULES,
    "tone": text_rules.TONE_RULES,
    "parse": parse_rules.PARSE_RULES,
    "image": image_rules.IMAGE_RULES,
    "overlap": image_rules.OVERLAP_RULES,
}
"""The rules in order of application; the cost rises from microseconds to tens of milliseconds a candidate."""
RULES = {rule.name: rule for rules in GROUPS.values() for rule in rules}
"""Name → rule, in order of application."""
RULE_GROUPS = {rule.name: group for group, rules in GROUPS.items() for rule in rules}
"""Name of a rule → its group."""
TEXT_GROUPS = ("text", "tone", "parse")
"""Groups that need neither the image nor its page."""
PAGE_GROUPS = ("context", *TEXT_GROUPS)
"""Groups that need no image."""


def make_subject(alt: str, boilerplate: Boilerplate, max_characters: int) -> Subject:
    """Return the subject of an alt-text, boiler-plate cropped; image and page are not set yet.

    Only the first ``max_characters`` are cropped and split into words: a longer alt-text is dropped by ``max_characters``.
    """
    cropped = crop(alt[:max_characters], boilerplate)
    return Subject(alt=alt, text=cropped.text, words=tuple(words_of(cropped.text)), cropped=cropped.pieces)


def first_failures(
    subjects: Mapping[str, Subject], annotate: AnnotateGroup, params: Params, names: Sequence[str] = ()
) -> dict[str, tuple[str, Finding]]:
    """Return the first broken rule and its finding for each subject that breaks one.

    Args:
        names: the groups to apply; empty for all.
    """
    failed: dict[str, tuple[str, Finding]] = {}
    for group, rules in _selected_groups(names).items():
        alive = {key: subject for key, subject in subjects.items() if key not in failed}
        annotate(group, alive)
        for key, subject in alive.items():
            failure = first_failure(subject, rules, params)
            if failure is not None:
                failed[key] = failure
    return failed


def evaluate_all(
    subjects: Mapping[str, Subject], annotate: AnnotateGroup, params: Params, names: Sequence[str] = ()
) -> dict[str, dict[str, Finding]]:
    """Return the findings of every rule for every subject, in order of application."""
    findings: dict[str, dict[str, Finding]] = {key: {} for key in subjects}
    for group, rules in _selected_groups(names).items():
        annotate(group, subjects)
        for key, subject in subjects.items():
            findings[key] |= {rule.name: rule.test(subject, params) for rule in rules}
    return findings


def _selected_groups(names: Sequence[str]) -> dict[str, list[Rule]]:
    return {name: rules for name, rules in GROUPS.items() if not names or name in names}


def make_subjects(rows: Mapping[str, Mapping[str, Any]], params: Params) -> dict[str, Subject]:
    """Return each record as the subject that the rules test."""
    boilerplate = load_boilerplate(params.language)
    image = ("format", "width", "height", "language")
    return {
        key: replace(
            make_subject(row["alt"], boilerplate, params.max_characters),
            **{name: row[name] for name in image},
            context=from_row(row["context"]),
        )
        for key, row in rows.items()
    }
