"""The rules asked in turn, cheap ones first, so that what is expensive to know is learned only of candidates still alive.

Used by the stage over shards and by ``hearsight try`` over lines; who asks brings the knowledge (``learn``). With
``study`` every rule is asked of every candidate, so that thresholds can be chosen by what they would do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from components.language.words import words_of
from components.stages.filter import image_rules, overlap, parse_rules, text_rules
from components.stages.filter.boilerplate import Boilerplate, crop
from components.stages.filter.rules import Finding, Rule, Subject, first_failure

if TYPE_CHECKING:
    from components.stages.filter import Params

Learn = Callable[[str, Mapping[str, Subject]], None]
"""Gives each subject what a group of rules needs to know."""
GROUPS: dict[str, tuple[Rule, ...]] = {
    "record": image_rules.RECORD_RULES,
    "text": text_rules.TEXT_RULES,
    "tone": text_rules.TONE_RULES,
    "parse": parse_rules.PARSE_RULES,
    "picture": image_rules.PICTURE_RULES,
    "overlap": overlap.OVERLAP_RULES,
}
"""The rules in the order they are applied, cheap ones first: from microseconds to tens of milliseconds a candidate."""
TEXT_GROUPS = ("text", "tone", "parse")
"""What can be said without the picture and its page."""


def subject_of(alt: str, lists: Boilerplate, max_characters: int) -> Subject:
    """An alt-text under examination, its boiler-plate cropped; what is known of its picture and page is still to be said.

    Of a longer alt-text, which ``max_characters`` drops, only the beginning is looked at: no rule works on more.
    """
    piece = crop(alt[:max_characters], lists)
    return Subject(alt=alt, text=piece.text, words=tuple(words_of(piece.text)), cropped=piece.pieces)


def failures(
    subjects: Mapping[str, Subject], learn: Learn, params: Params, names: Sequence[str] = ()
) -> dict[str, tuple[str, Finding]]:
    """Of each subject that breaks a rule, the first rule it breaks and what that found.

    Args:
        names: the groups to ask; all of them when empty.
    """
    failed: dict[str, tuple[str, Finding]] = {}
    for group, rules in _asked(names).items():
        alive = {key: subject for key, subject in subjects.items() if key not in failed}
        learn(group, alive)
        for key, subject in alive.items():
            failure = first_failure(subject, rules, params)
            if failure is not None:
                failed[key] = failure
    return failed


def study(
    subjects: Mapping[str, Subject], learn: Learn, params: Params, names: Sequence[str] = ()
) -> dict[str, dict[str, Finding]]:
    """What every rule finds of every subject, in the order of asking."""
    found: dict[str, dict[str, Finding]] = {key: {} for key in subjects}
    for group, rules in _asked(names).items():
        learn(group, subjects)
        for key, subject in subjects.items():
            found[key] |= {rule.name: rule.test(subject, params) for rule in rules}
    return found


def _asked(names: Sequence[str]) -> dict[str, tuple[Rule, ...]]:
    return {name: rules for name, rules in GROUPS.items() if not names or name in names}
