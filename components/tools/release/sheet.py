"""Answer the questions of a datasheet (Gebru et al. 2021) from measured values and the publishers' statements.

A question with neither is answered "Not stated by the publishers."
"""

from __future__ import annotations

from components.tools.release.publisher import Publisher
from components.tools.release.questions import QUESTIONS
from components.tools.release.sheet_answer import Answer, SheetData
from components.tools.release.sheet_composition import COMPOSITION
from components.tools.release.sheet_process import PROCESS

NOT_STATED = "Not stated by the publishers."
STATED = {
    "6.1.1": "purpose", "6.1.2": "creators", "6.1.3": "funding", "6.3.3": "compensation", "6.3.5": "ethics",
    "6.3.7": "notification", "6.3.8": "consent", "6.3.9": "impact", "6.5.1": "used_for", "6.5.2": "uses_listed_at",
    "6.6.1": "third_parties", "6.6.2": "distribution", "6.6.3": "available_from", "6.6.4": "licence", "6.6.5": "restrictions",
    "6.7.1": "maintainer", "6.7.2": "contact", "6.7.3": "updates", "6.7.4": "older_versions", "6.7.5": "contributions",
}  # fmt: skip
"""Question → the publishers' field that answers it; measured values follow."""


def answer_questions(data: SheetData) -> dict[str, Answer]:
    """Return every question's answer, in order."""
    answers: dict[str, Answer] = {}
    functions = COMPOSITION | PROCESS
    for number in QUESTIONS:
        measured = functions[number](data) if number in functions else Answer()
        stated = " ".join(getattr(data.publisher, STATED[number]).split()) if number in STATED else ""
        if number in STATED:
            measured.paragraphs.insert(0, stated or NOT_STATED)
        answers[number] = measured
    return answers


def list_unanswered(publisher: Publisher) -> list[str]:
    """Return the publishers' fields that are empty, in the order of the questions."""
    return [name for name in STATED.values() if not getattr(publisher, name).strip()]
