"""The page of remarks on an alt-text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from components.reporting.pages import render
from components.tools.feedback.remark import Remark

TITLES = {
    "en": {
        "title": "Feedback on an alt-text",
        "guideline": "As a description",
        "rule": "Filter rules",
        "unchecked": "Not checked",
        "passed": "passes",
        "failed": "fails",
    },
    "pt": {
        "title": "Comentários sobre um texto alternativo",
        "guideline": "Como descrição",
        "rule": "Regras de filtragem",
        "unchecked": "Não verificado",
        "passed": "passa",
        "failed": "falha",
    },
}


def render_feedback(text: str, language: str, remarks: Sequence[Remark], interface: str) -> str:
    """Return the page; ``language`` is the text's, ``interface`` the page's."""
    groups = [(kind, [remark for remark in remarks if remark.kind == kind]) for kind in ("guideline", "rule", "unchecked")]
    templates = Path(__file__).parent / "data"
    return render(
        templates, "feedback.html", text=text, language=language, interface=interface, groups=groups, words=TITLES[interface]
    )
