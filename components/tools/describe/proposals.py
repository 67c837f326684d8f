"""Checks of what a model from elsewhere proposes for an image, before anybody sees it.

Such a model may name people, follow orders that stand in an image, answer in another language, or see what is not there. A text
with a name, in another language, or that breaks a rule of the filter on texts (English only) is dropped. One whose nouns the
filter's labels do not recognise in the image (``vision.evidence``; English only) stays, and is not sure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from components.core.ledger import format_value
from components.language.capitals import begins_sentence, is_initialism
from components.language.identification import identify
from components.language.parser import EnglishParser, Parse, nouns_of
from components.language.wordnet import load_wordnet
from components.language.words import words_of
from components.stages.filter import Params
from components.stages.filter.boilerplate import crop, load_boilerplate
from components.stages.filter.cascade import GROUPS, make_subject
from components.stages.filter.rules import first_failure
from components.vision.evidence import mean_evidence, noun_evidence
from components.vision.recognition import ImageRecognizer

MOST_WORDS, LEAST_WORDS = 60, 2
LEAST_LANGUAGE = 0.1
"""Probability of the language asked for, at least: a sentence in another language has less. Ours."""
NAMED = frozenset({"PERSON", "ORG", "GPE", "LOC", "FAC", "EVENT", "WORK_OF_ART", "PRODUCT", "LAW"})
"""Entity types (OntoNotes) of names."""
_ANNOUNCED = {
    "en": r"(?:(?:this|the|an?) )?(?:image|picture|photo|photograph) (?:of|shows?|showing|depicts?|depicting)\b",
    "pt": r"(?:(?:esta|est[ae]|a|uma) )?(?:imagem|foto|fotografia) (?:de|do|da|mostra|mostrando|que mostra)\b",
    "fr": r"(?:(?:cette|l['’]|la|une) ?)?(?:image|photo|photographie) (?:de|du|montre|montrant|qui montre)\b|une? photo d['’]",
    "es": r"(?:(?:esta|la|una) )?(?:imagen|foto|fotografía) (?:de|del|muestra|mostrando|que muestra)\b",
}
"""Language → matches words at the beginning that say only that there is an image."""
_NO_TEXT = re.compile(r"https?://|www\.|@\w|[<>{}\[\]|`#*_\\]|\n")
"""Matches addresses and marks that no description has."""


class CheckedProposal(NamedTuple):
    """A proposal after the checks."""

    text: str
    """Without "an image of" and other boiler-plate; empty if it is dropped."""
    failed: str = ""
    """The check that it fails: a name of a note in ``wording``; empty for none."""
    value: str = ""
    """What failed it."""
    nouns: tuple[str, ...] = ()
    """The nouns of an English text."""


def check_proposal(text: str, language: str) -> CheckedProposal:
    """Return a proposal without boiler-plate, or why it is dropped.

    Args:
        language: of the caption, ISO 639-1.
    """
    plain = " ".join(text.split())
    if found := _NO_TEXT.search(plain):
        return CheckedProposal("", "form", repr(found[0]))
    announced = re.match(_ANNOUNCED[language], plain, re.IGNORECASE)
    cropped = crop(plain[announced.end() :].lstrip() if announced else plain, load_boilerplate(language)).text
    words = words_of(cropped)
    if not LEAST_WORDS <= len(words) <= MOST_WORDS:
        return CheckedProposal("", "length", str(len(words)))
    if identify(cropped, language).probability < LEAST_LANGUAGE:
        return CheckedProposal("", "language")
    if language != "en":
        name = _capital_inside(cropped)
        return CheckedProposal("", "names", name) if name else CheckedProposal(cropped)
    parse = EnglishParser().compute(cropped)
    for start, end, kind in parse["entities"]:
        if kind in NAMED and "PROPN" in parse["pos"][start:end]:
            return CheckedProposal("", "names", " ".join(parse["text"][start:end]))
    if broken := _broken_rule(cropped, parse):
        return CheckedProposal("", "form", broken)
    return CheckedProposal(cropped, nouns=tuple(nouns_of(parse)))


def _broken_rule(text: str, parse: Parse) -> str:
    """Return the first rule of the filter on texts that an English text breaks, and its value; empty for none."""
    params = Params()
    subject = make_subject(text, load_boilerplate("en"), params.max_characters)
    subject.language, subject.parse = "en", parse
    failure = first_failure(subject, [*GROUPS["text"], *GROUPS["parse"]], params)
    return f"{failure[0]}: {format_value(failure[1].value)}" if failure else ""


def _capital_inside(text: str) -> str:
    """Return the first word with a capital inside a sentence that is no initialism; empty without one."""
    tokens = re.findall(r"\w+(?:[-'’]\w+)*|[^\w\s]", text)
    inside = (word for place, word in enumerate(tokens) if not begins_sentence(tokens, place))
    return next((word for word in inside if word[:1].isupper() and not is_initialism(word)), "")


def is_seen(nouns: Sequence[str], data: bytes) -> bool:
    """Return whether English nouns are likely of an image, as the filter asks; True without a noun to be seen."""
    evidence = noun_evidence(nouns, ImageRecognizer().compute(data), load_wordnet())
    return not evidence or mean_evidence(evidence) >= Params().min_evidence
