"""The answers of a datasheet (Gebru et al. 2021), generated: what is measured, and what the publishers stated.

What nobody stated and nothing measures is said to be not stated: no answer is made up.
"""

from __future__ import annotations

from components.tools.release.publisher import Publisher
from components.tools.release.questions import QUESTIONS
from components.tools.release.sheet_answer import Answer, Told
from components.tools.release.sheet_composition import COMPOSITION
from components.tools.release.sheet_process import PROCESS

NOT_STATED = "Not stated by the publishers."
STATED = {
    "6.1.1": "purpose", "6.1.2": "creators", "6.1.3": "funding", "6.3.3": "compensation", "6.3.5": "ethics",
    "6.3.7": "notification", "6.3.8": "consent", "6.3.9": "impact", "6.5.1": "used_for", "6.5.2": "uses_listed_at",
    "6.6.1": "third_parties", "6.6.2": "distribution", "6.6.3": "available_from", "6.6.4": "licence", "6.6.5": "restrictions",
    "6.7.1": "maintainer", "6.7.2": "contact", "6.7.3": "updates", "6.7.4": "older_versions", "6.7.5": "contributions",
}  # fmt: skip
"""Question → the publishers' field that answers it, wholly or before what is measured."""


def answers(told: Told) -> dict[str, Answer]:
    """Every question's answer, in order."""
    found: dict[str, Answer] = {}
    made = COMPOSITION | PROCESS
    for number in QUESTIONS:
        measured = made[number](told) if number in made else Answer()
        stated = " ".join(getattr(told.publisher, STATED[number]).split()) if number in STATED else ""
        if number in STATED:
            measured.paragraphs.insert(0, stated or NOT_STATED)
        found[number] = measured
    return found


def not_stated(publisher: Publisher) -> list[str]:
    """The publishers' fields that are empty, in the order of the questions."""
    return [name for name in STATED.values() if not getattr(publisher, name).strip()]
