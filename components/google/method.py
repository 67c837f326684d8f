"""The interface between the client and one method of a Google Cloud service, and the form of a refusal.

The client knows libraries, credentials, retries and quotas; a method knows what to send and which fields to keep.
This module imports nothing of the client: cached answers are keyed by the version of the annotator's code, and a change of
the client must not make paid answers be requested again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

INVALID_ARGUMENT = 3
"""google.rpc.Code of a request that can never be answered."""


class Method(Protocol):
    """One method of a service."""

    service: str
    """``language``, ``vision`` or ``texttospeech``."""
    rpc: str
    """The method's name in the service's library."""
    most: int
    """Maximum number of items per request."""
    room: int
    """Maximum size of all items of a request, in bytes."""

    def item(self, payload: Any) -> str | bytes | None:
        """Return what is sent for a payload, or None for nothing to send."""
        ...

    def body(self, items: Sequence[Any]) -> dict[str, Any]:
        """Return the request, by the names of its fields."""
        ...

    def answers(self, answer: dict[str, Any], number: int) -> list[dict[str, Any]] | None:
        """Return the answer to each of the ``number`` items, errors included, from JSON without default values.

        Returns None, or raises ValueError with the reason, for an answer that is not of the documented form; the client then
        sends the request again.
        """
        ...

    def units(self, item: Any) -> dict[str, int]:
        """Return feature → units that Google bills for an answered item."""
        ...


class Requester(Protocol):
    """The part of the client that a method uses."""

    def ask(self, method: Method, payloads: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield (key, answer) for each (key, payload), in any order."""
        ...


def refusal_answer(code: int, message: str) -> dict[str, Any]:
    """Return the answer stored for an item that Google refuses, in the form of Vision's errors."""
    return {"error": {"code": code, "message": message}}


def refusal_reason(answer: Any) -> str:
    """Return why Google gave no answer for an item; empty for an answer."""
    error = answer.get("error") if isinstance(answer, dict) else None
    if not error:
        return ""
    if not isinstance(error, dict):
        return "error"
    return " ".join(f"{error.get('code', '')} {error.get('message', '')}".split())[:200] or "error"


def request_one(requester: Requester, method: Method, payload: Any) -> dict[str, Any]:
    """Return the answer for a single payload."""
    return dict(requester.ask(method, [("", payload)]))[""]
