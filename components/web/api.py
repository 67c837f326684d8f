"""Calls of a documented API: its token, its rate limit, and which of its answers end the run instead of being kept.

A token goes out in a header, to the API's own addresses alone, and is taken out of whatever comes back before that is stored.
What would be another answer tomorrow (a rate limit, a token that is not accepted, a search that the server cannot serve now) is
never stored: the run stops in one line and the next one goes on from there. Not in scope: what answers mean (``posts``).
"""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, quote_plus

from components.core.errors import HearsightError
from components.web.failures import NO_SUCH_NAME, parse_retry_after
from components.web.request import Answered
from components.web.warc import Entry, index_headers

if TYPE_CHECKING:
    from components.web.client import Client

HIDDEN = b"***"
"""What stands for a token in a stored answer."""
_IN_ADDRESS = re.compile(rb"(access_token(?:=|%3[Dd]|\\u003[Dd]))[^&\"'\\\s<>]+")


@dataclass(frozen=True)
class Ruling:
    """What is to be done about one answer; the default keeps it."""

    again: bool = False
    """It may be another in a moment."""
    pause: float = 0.0
    """Seconds the server asks to be left alone."""
    failure: str = ""
    """The class it is stored under, if it stays like that."""
    stop: str = ""
    """Why the run cannot go on, if it stays like that; then it is not stored."""
    hint: str = ""


