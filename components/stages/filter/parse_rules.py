"""Rules on the parsed text: a well-formed caption (CC section 3, first item of the text-based filtering)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.stages.filter.rules import Finding, Rule, Subject

if TYPE_CHECKING:
    from components.stages.filter import Params

PARTS: dict[str, tuple[str, ...]] = {"determiner": ("DET",), "noun": ("NOUN", "PROPN"), "preposition": ("ADP",)}
"""The parts of speech a caption may be asked to have, as universal tags."""
POSSESSIVE = frozenset({"PRP$", "WP$"})
"""Penn tags of possessive determiners ("his", "whose"), which the universal tags call pronouns."""
OPEN = frozenset({"NOUN", "PROPN", "VERB", "ADJ", "ADV"})
"""Tags whose words should differ; function words may recur."""
SILENT = frozenset({"PUNCT", "SPACE", "SYM", "X"})


def _needs(subject: Subject, params: Params, part: str) -> Finding:
    found = [tag for tag in _tags(subject) if tag in PARTS[part]]
    if part == "determiner" and subject.parse is not None:
        found += [tag for tag in subject.parse["tag"] if tag in POSSESSIVE]
    asked = part in params.require
    return Finding(bool(found) or not asked, len(found), ">= 1" if asked else ">= 0")


def needs_determiner(subject: Subject, params: Params) -> Finding:
    """A determiner, when required."""
    return _needs(subject, params, "determiner")


def needs_noun(subject: Subject, params: Params) -> Finding:
    """A noun, common or proper, when required."""
    return _needs(subject, params, "noun")


def needs_preposition(subject: Subject, params: Params) -> Finding:
    """A preposition, when required."""
    return _needs(subject, params, "preposition")


def noun_ratio(subject: Subject, params: Params) -> Finding:
    """The share of nouns, of all words, may not be greater."""
    tags = _tags(subject)
    ratio = sum(tag in PARTS["noun"] for tag in tags) / max(1, len(tags))
    return Finding(ratio <= params.max_noun_ratio, ratio, f"<= {params.max_noun_ratio}")


def unique_words(subject: Subject, params: Params) -> Finding:
    """Of the words of each open part of speech, so large a share must be distinct (by lemma): the lowest share counts."""
    parse = subject.parse
    lemmas: dict[str, list[str]] = {}
    if parse is not None:
        for pos, lemma in zip(parse["pos"], parse["lemma"], strict=True):
            if pos in OPEN:
                lemmas.setdefault(pos, []).append(lemma.lower())
    ratio = min((len(set(words)) / len(words) for words in lemmas.values()), default=0.0)
    return Finding(ratio >= params.min_unique_ratio, ratio, f">= {params.min_unique_ratio}")


def _tags(subject: Subject) -> list[str]:
    return [tag for tag in subject.parse["pos"] if tag not in SILENT] if subject.parse is not None else []


PARSE_RULES = (
    Rule("needs_determiner", needs_determiner),
    Rule("needs_noun", needs_noun),
    Rule("needs_preposition", needs_preposition),
    Rule("noun_ratio", noun_ratio),
    Rule("unique_words", unique_words),
)
"""Need the parse."""
