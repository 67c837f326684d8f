"""Simple checks of what a description contains, by word lists and, in English, parts of speech.

The lists and the texts of the remarks are in ``data/guidelines.yaml``. A check finds words, not meaning: what it cannot decide is
in ``unchecked``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple

import yaml

from components.core.params import YAML_LOADER
from components.language.parser import EnglishParser
from components.language.words import words_of

Kind = Literal["rule", "guideline", "unchecked"]


class Remark(NamedTuple):
    """What a check says about a text, in the language of the interface."""

    kind: Kind
    """A filter rule, a guideline for descriptions, or something that is not checked."""
    name: str
    passed: bool | None
    """None for what is not checked."""
    text: str
    """The requirement in plain words; of a guideline that is missed, what is missing."""
    detail: str
    """What was measured and what is allowed, or the words that were found; may be empty."""
    source: str
    """Where the requirement is from."""

    def plain(self) -> dict[str, Any]:
        """Return the remark as JSON values."""
        return self._asdict()


DATA = Path(__file__).parent / "data"
LEAST_WORDS, LONGEST_SENTENCE, EARLY = 8, 25, 8
"""Words of a text at least; of a sentence at most; first words in which the kind of image is named."""
LONGEST = 10_000
"""Characters that are read."""
_MARKS = re.compile(r"(?:https?://|www\.)\S+|[#@]\w+")
_SENTENCE = re.compile(r"[.!?;…]+(?=\s|$)|\n+")
_GERUND = re.compile(r"[^\W\d_]{2,}(?:ando|endo|indo|ondo)\Z")
"""Portuguese gerunds: segurando, comendo, sorrindo."""


class Text(NamedTuple):
    """A text as the checks read it."""

    raw: str
    language: str
    words: list[str]
    """In lower case, as written."""


class Finding(NamedTuple):
    """Whether a text passes, and the words that decided."""

    passed: bool
    words: str = ""


@cache
def load_guidelines() -> dict[str, Any]:
    """Return the guidelines' texts, sources and word lists."""
    guidelines: dict[str, Any] = yaml.load((DATA / "guidelines.yaml").read_text(encoding="utf-8"), YAML_LOADER)
    return guidelines


def check_guidelines(text: str, language: str, interface: str) -> list[Remark]:
    """Return a remark for each guideline, and for what is not checked.

    Args:
        language: of the text: en or pt.
        interface: language of the remarks: en or pt.
    """
    guidelines, read = load_guidelines(), _read(text, language)
    remarks = []
    for name, check in CHECKS.items():
        if name == "subject" and language != "en":
            continue
        requirement, advice = guidelines[name][interface]
        found = check(read)
        stated = requirement if found.passed else f"{requirement} {advice}"
        remarks.append(Remark("guideline", name, found.passed, stated, found.words, guidelines[name]["source"]))
    left_out = () if language == "pt" else ("portuguese_subject", "english_rules")
    for name, about in guidelines["unchecked"].items():
        if name not in left_out:
            remarks.append(Remark("unchecked", name, None, about[interface], "", about["source"]))
    return remarks


def _read(text: str, language: str) -> Text:
    raw = unicodedata.normalize("NFC", text[:LONGEST])
    return Text(raw, language, [word.lower() for word in words_of(raw)])


def _listed(text: Text, name: str, first: int | None = None) -> list[str]:
    """Return the listed words and phrases that occur among the first words, in the order of the list."""
    spoken = f" {' '.join(text.words[:first])} "
    listed = load_guidelines()[name]["words"].get(text.language, ())
    return [words for words in listed if f" {words} " in spoken]


def _has(name: str, first: int | None = None) -> Callable[[Text], Finding]:
    def check(text: Text) -> Finding:
        found = _listed(text, name, first)
        return Finding(bool(found), ", ".join(found))

    return check


def _has_no(name: str) -> Callable[[Text], Finding]:
    def check(text: Text) -> Finding:
        found = _listed(text, name)
        return Finding(not found, ", ".join(found))

    return check


def _tagged(text: Text, tags: tuple[str, ...]) -> list[str]:
    parse = EnglishParser().compute(text.raw)
    return [word for word, tag in zip(parse["text"], parse["pos"], strict=True) if tag in tags]


def _subject(text: Text) -> Finding:
    # The kind of image is a noun too, and names nobody.
    kinds = load_guidelines()["kind"]["words"]["en"]
    nouns = [word for word in _tagged(text, ("NOUN", "PROPN")) if word.lower() not in kinds]
    return Finding(bool(nouns), ", ".join(nouns))


def _action(text: Text) -> Finding:
    found = _tagged(text, ("VERB",)) if text.language == "en" else []
    if text.language == "pt":
        found = _listed(text, "action") + [word for word in text.words if _GERUND.match(word)]
    return Finding(bool(found), ", ".join(found))


def _length(text: Text) -> Finding:
    return Finding(len(text.words) >= LEAST_WORDS, str(len(text.words)))


def _sentences(text: Text) -> Finding:
    longest = max((len(words_of(part)) for part in _SENTENCE.split(text.raw)), default=0)
    return Finding(longest <= LONGEST_SENTENCE, str(longest))


def _marks(text: Text) -> Finding:
    found = _MARKS.findall(text.raw)
    found += [char for char in text.raw if unicodedata.category(char) == "So"]
    return Finding(not found, ", ".join(found[:10]))


def _repetition(text: Text) -> Finding:
    found = [word for word, following in pairwise(text.words) if word == following]
    return Finding(not found, ", ".join(dict.fromkeys(found)))


CHECKS: dict[str, Callable[[Text], Finding]] = {
    "kind": _has("kind", EARLY),
    "subject": _subject,
    "action": _action,
    "attributes": _has("attributes"),
    "place": _has("place"),
    "opinion": _has_no("opinion"),
    "length": _length,
    "sentences": _sentences,
    "marks": _marks,
    "repetition": _repetition,
}
"""Guideline → its check, in the order of the remarks."""
