"""Rules about the page around an image: an alt-text that repeats it says nothing of the image, and a button shows a symbol.

A record of a table or a post has no context and passes. Source: ours; CC reads alt-texts alone.
"""

from __future__ import annotations

from components.core.ledger import format_value
from components.core.rule_values import ANYTHING
from components.stages.filter import Params
from components.stages.filter.rules import Finding, Rule, Subject, rule
from components.web.html.context import share_of

CONTEXT_RULES: list[Rule] = []
"""Rules that need the page around the image."""


def _repeats(subject: Subject, params: Params, name: str, text: str | None, kind: str | None) -> Finding:
    share = share_of(subject.alt, text) if text else 0.0
    if name not in params.context_rules:
        return Finding(True, share, ANYTHING)
    value = f'{format_value(share)} of {kind} "{text}"' if text else ""
    return Finding(share < params.repetition_from, value, f"< {params.repetition_from}")


@rule(CONTEXT_RULES, "repetition_from", "context_rules", portuguese="O texto não repete o título da página nem um subtítulo.")
def repeats_heading(subject: Subject, params: Params) -> Finding:
    """The text does not repeat the title of the page or a heading."""
    context = subject.context
    heading, kind = (context.heading, context.heading_kind) if context else (None, None)
    return _repeats(subject, params, "repeats_heading", heading, kind)


@rule(CONTEXT_RULES, "repetition_from", "context_rules", portuguese="O texto não repete o texto de um link da página.")
def repeats_link_text(subject: Subject, params: Params) -> Finding:
    """The text does not repeat the text of a link on the page."""
    return _repeats(subject, params, "repeats_link_text", subject.context.link_text if subject.context else None, "link")


@rule(CONTEXT_RULES, "context_rules", portuguese="A imagem não é um botão.")
def control(subject: Subject, params: Params) -> Finding:
    """The image is no button."""
    found = subject.context is not None and subject.context.control
    required = "control" in params.context_rules
    return Finding(not (found and required), "a button" if found else "", "no button" if required else ANYTHING)
