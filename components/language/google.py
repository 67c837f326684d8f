"""Google Cloud Natural Language v1 over REST, as annotators: syntax with entities, sentiment, moderation.

Source: the documented forms of ``documents:annotateText`` and ``documents:moderateText``. An annotator's result is
Google's own answer, so a change of how it is read (``google_parse.py``) asks and pays for nothing again. Sentiment is
asked apart from syntax: Google counts by the feature, and far fewer texts live until they are parsed.
Offsets are asked in UTF-32 code units, which are Python's characters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from components.google.method import Asker, alone

SYNTAX_CHARACTERS = 1000
"""Characters a unit of every feature but moderation, begun units counted whole."""
MODERATION_CHARACTERS = 100
"""Characters a unit of moderation."""


class GoogleSyntax:
    """``documents:annotateText`` with syntax and entities."""

    name = "google.syntax"
    version = 1
    model = "language-v1"
    codec = "json"
    service, path, most, room = "language", "/v1/documents:annotateText", 1, 900_000

    def __init__(self, asker: Asker, language: str) -> None:
        self.asker, self.language = asker, language
        self.name = f"{type(self).name}.{language}"

    def compute(self, payload: str) -> dict[str, Any]:
        """Google's answer for one text."""
        return alone(self.asker, self, payload)

    def ask_many(self, payloads: Iterable[tuple[str, str]]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Google's answer for each text."""
        return self.asker.ask(self, payloads)

    def item(self, payload: str) -> str | None:
        """The text; None for a blank one."""
        return printable(payload)

    def body(self, items: Sequence[str]) -> dict[str, Any]:
        """The request for one text."""
        return _annotate(items[0], self.language, extractSyntax=True, extractEntities=True)

    def answers(self, answer: dict[str, Any], number: int) -> list[dict[str, Any]] | None:
        """Tokens and entities, without the grammar that Google says it does not know."""
        if not isinstance(answer.get("tokens"), list):
            return None
        return [_known({name: answer[name] for name in ("tokens", "entities") if name in answer})]

    def units(self, item: str) -> dict[str, int]:
        """One a begun 1,000 characters for each feature."""
        units = begun(item, SYNTAX_CHARACTERS)
        return {"syntax": units, "entities": units}


class GoogleSentiment:
    """``documents:annotateText`` with the document's sentiment."""

    name = "google.sentiment"
    version = 1
    model = "language-v1"
    codec = "json"
    service, path, most, room = "language", "/v1/documents:annotateText", 1, 900_000

    def __init__(self, asker: Asker, language: str) -> None:
        self.asker, self.language = asker, language
        self.name = f"{type(self).name}.{language}"

    def compute(self, payload: str) -> dict[str, Any]:
        """Google's answer for one text."""
        return alone(self.asker, self, payload)

    def ask_many(self, payloads: Iterable[tuple[str, str]]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Google's answer for each text."""
        return self.asker.ask(self, payloads)

    def item(self, payload: str) -> str | None:
        """The text; None for a blank one."""
        return printable(payload)

    def body(self, items: Sequence[str]) -> dict[str, Any]:
        """The request for one text."""
        return _annotate(items[0], self.language, extractDocumentSentiment=True)

    def answers(self, answer: dict[str, Any], number: int) -> list[dict[str, Any]] | None:
        """The document's score and magnitude."""
        found = answer.get("documentSentiment")
        return [{"documentSentiment": found}] if isinstance(found, dict) else None

    def units(self, item: str) -> dict[str, int]:
        """One a begun 1,000 characters."""
        return {"sentiment": begun(item, SYNTAX_CHARACTERS)}


class GoogleModeration:
    """``documents:moderateText``: how sure Google is of each harmful category."""

    name = "google.moderation"
    version = 1
    model = "language-v1"
    codec = "json"
    service, path, most, room = "language", "/v1/documents:moderateText", 1, 900_000

    def __init__(self, asker: Asker, language: str) -> None:
        self.asker, self.language = asker, language
        self.name = f"{type(self).name}.{language}"

    def compute(self, payload: str) -> dict[str, Any]:
        """Google's answer for one text."""
        return alone(self.asker, self, payload)

    def ask_many(self, payloads: Iterable[tuple[str, str]]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Google's answer for each text."""
        return self.asker.ask(self, payloads)

    def item(self, payload: str) -> str | None:
        """The text; None for a blank one."""
        return printable(payload)

    def body(self, items: Sequence[str]) -> dict[str, Any]:
        """The request for one text."""
        return {"document": _document(items[0], self.language)}

    def answers(self, answer: dict[str, Any], number: int) -> list[dict[str, Any]] | None:
        """The categories."""
        found = answer.get("moderationCategories")
        return [{"moderationCategories": found}] if isinstance(found, list) else None

    def units(self, item: str) -> dict[str, int]:
        """One a begun 100 characters."""
        return {"moderation": begun(item, MODERATION_CHARACTERS)}


def begun(text: str, size: int) -> int:
    """How many units of ``size`` characters a text is, the last one counted whole."""
    return -(-len(text) // size)


def printable(text: str) -> str | None:
    """The text with control characters and lone surrogates as white space, as the embedded parser reads it."""
    clean = "".join(char if char.isprintable() else " " for char in text)
    return clean if clean.strip() else None


def _document(text: str, language: str) -> dict[str, str]:
    return {"type": "PLAIN_TEXT", "language": language, "content": text}


def _annotate(text: str, language: str, **features: bool) -> dict[str, Any]:
    return {"document": _document(text, language), "features": features, "encodingType": "UTF32"}


def _known(value: Any) -> Any:
    """Without the fields whose value is ``..._UNKNOWN``: two thirds of an answer, and they say nothing."""
    if isinstance(value, dict):
        return {
            name: _known(inner) for name, inner in value.items() if not (isinstance(inner, str) and inner.endswith("_UNKNOWN"))
        }
    return [_known(inner) for inner in value] if isinstance(value, list) else value
