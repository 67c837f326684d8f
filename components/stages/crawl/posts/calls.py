"""An API's stored answers, read: parsed JSON, the rule of what is not good, when it was answered, the address of the next page.

Reading alone: where the store has no answer yet, :class:`components.web.answers.NotFetched` goes up to who fetches.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from components.stages.crawl.posts.fields import format_time, json_type
from components.web.answers import Answers, NotFetched
from components.web.conditional_fetch import moment
from components.web.consent_policy import header_statements, refusal
from components.web.urls import host_of
from components.web.warc import sent_headers

_NEXT = re.compile(r'<([^<>]{1,2000})>\s*;[^,<]*?\brel\s*=\s*"?next\b')
_REMEMBERED = 256
"""Answers kept parsed: a listing is read again from its beginning whenever a page of it has come."""


@dataclass(frozen=True)
class Reply:
    """One answer of the API."""

    url: str
    value: Any = None
    """The JSON of a good answer, or of an error that came as JSON; else None."""
    rule: str = ""
    """'' for a good one, else why not, in the ledger's words."""
    observed: str = ""
    threshold: str = ""
    status: int = 0
    fetched: str = ""
    """When, ISO 8601 in UTC, whole seconds."""
    following: str | None = None
    """Where its Link header says the next page is, not to be trusted; '' where such a header names none; None without one."""


class Calls:
    """What the store says of one API's addresses."""

    def __init__(self, answers: Answers, prefix: str) -> None:
        self._answers, self._prefix = answers, prefix
        self._read: dict[str, Reply] = {}

    @property
    def opt_in(self) -> bool:
        """Whether only what says yes is taken."""
        return self._answers.consent.opt_in

    def agrees(self, url: str) -> bool:
        """Whether the host of ``url`` says yes for all it holds; raises NotFetched."""
        try:
            return self._answers.host_agrees(url)
        except NotFetched:  # of its robots.txt, which whoever asks for ``url`` asks for first
            raise NotFetched(url) from None

    def get(self, url: str) -> Reply:
        """The answer for ``url``.

        Raises:
            NotFetched: it has not been asked for.
        """
        if url not in self._read:
            reply = self._reply(url)
            while len(self._read) >= _REMEMBERED:
                self._read.pop(next(iter(self._read)))
            self._read[url] = reply
        return self._read[url]

    def _reply(self, url: str) -> Reply:
        try:
            outcome = self._answers.outcome(url, {host_of(self._prefix)}, page=True)
        except NotFetched:
            raise NotFetched(url) from None
        entry = outcome.entry
        when = format_time(moment(entry.fetched)) if entry is not None and entry.fetched else ""
        status = entry.status if entry is not None else 0
        value = None
        if entry is not None and not entry.failure:
            try:
                value = json.loads(self._answers.store.body(outcome.final))
            except (ValueError, RecursionError):
                value = None
        if outcome.rule:
            return Reply(url, value, outcome.rule, outcome.value[:200], outcome.threshold or "an answer", status, when)
        assert entry is not None
        if no := refusal(header_statements(entry.robots, entry.tdm, self._answers.agent)):
            return Reply(url, None, no[0], no[1], "not said", status, when)
        if value is None:
            return Reply(url, None, "not_json", "no JSON", "JSON", status, when)
        link = sent_headers(self._answers.store.headers(outcome.final)).get("link")
        return Reply(url, value, status=status, fetched=when, following=None if link is None else _next(link))


def _next(link: str) -> str:
    """The next page of a Link header (RFC 8288); '' for none."""
    found = _NEXT.search(link[:8000])
    return found[1] if found else ""


def require_type(reply: Reply, wanted: type) -> Reply:
    """``reply``, or where its value is of another type, a reply of the rule ``wrong_type``."""
    if reply.rule or isinstance(reply.value, wanted):
        return reply
    name = "list" if wanted is list else "object"
    return Reply(reply.url, None, "wrong_type", json_type(reply.value), name, reply.status, reply.fetched)
