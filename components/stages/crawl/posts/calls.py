"""Stored answers of an API: parsed JSON, the rule of a failed request, the time of the answer, the address of the next page.

Read-only: for an address without a stored answer, :class:`components.web.answers.NotFetched` propagates to the fetching code.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from components.stages.crawl.posts.fields import format_time, json_type
from components.web.answers import Answers, NotFetched
from components.web.conditional_fetch import parse_moment
from components.web.consent_policy import find_refusal, parse_header_statements
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


class Calls:
    """Stored replies of one API."""

    def __init__(self, answers: Answers, prefix: str) -> None:
        self._answers, self._prefix = answers, prefix
        self._replies: dict[str, Reply] = {}

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
        """Return the reply for ``url``.

        Raises:
            NotFetched: there is no stored answer.
        """
        if url not in self._replies:
            reply = self._reply(url)
            while len(self._replies) >= _CACHED_REPLIES:
                self._replies.pop(next(iter(self._replies)))
            self._replies[url] = reply
        return self._replies[url]

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
        if opt_out := find_refusal(parse_header_statements(entry.robots, entry.tdm, self._answers.agent)):
            return Reply(url, None, opt_out[0], opt_out[1], "not said", status, fetched)
        if value is None:
            return Reply(url, None, "not_json", "no JSON", "JSON", status, fetched)
        link = index_headers(self._answers.store.headers(outcome.final)).get("link")
        return Reply(url, value, status=status, fetched=fetched, following=None if link is None else _next_link(link))


def _next_link(link: str) -> str:
    """Return the next page of a Link header (RFC 8288); '' for none."""
    match = _NEXT.search(link[:8000])
    return match[1] if match else ""


def require_type(reply: Reply, expected: type) -> Reply:
    """Return ``reply``; a reply with the rule ``wrong_type`` if its value has another type."""
    if reply.rule or isinstance(reply.value, expected):
        return reply
    name = "list" if expected is list else "object"
    return Reply(reply.url, None, "wrong_type", json_type(reply.value), name, reply.status, reply.fetched)
