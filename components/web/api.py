"""Describe a documented API: its token, its rate limit, and what to do with each of its answers. Requests are in ``api_calls``.

A token is sent in a header to the API's own addresses only, and removed from every answer before it is stored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import quote, quote_plus

from components.web.request import parse_date, parse_retry_after

HIDDEN = b"***"
"""Replaces a token in a stored answer."""
_IN_ADDRESS = re.compile(rb"(access_token(?:=|%3[Dd]|\\u003[Dd]))[^&\"'\\\s<>]+")


@dataclass(frozen=True)
class Ruling:
    """What to do with one answer; the default stores it."""

    again: bool = False
    """Whether a retry may give another answer."""
    pause: float = 0.0
    """Seconds that the server asks to wait."""
    failure: str = ""
    """Failure class to store when retries do not help."""
    stop: str = ""
    """Why the run cannot continue when retries do not help; nothing is stored then."""
    hint: str = ""


class Api:
    """The addresses of one API and its token; a provider interprets its error answers."""

    def __init__(self, prefix: str, token: str = "", *, robots: bool = True, variable: str = "") -> None:
        self.prefix, self.robots, self.variable = prefix.rstrip("/") + "/", robots, variable
        """``robots``: whether the host's robots.txt is asked before the API is."""
        self._token = token
        forms = (token, quote(token, safe=""), quote_plus(token), json.dumps(token)[1:-1], token.replace("/", "\\/"))
        self._forms = sorted({form.encode() for form in forms if form}, key=len, reverse=True)

    def headers(self, url: str) -> dict[str, str]:
        """Return the headers of a request; the token only for the API's own addresses."""
        headers = {"Accept": "application/json"}
        return headers | {"Authorization": f"Bearer {self._token}"} if self._token and url.startswith(self.prefix) else headers

    def scrub(self, data: bytes) -> bytes:
        """Return ``data`` without the token in any encoding, and without any other token in an address of the API."""
        for form in self._forms:
            data = data.replace(form, HIDDEN)
        return _IN_ADDRESS.sub(rb"\1" + HIDDEN, data)

    def scrubbed(self, headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
        """Return headers as they are stored."""
        clean = [(name, self.scrub(value.encode("utf-8", "replace")).decode("utf-8", "replace")) for name, value in headers]
        return [(name, value) for name, value in clean if name.lower() != "set-cookie"]

    def reduced(self, url: str, body: bytes) -> bytes:
        """Return the part of a good answer (JSON) to store: all of it, unless a provider needs less."""
        return body

    def essential(self, url: str) -> bool:
        """Return whether nothing can be collected without an answer from ``url``."""
        return False

    def ruling(self, url: str, status: int, sent: Mapping[str, str], body: bytes) -> Ruling:
        """Return what to do with an answer; ``sent``: its headers by lower-case name, ``body``: JSON when the status is 200."""
        if status == 401:
            return self.refused()
        if status == 429:
            return Ruling(True, max(parse_retry_after(sent), seconds_until_reset(sent)), stop="its rate limit is used up")
        if status >= 500 or status == 408:
            stop = f"it answers {status}" if self.essential(url) else ""
            return Ruling(True, parse_retry_after(sent), failure=f"http_{status}", stop=stop)
        if status != 200 and self.essential(url):
            message = " ".join(body[:200].decode("utf-8", "replace").split())
            return Ruling(
                stop=f"it answers {status} ({message})", hint="check that crawl.source names something the server offers"
            )
        return Ruling()

    def refused(self) -> Ruling:
        """Return the ruling for a missing or refused token."""
        if self._token:
            return Ruling(stop=f"it does not accept the token in ${self.variable}", hint=f"put a valid one into ${self.variable}")
        hint = f"put one into ${self.variable}" if self.variable else "name its variable in crawl.source.token_variable"
        return Ruling(stop="it asks for a token", hint=hint)

    def rest(self, sent: Mapping[str, str]) -> float:
        """Return the seconds to wait after a good answer whose headers say that the rate limit is used up, else 0."""
        remaining = sent.get("x-ratelimit-remaining", "").strip()
        return seconds_until_reset(sent) if remaining == "0" else 0.0


def seconds_until_reset(sent: Mapping[str, str]) -> float:
    """Return the seconds until the rate limit resets (X-RateLimit-Reset: a date-time, or seconds since 1970); 0 without one.

    Relative to the answer's ``Date``, so that a wrong clock makes no difference.
    """
    value = sent.get("x-ratelimit-reset", "").strip()
    if not value:
        return 0.0
    try:
        now = parse_date(sent)
        now = now if now.tzinfo else now.replace(tzinfo=UTC)
        if value.isascii() and value.isdigit():
            seconds = float(value[:12])
            return max(0.0, seconds - now.timestamp()) if seconds > 1e9 else seconds
        reset = datetime.fromisoformat(value)
        return max(0.0, ((reset if reset.tzinfo else reset.replace(tzinfo=UTC)) - now).total_seconds())
    except (ValueError, TypeError, OverflowError, IndexError, OSError):
        return 0.0
