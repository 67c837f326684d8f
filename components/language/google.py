"""Google Cloud Natural Language v1 as annotators: syntax with entities, sentiment, moderation.

Source: the documented forms of ``documents:annotateText`` and ``documents:moderateText``. The result is Google's answer, so a
change of its reader (``google_parse.py``) needs no new request. Sentiment is requested separately from syntax: Google bills
by feature, and far fewer texts reach the parse. Offsets are in UTF-32 code units, Python's characters. Fields with default
values are omitted, which are two thirds of the JSON.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from components.google.method import Requester, request_one


class GoogleText:
    """Base of the three annotators: one text per request."""

    name = ""
    version = 1
    model = "language-v1"
    codec = "json"
    service, rpc, most, room = "language", "annotate_text", 1, 900_000
    features: Mapping[str, bool] = {}
    """The features requested from ``annotate_text``."""
    needed = ""
    """The field that a valid answer has."""
    kept: tuple[str, ...] = ()
    """The fields that are stored."""
    billed: tuple[str, ...] = ()
    """The features that are billed."""
    unit_characters = 1000
    """Characters per billed unit, rounded up."""

    def __init__(self, asker: Requester, language: str) -> None:
        self.asker, self.language = asker, language
        self.name = f"{type(self).name}.{language}"

    def compute(self, payload: str) -> dict[str, Any]:
        """Return Google's answer for one text."""
        return request_one(self.asker, self, payload)

    def ask_many(self, payloads: Iterable[tuple[str, str]]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield Google's answer for each text."""
        return self.asker.ask(self, payloads)

    def item(self, payload: str) -> str | None:
        """Return the text; None for a blank one."""
        return printable(payload)

    def body(self, items: Sequence[str]) -> dict[str, Any]:
        """Return the request for one text."""
        document = {"type_": "PLAIN_TEXT", "language": self.language, "content": items[0]}
        return {"document": document, "features": self.features, "encoding_type": "UTF32"}

    def answers(self, answer: dict[str, Any], number: int) -> list[dict[str, Any]] | None:
        """Return the stored fields of the answer, or None for an invalid one."""
        return [{name: answer[name] for name in self.kept if name in answer}] if self.needed in answer else None

    def units(self, item: str) -> dict[str, int]:
        """Return feature → billed units of a text."""
        return dict.fromkeys(self.billed, -(-len(item) // self.unit_characters))


class GoogleSyntax(GoogleText):
    """``documents:annotateText`` with syntax and entities."""

    name = "google.syntax"
    features: Mapping[str, bool] = {"extract_syntax": True, "extract_entities": True}
    needed, kept = "tokens", ("tokens", "entities")
    billed = ("syntax", "entities")


class GoogleSentiment(GoogleText):
    """``documents:annotateText`` with the document's sentiment: score and magnitude."""

    name = "google.sentiment"
    features: Mapping[str, bool] = {"extract_document_sentiment": True}
    needed, kept = "documentSentiment", ("documentSentiment",)
    billed = ("sentiment",)


class GoogleModeration(GoogleText):
    """``documents:moderateText``: the confidence of each harmful category."""

    name = "google.moderation"
    rpc = "moderate_text"
    needed, kept = "moderationCategories", ("moderationCategories",)
    billed, unit_characters = ("moderation",), 100

    def body(self, items: Sequence[str]) -> dict[str, Any]:
        """Return the request for one text."""
        return {"document": super().body(items)["document"]}


def printable(text: str) -> str | None:
    """Return the text with control characters and lone surrogates as spaces, as in the embedded parser; None if blank."""
    clean = "".join(char if char.isprintable() else " " for char in text)
    return clean if clean.strip() else None
