"""What one method of a Google Cloud service is to the client that asks it, and what an answer is that says no.

The client knows Google's libraries, credentials, retries and quotas; a method knows what to send and what of the answer to keep.
Nothing else may be imported here: an annotator's code is held to its version, and a version raised because the client
retries otherwise would have every answer paid for again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

INVALID_ARGUMENT = 3
"""Google's canonical code (google.rpc.Code) of a request that can never be answered."""


class Method(Protocol):
    """One method of a service."""

    service: str
    """``language``, ``vision`` or ``texttospeech``."""
    rpc: str
    """The method's name in the service's library."""
    most: int
    """Items a request may hold."""
    room: int
    """Bytes of all items a request may hold."""

    def item(self, payload: Any) -> str | bytes | None:
        """What is sent of a payload, or None when there is nothing to ask."""
        ...

    def body(self, items: Sequence[Any]) -> dict[str, Any]:
        """The request, by the names of its fields."""
        ...

    def answers(self, answer: dict[str, Any], number: int) -> list[dict[str, Any]] | None:
        """The answer to each of the ``number`` items, errors among them, from an answer in JSON without default values.

        None, or a ValueError that says why, when it is not of the documented form: it is asked for again then.
        """
        ...

    def units(self, item: Any) -> dict[str, int]:
        """Feature → units that Google counts for an answered item."""
        ...


class Asker(Protocol):
    """The client, as a method sees it."""

    def ask(self, method: Method, payloads: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
        """(key, answer) for each (key, payload), in any order."""
        ...


def refused(code: int, message: str) -> dict[str, Any]:
    """The answer kept for an item that Google will not answer: in the form in which Vision tells it."""
    return {"error": {"code": code, "message": message}}


def refusal(answer: Any) -> str:
    """Why Google gave no answer for this item; empty when it gave one."""
    error = answer.get("error") if isinstance(answer, dict) else None
    if not error:
        return ""
    if not isinstance(error, dict):
        return "error"
    return " ".join(f"{error.get('code', '')} {error.get('message', '')}".split())[:200] or "error"


def alone(asker: Asker, method: Method, payload: Any) -> dict[str, Any]:
    """The answer for a single payload."""
    return dict(asker.ask(method, [("", payload)]))[""]
