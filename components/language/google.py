"""Google Cloud Natural Language v1, as annotators: syntax with entities, sentiment, moderation.

Source: the documented forms of ``documents:annotateText`` and ``documents:moderateText``. An annotator's result is
Google's own answer, so a change of how it is read (``google_parse.py``) asks and pays for nothing again. Sentiment is
asked apart from syntax: Google counts by the feature, and far fewer texts live until they are parsed.
Offsets are asked in UTF-32 code units, which are Python's characters. An answer has no fields of default values: no grammar
that Google says it does not know, which is two thirds of its JSON.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from components.google.method import Requester, request_one

SYNTAX_CHARACTERS = 1000
"""Characters a unit of every feature but moderation, begun units counted whole."""
MODERATION_CHARACTERS = 100
"""Characters a unit of moderation."""


class GoogleText:
    """What the three have in common: a text a request."""

    name = ""
    version = 1
    model = "language-v1"
    codec = "json"
    service, rpc, most, room = "language", "annotate_text", 1, 900_000
    features: Mapping[str, bool] = {}
    """What ``annotate_text`` is asked for."""
    needed = ""
    """The field without which an answer is none."""
    kept: tuple[str, ...] = ()
    """The fields that are kept."""

    def __init__(self, asker: Requester, language: str) -> None:
        self.asker, self.language = asker, language
        self.name = f"{type(self).name}.{language}"

    def compute(self, payload: str) -> dict[str, Any]:
        """Google's answer for one text."""
        return request_one(self.asker, self, payload)

    def ask_many(self, payloads: Iterable[tuple[str, str]]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Google's answer for each text."""
        return self.asker.ask(self, payloads)

    def item(self, payload: str) -> str | None:
        """Return the text; None for a blank one."""
        return printable(payload)

    def body(self, items: Sequence[str]) -> dict[str, Any]:
        """Return the request for one text."""
        document = {"type_": "PLAIN_TEXT", "language": self.language, "content": items[0]}
        return {"document": document, "features": self.features, "encoding_type": "UTF32"}

    def answers(self, answer: dict[str, Any], number: int) -> list[dict[str, Any]] | None:
        """Return the fields of the answer that are kept."""
        return [{name: answer[name] for name in self.kept if name in answer}] if self.needed in answer else None

    def units(self, item: str) -> dict[str, int]:
        """Feature → the units of a text that Google counts."""
        raise NotImplementedError


class GoogleSyntax(GoogleText):
    """``documents:annotateText`` with syntax and entities."""

    name = "google.syntax"
    features: Mapping[str, bool] = {"extract_syntax": True, "extract_entities": True}
    needed, kept = "tokens", ("tokens", "entities")

    def units(self, item: str) -> dict[str, int]:
        """One a begun 1,000 characters for each feature."""
        units = begun(item, SYNTAX_CHARACTERS)
        return {"syntax": units, "entities": units}


class GoogleSentiment(GoogleText):
    """``documents:annotateText`` with the document's sentiment: score and magnitude."""

    name = "google.sentiment"
    features: Mapping[str, bool] = {"extract_document_sentiment": True}
    needed, kept = "documentSentiment", ("documentSentiment",)

    def units(self, item: str) -> dict[str, int]:
        """One a begun 1,000 characters."""
        return {"sentiment": begun(item, SYNTAX_CHARACTERS)}


class GoogleModeration(GoogleText):
    """``documents:moderateText``: how sure Google is of each harmful category."""

    name = "google.moderation"
    rpc = "moderate_text"
    needed, kept = "moderationCategories", ("moderationCategories",)

    def body(self, items: Sequence[str]) -> dict[str, Any]:
        """Return the request for one text."""
        return {"document": super().body(items)["document"]}

    def units(self, item: str) -> dict[str, int]:
        """One a begun 100 characters."""
        return {"moderation": begun(item, MODERATION_CHARACTERS)}


def begun(text: str, size: int) -> int:
    """Return how many units of ``size`` characters a text is, the last one counted whole."""
    return -(-len(text) // size)


def printable(text: str) -> str | None:
    """Return the text with control characters and lone surrogates as white space, as the embedded parser reads it."""
    clean = "".join(char if char.isprintable() else " " for char in text)
    return clean if clean.strip() else None
