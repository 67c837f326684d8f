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

from components.core.params import read_yaml
from components.language.parser import EnglishParser
from components.language.words import words_of, zipf
from components.stages.filter.vocabulary import MAX_UNSEEN, unseen_share

Kind = Literal["rule", "guideline", "unchecked"]
Outcome = Literal["failed", "advice", "passed", "unchecked"]
OUTCOMES: tuple[Outcome, ...] = ("failed", "advice", "passed", "unchecked")
"""In the order in which they matter to a writer."""


class Remark(NamedTuple):
    """What a check says about a text, in the language of the interface."""

    kind: Kind
    """A filter rule, a guideline for descriptions, or something that is not checked."""
    name: str
    passed: bool | None
    """None for what is not checked."""
    text: str
    """The requirement in plain words; of a guideline that is missed, what to do."""
    detail: str
    """What was measured and what is allowed, or the words that were found; may be empty."""
    source: str
    """Where the requirement is from."""
    advice: bool = False
    """Whether a text that does not pass could be better, but is usable."""
    language: str = "en"
    """Of the detail: that of the text where it is quoted."""

    @property
    def outcome(self) -> Outcome:
        """One of :data:`OUTCOMES`."""
        if self.passed is None:
            return "unchecked"
        return "passed" if self.passed else "advice" if self.advice else "failed"


LANGUAGES = ("en", "pt")
"""Of texts and remarks (ISO 639-1)."""
DATA = Path(__file__).parent / "data"
LEAST_WORDS, LONGEST_SENTENCE, EARLY, BEGINNING = 8, 25, 8, 3
"""Words of a text at least; of a sentence at most; first words in which the kind of image is named; first words in which "photo
of" is superfluous."""
_MARKS = re.compile(r"(?:https?://|www\.)\S+|[#@]\w+")
_NO_NAME = re.compile(r"\d|_|\.\w|://|^[#@]|^[^\W\d_]$|^[a-f]{8,}$|^[b-df-hj-np-tv-xz]{4,}$", re.IGNORECASE)
"""Matches what names nothing in any language: numbers and codes, names of files and cameras, addresses, handles, single letters,
digests, and long words without a vowel."""
_EDGES = re.compile(r"^[^\w#@]+|[\W_]+$")
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
    """Whether a text passes, and the words that decided, or their number."""

    passed: bool
    words: str = ""


@cache
def load_guidelines() -> dict[str, Any]:
    """Return the guidelines' texts, sources and word lists."""
    guidelines: dict[str, Any] = read_yaml(DATA / "guidelines.yaml")
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
        about = guidelines[name]
        found = check(read) if language in about.get("texts", LANGUAGES) else None
        if found is None:
            continue
        requirement, advice = about[interface]
        optional = not about.get("required", False)
        stated = requirement if found.passed else advice if optional else f"{requirement} {advice}"
        counted = about.get("counted", {}).get(interface)
        detail, spoken = (counted.format(found.words), interface) if counted else (found.words, language)
        remarks.append(Remark("guideline", name, found.passed, stated, detail, about["source"], optional, spoken))
    named = {remark.name for remark in remarks}
    for name, about in guidelines["unchecked"].items():
        if language in about.get("texts", LANGUAGES) and about.get("unless") not in named:
            remarks.append(Remark("unchecked", name, None, about[interface], "", about["source"]))
    return remarks


def _read(text: str, language: str) -> Text:
    raw = unicodedata.normalize("NFC", text)
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


def _has_no(name: str, first: int | None = None) -> Callable[[Text], Finding]:
    def check(text: Text) -> Finding:
        found = _listed(text, name, first)
        return Finding(not found, ", ".join(found))

    return check


def _tagged(text: Text, tags: tuple[str, ...]) -> list[str]:
    parse = EnglishParser().compute(text.raw)
    return [word for word, tag in zip(parse["text"], parse["pos"], strict=True) if tag in tags]


def _subject(text: Text) -> Finding | None:
    """Find what a text names; None for a Portuguese one that may name something, which takes a parser to decide."""
    tokens = [_EDGES.sub("", token) for token in text.raw.split()]
    # The kind of image and "untitled" are words too, and name nobody.
    empty = {*load_guidelines()["kind"]["words"][text.language], *load_guidelines()["subject"]["words"][text.language]}
    named = [token for token in tokens if token and not _NO_NAME.search(token) and token.lower() not in empty]
    if named and text.language == "en":
        written = text._replace(raw=" ".join(token for token in text.raw.split() if not _NO_NAME.search(_EDGES.sub("", token))))
        nouns = [word for word in _tagged(written, ("NOUN", "PROPN")) if word.lower() not in empty]
        named = [word for word in nouns if zipf(word) or unseen_share(word) <= MAX_UNSEEN]
    return None if named and text.language == "pt" else Finding(bool(named), ", ".join(named))


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


CHECKS: dict[str, Callable[[Text], Finding | None]] = {
    "kind": _has("kind", EARLY),
    "announced": _has_no("announced", BEGINNING),
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
"""Guideline → its check; None where it cannot decide."""