class Api:
    """The addresses of one API and its manners; a provider says what its error answers mean."""

    def __init__(self, prefix: str, token: str = "", *, robots: bool = True, variable: str = "") -> None:
        self.prefix, self.robots, self.variable = prefix.rstrip("/") + "/", robots, variable
        """``robots``: whether the host's robots.txt is asked before the API is."""
        self._token = token
        forms = (token, quote(token, safe=""), quote_plus(token), json.dumps(token)[1:-1], token.replace("/", "\\/"))
        self._forms = sorted({form.encode() for form in forms if form}, key=len, reverse=True)

    def headers(self, url: str) -> dict[str, str]:
        """The headers of a request, the token among them where there is one and the address is the API's."""
        own = {"Accept": "application/json"}
        return own | {"Authorization": f"Bearer {self._token}"} if self._token and url.startswith(self.prefix) else own

    def scrub(self, data: bytes) -> bytes:
        """``data`` without the token, in whatever spelling, and without any other in an address of the API's."""
        for form in self._forms:
            data = data.replace(form, HIDDEN)
        return _IN_ADDRESS.sub(rb"\1" + HIDDEN, data)

    def scrubbed(self, headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
        """Headers as they are stored."""
        clean = [(name, self.scrub(value.encode("utf-8", "replace")).decode("utf-8", "replace")) for name, value in headers]
        return [(name, value) for name, value in clean if name.lower() != "set-cookie"]

    def reduced(self, url: str, body: bytes) -> bytes:
        """What is stored of a good answer, JSON: all of it, but where a provider needs less."""
        return body

    def essential(self, url: str) -> bool:
        """Whether nothing can be collected without an answer from ``url``."""
        return False

    def ruling(self, url: str, status: int, sent: Mapping[str, str], body: bytes) -> Ruling:
        """What is to be done about an answer.

        Args:
            url: what was asked.
            status: its HTTP status.
            sent: its headers by lower-case name.
            body: its body, JSON when the status is 200.
        """
        if status == 401:
            return self.refused()
        if status == 429:
            return Ruling(True, max(parse_retry_after(sent), seconds_until_reset(sent)), stop="its rate limit is used up")
        if status >= 500 or status == 408:
            stop = f"it answers {status}" if self.essential(url) else ""
            return Ruling(True, parse_retry_after(sent), failure=f"http_{status}", stop=stop)
        if status != 200 and self.essential(url):
            said = " ".join(body[:200].decode("utf-8", "replace").split())
            return Ruling(stop=f"it answers {status} ({said})", hint="see that crawl.posts names what the server offers")
        return Ruling()

    def refused(self) -> Ruling:
        """Of a token that is missing or not accepted."""
        if self._token:
            return Ruling(stop=f"it does not accept the token in ${self.variable}", hint=f"put a valid one into ${self.variable}")
        hint = f"put one into ${self.variable}" if self.variable else "name its variable in crawl.posts.token_variable"
        return Ruling(stop="it asks for a token", hint=hint)

    def rest(self, sent: Mapping[str, str]) -> float:
        """Seconds after a good answer before the next request may be made: the limit it tells of is used up."""
        remaining = sent.get("x-ratelimit-remaining", "").strip()
        return seconds_until_reset(sent) if remaining == "0" else 0.0


def seconds_until_reset(sent: Mapping[str, str]) -> float:
    """Seconds until the rate limit of an answer is renewed (X-RateLimit-Reset: a date-time, or seconds since 1970); 0 for none.

    Counted from the answer's own ``Date``, so that a clock that goes wrong makes no difference.
    """
    said = sent.get("x-ratelimit-reset", "").strip()
    if not said:
        return 0.0
    try:
        now = parsedate_to_datetime(sent["date"]) if sent.get("date") else datetime.now(UTC)
        now = now if now.tzinfo else now.replace(tzinfo=UTC)
        if said.isascii() and said.isdigit():
            seconds = float(said[:12])
            return max(0.0, seconds - now.timestamp()) if seconds > 1e9 else seconds
        reset = datetime.fromisoformat(said)
        return max(0.0, ((reset if reset.tzinfo else reset.replace(tzinfo=UTC)) - now).total_seconds())
    except (ValueError, TypeError, OverflowError, IndexError, OSError):
        return 0.0


async def call_api(client: Client, url: str) -> Entry:
    """Ask one address of the client's API until it answers or the retries are used up; the result is in the store.

    Raises:
        HearsightError: the answer ends the run (see :class:`Ruling`); nothing of it is stored.
    """
    api, settings = client.api, client.settings
    assert api is not None
    host = client.host(url, "api")
    async with host.gate:
        wait = settings.backoff
        for attempt in range(settings.retries + 1):
            await _rest(client, host)
            await host.turn(max(settings.delay, client.answers.rules(url).delay))
            entry, body, headers, reason, _ = await client.request(url, "api")
            sent = index_headers(headers)
            ruling = _of_failure(api, entry) if entry.failure else api.ruling(url, entry.status, sent, body)
            if entry.status == 200 and not ruling.again and not ruling.stop and not _is_json(body):
                stop = "its answer is no JSON" if api.essential(url) else ""
                ruling = Ruling(True, failure="not_json", stop=stop)
            if ruling.again:
                host.hold(ruling.pause)
            elif entry.status == 200:
                host.hold(api.rest(sent))
            if not ruling.again or attempt == settings.retries or ruling.pause > settings.max_retry_after:
                break
            await asyncio.sleep(min(wait, settings.timeout))
            wait *= 2
    if ruling.stop:
        raise _stopped(client, url, ruling)
    if ruling.failure and not entry.failure:
        entry, body, headers, reason = Entry(url, 0, ruling.failure, "what was asked for did not come"), b"", (), ""
    if entry.status == 200:
        body = api.reduced(url, body)
    return client.keep(Answered(entry, api.scrub(body), tuple(api.scrubbed(headers)), reason))


def _of_failure(api: Api, entry: Entry) -> Ruling:
    """Of a request without an answer."""
    again = entry.failure in ("timeout", "connection", "dns") and entry.detail != NO_SUCH_NAME
    stop = f"it cannot be reached ({entry.failure}: {entry.detail})" if api.essential(entry.url) else ""
    return Ruling(again, stop=stop, hint="see that the network is there and crawl.posts.server is right")


def _stopped(client: Client, url: str, ruling: Ruling) -> HearsightError:
    pause = f" and it asks to be left alone for {math.ceil(ruling.pause)} s" if ruling.pause else ""
    later = "run the stage again later; what was fetched is kept and not asked for again"
    return HearsightError(f"{ruling.stop}{pause}", where=_told(url), hint=ruling.hint or later)


def _told(url: str) -> str:
    return url.partition("?")[0]


async def _rest(client: Client, host: Any) -> None:
    """Wait until the API may be asked again, and show that.

    Raises:
        HearsightError: that would be for longer than ``max_retry_after``.
    """
    async with client.waiting:
        left = host.held_until - asyncio.get_running_loop().time()
        most = client.settings.max_retry_after
        if left > most:
            raise HearsightError(
                f"its rate limit is used up for {math.ceil(left)} s, and crawl.max_retry_after is {most:g}",
                where=client.api.prefix if client.api else "",
                hint="run the stage again after that; what was fetched is kept and not asked for again",
            )
        if left > 1.0:
            seconds = range(math.ceil(left))
            for _ in client.progress(seconds, total=len(seconds), desc="waiting as the API's rate limit says, s"):
                await asyncio.sleep(min(1.0, max(0.0, host.held_until - asyncio.get_running_loop().time())))


def _is_json(body: bytes) -> bool:
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return False
    return True
