"""Interface of a kind of server: accounts that used a tag, the state of an account, an account's tagged posts; and its replies.

A provider only reads stored answers: :class:`components.web.answers.NotFetched` names the address to fetch next.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, Protocol

from components.core.ledger import dropped
from components.stages.crawl.posts.fields import format_time, json_type
from components.stages.crawl.posts.post import Account, Page
from components.web.answers import Answers, NotFetched
from components.web.api import Api
from components.web.conditional_fetch import parse_moment
from components.web.urls import host_of
from components.web.warc import index_headers

_NEXT = re.compile(r'<([^<>]{1,2000})>\s*;[^,<]*?\brel\s*=\s*"?next\b')
_CACHED_REPLIES = 256
"""Parsed replies kept in memory: a listing is read again from its start whenever one more page has arrived."""


@dataclass(frozen=True)
class Reply:
    """One answer of the API."""

    url: str
    value: Any = None
    """JSON of a successful answer or of a JSON error; else None."""
    rule: str = ""
    """'' for a successful answer, else its ledger rule."""
    observed: str = ""
    """Observed value, for the ledger."""
    threshold: str = ""
    status: int = 0
    fetched: str = ""
    """Time of the answer, ISO 8601 in UTC, whole seconds."""
    following: str | None = None
    """Next page by the Link header (untrusted); '' when the header names none; None without a Link header."""

    @property
    def reason(self) -> tuple[str, str, str]:
        """Rule, observed value and threshold."""
        return self.rule, self.observed, self.threshold


class Calls:
    """Stored replies of one API."""

    def __init__(self, answers: Answers, prefix: str) -> None:
        self._answers, self._prefix = answers, prefix
        self._replies = lru_cache(_CACHED_REPLIES)(self._reply)

    @property
    def opt_in(self) -> bool:
        """Whether only content with a positive consent statement is collected."""
        return self._answers.consent.opt_in

    def agrees(self, url: str) -> bool:
        """Return whether the host of ``url`` consents for all its content; raises NotFetched."""
        try:
            return self._answers.host_agrees(url)
        except NotFetched:  # names robots.txt; fetching ``url`` fetches that first
            raise NotFetched(url) from None

    def get(self, url: str) -> Reply:
        """Return the reply for ``url``. Raises NotFetched: there is no stored answer."""
        return self._replies(url)

    def _reply(self, url: str) -> Reply:
        try:
            outcome = self._answers.outcome(url, {host_of(self._prefix)}, page=True)
        except NotFetched:
            raise NotFetched(url) from None
        entry = outcome.entry
        fetched = format_time(parse_moment(entry.fetched)) if entry is not None and entry.fetched else ""
        status = entry.status if entry is not None else 0
        value = None
        if entry is not None and not entry.failure:
            try:
                value = json.loads(self._answers.store.body(outcome.final))
            except (ValueError, RecursionError):
                value = None
        if outcome.rule:
            return Reply(url, value, outcome.rule, outcome.value[:200], outcome.threshold or "an answer", status, fetched)
        assert entry is not None
        if opt_out := self._answers.refuse(self._answers.read_statements(entry), url):
            return Reply(url, None, opt_out[0], opt_out[1], "not said", status, fetched)
        if value is None:
            return Reply(url, None, "not_json", "no JSON", "JSON", status, fetched)
        link = index_headers(self._answers.store.headers(outcome.final)).get("link")
        match = _NEXT.search((link or "")[:8000])  # RFC 8288
        following = None if link is None else match[1] if match else ""
        return Reply(url, value, status=status, fetched=fetched, following=following)


def require_type(reply: Reply, expected: type) -> Reply:
    """Return ``reply``; a reply with the rule ``wrong_type`` if its value has another type."""
    if reply.rule or isinstance(reply.value, expected):
        return reply
    name = "list" if expected is list else "object"
    return Reply(reply.url, None, "wrong_type", json_type(reply.value), name, reply.status, reply.fetched)


@dataclass
class Search:
    """Result of the timelines of the tags."""

    accounts: dict[str, Account] = field(default_factory=dict)
    """Name → account, for every account that used a tag inside the window."""
    unowned: dict[str, str] = field(default_factory=dict)
    """Web address of a post → its tag's timeline, where the server does not state the post's owner."""
    rows: list[dict[str, str]] = field(default_factory=list)
    """Ledger rows: one per timeline, and one per unreadable timeline post."""

    def drop(self, key: str, reason: Iterable[str], detail: str) -> None:
        """Add the row of what could not be read; ``reason``: rule, value and threshold."""
        self.rows.append(dropped(key, *reason, kind="page", detail=detail))


class Provider(Protocol):
    """One kind of server."""

    api: Api
    urls_expire: bool
    """Whether the addresses of an unchanged image change over time."""
    tagged_only: bool
    """Whether a listing holds tagged posts only."""

    def normalise_name(self, name: str) -> str:
        """Return an account name from the settings as records spell it."""

    def search(self, calls: Calls) -> Search:
        """Run the first phase and return who used the tags inside the window; raises NotFetched."""

    def account(self, calls: Calls, last_account: Account) -> Account:
        """Return the present state of an account, given its last known state; raises NotFetched."""

    def listings(self, calls: Calls, account: Account) -> list[Iterator[Page]]:
        """Return the second phase's listings, one per tag, newest posts first; their iterators raise NotFetched."""


def window_start(fetched: str, days: float) -> datetime:
    """Return the start of a window of ``days`` that ends at the time of an answer."""
    return parse_moment(fetched) - timedelta(days=days)
