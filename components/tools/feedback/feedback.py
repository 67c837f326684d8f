"""Feedback on one alt-text: the remarks of all checks.

The filter rules of CC, on the text and on its image, in plain words; for Portuguese those of PCV's extraction; then guidelines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from components.core.errors import HearsightError
from components.core.graph import find_root, load_graph
from components.core.ledger import format_value
from components.core.params import stage_params
from components.core.rule_values import ANYTHING, allowed, setting_names
from components.language.identification import language_probability
from components.language.words import words_of
from components.providers.registry import ProviderParams, make_providers, plan_for
from components.stages import extract_descriptions
from components.stages import filter as filtering
from components.stages.filter.annotation import payload_of, providers_of, set_annotation
from components.stages.filter.boilerplate import load_boilerplate
from components.stages.filter.cascade import GROUPS, TEXT_GROUPS, make_subject
from components.stages.filter.rules import Finding, Rule, Subject
from components.tools.feedback.guidelines import LANGUAGES, OUTCOMES, Remark, check_guidelines
from components.vision.image_files import require_image
from components.web.html.page import fold

MOST = 10_000
"""Characters of a text."""


def feedback(
    text: str,
    language: str = "en",
    *,
    image: bytes | None = None,
    root: Path | None = None,
    interface: str = "en",
    where: str = "the image",
) -> list[Remark]:
    """Return remarks on an alt-text, by their outcome: failed, could be better, passed, not checked.

    Args:
        language: of the text: en or pt.
        image: the image's file, whose format, size and content are compared with an English text.
        root: of the project; None for the one around the current folder.
        interface: language of the remarks: en or pt.
        where: the image's name in errors.

    Raises:
        HearsightError: the text is empty or too long, a language is unknown, or the image is unusable.
    """
    for value in (language, interface):
        if value not in LANGUAGES:
            raise HearsightError(f"'{value}' is not a language here", where="feedback", hint=f"write {' or '.join(LANGUAGES)}")
    folded = fold(text[: MOST + 1])
    if not folded:
        raise HearsightError("is empty", where="the text", hint="give an alt-text")
    if len(text) > MOST:
        raise HearsightError(f"has more than {MOST:,} characters", where="the text", hint="shorten it")
    if image is not None and language != "en":
        raise HearsightError("an image is compared with English texts only", where=where, hint="leave it out")
    root = root or find_root()
    english = language == "en"
    remarks = english_remarks(root, folded, image, interface, where) if english else portuguese_remarks(folded, interface)
    remarks += check_guidelines(text, language, interface)
    return sorted(remarks, key=lambda remark: OUTCOMES.index(remark.outcome))


DATASET = "paper"
"""The dataset whose settings apply: those that CC publishes."""
SURE = 0.5
"""Probability from which a text counts as Portuguese. The stage, which drops what is surely foreign, has a lower one."""


HEADINGS = {
    "en": dict(zip(OUTCOMES, ("Not met", "Could be better", "Passes", "Not checked"), strict=True)),
    "pt": dict(zip(OUTCOMES, ("Não cumprido", "Pode melhorar", "Passa", "Não verificado"), strict=True)),
}


def remarks_text(remarks: Sequence[Remark], interface: str, *, every: bool = False) -> str:
    """Return remarks as text: those on what to change; of the others the numbers, or with ``every`` all."""
    lines, numbers = [], []
    for outcome, heading in HEADINGS[interface].items():
        chosen = [remark for remark in remarks if remark.outcome == outcome]
        if chosen and (every or outcome in ("failed", "advice")):
            lines.append(heading)
            for remark in chosen:
                lines.append(f"  {remark.text}{f' ({remark.detail})' if remark.detail else ''} [{remark.source}]")
        elif chosen:
            numbers.append(f"{heading}: {len(chosen)}")
    return "\n".join([*lines, *([f"{'. '.join(numbers)}. (--all)"] if numbers else [])])


def english_remarks(root: Path, text: str, image: bytes | None, interface: str, where: str) -> list[Remark]:
    """Return a remark for each rule of CC's filter that asks for something; without an image for those on texts.

    Raises:
        HearsightError: the image is unusable.
    """
    params: Any = stage_params(root / "params.yaml", load_graph(root).params, DATASET, "filter", filtering.Params)
    subject = make_subject(text, load_boilerplate(params.language), params.max_characters)
    if image is not None:
        opened = require_image(image, where)
        subject = replace(subject, format=opened.format, width=opened.width, height=opened.height)
    plan = plan_for(root, ProviderParams(), params.language, None, params.image_text)
    providers, remarks = make_providers(plan, root), []
    for group in TEXT_GROUPS if image is None else GROUPS:
        for role, provider in providers_of(group, providers).items():
            stored = provider.annotator.compute(payload_of(role, subject.text, image))
            set_annotation(subject, role, provider, stored, params)
        for rule in GROUPS[group]:
            found = rule.test(subject, params)
            if found.threshold != ANYTHING and rule.name != "page_language":  # there is no page
                remarks.append(_remark(rule, found, subject, params, interface))
    return remarks


def _remark(rule: Rule, found: Finding, subject: Subject, params: Any, interface: str) -> Remark:
    within = allowed(format_value(found.threshold), setting_names(DATASET, "filter", rule.settings))
    detail = rule.describe(subject, params) if rule.describe else "; ".join(filter(None, (format_value(found.value), within)))
    text = rule.portuguese if interface == "pt" and rule.portuguese else rule.meaning
    return Remark("rule", rule.name, found.passed, text, detail, "CC §3")


def portuguese_remarks(text: str, interface: str) -> list[Remark]:
    """Return a remark for each rule of PCV's extraction that a description alone can break (PCV §4.3)."""
    params, words = extract_descriptions.Params(), words_of(text)
    probability = language_probability(text, params.language)
    most = params.max_characters
    stated = {
        "en": ("The text has more than {} words.", "The text is in Portuguese.", "The text is not too long."),
        "pt": ("O texto tem mais de {} palavras.", "O texto está em português.", "O texto não é longo demais."),
    }[interface]
    measured = {
        "en": ("words: {}", "probability: {:.2f}, at least {}", "characters: {}, at most {}"),
        "pt": ("palavras: {}", "probabilidade: {:.2f}, no mínimo {}", "caracteres: {}, no máximo {}"),
    }[interface]
    rules = (
        ("too_short", len(words) > params.min_words, stated[0].format(params.min_words), measured[0].format(len(words))),
        ("not_portuguese", probability >= SURE, stated[1], measured[1].format(probability, SURE)),
        ("too_long", len(text) <= most, stated[2], measured[2].format(len(text), most)),
    )
    return [Remark("rule", name, passed, text, detail, "PCV §4.3", language=interface) for name, passed, text, detail in rules]
