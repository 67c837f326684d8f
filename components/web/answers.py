"""Read the outcome of a URL from stored answers only: equal while a crawl runs and in a replay.

Redirects, robots.txt and refused addresses are followed through the store. A missing answer raises :class:`NotFetched`, which
tells the fetcher what to request next.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import urlsplit

from components.web.consent_policy import (
    Reservations,
    Statement,
    find_refusal,
    gives_consent,
    parse_header_statements,
    tdmrep_url,
)
from components.web.robots import Rules, robots_url
from components.web.settings import FetchSettings
from components.web.store import FetchStore
from components.web.takedown_list import EMPTY_LIST, LEDGER_VALUES, RULE, Takedown
from components.web.urls import is_private, make_absolute
from components.web.warc import Entry

MAX_REDIRECTS = 5
HOSTS_IN_MEMORY = 10_000
"""Hosts whose parsed robots.txt is kept in memory."""
REDIRECTS = (301, 302, 303, 307, 308)


class NotFetched(Exception):
    """The store has no answer for ``url`` yet."""

    def __init__(self, url: str, *, robots: bool = False) -> None:
        super().__init__(url)
        self.url, self.robots = url, robots
        """``robots``: it is a host's robots.txt or tdmrep.json, which precedes all other requests to that host."""


@dataclass(frozen=True)
class Outcome:
    """The final result for one URL."""

    url: str
    final: str
    """The URL that answered, after redirects."""
    rule: str = ""
    """'' for a good answer, else the rule that drops it."""
    value: str = ""
    threshold: str = ""
    detail: str = ""
    entry: Entry | None = None
    """The answer, good or not, if there is one."""
    hops: tuple[str, ...] = ()
    """The redirects followed, as 'status target'."""


@dataclass(frozen=True)
class Consent:
    """Which consent a crawl requires."""

    opt_in: bool = False
    """Whether an item needs consent; otherwise the absence of a refusal suffices."""
    hosts: frozenset[str] = frozenset()
    """Hosts that gave consent by other means."""
    tdmrep: bool = False
    """Whether each host's tdmrep.json is requested."""


class Answers:
    """Outcomes of URLs, read from a fetch store under the user agent, limits and address policy of a crawl's settings."""

    def __init__(
        self,
        store: FetchStore,
        settings: FetchSettings,
        *,
        consent: Consent | None = None,
        taken: Takedown = EMPTY_LIST,
    ) -> None:
        self.store, self.agent, self.budget = store, settings.user_agent, settings.budget
        """``agent``: the robot's product token."""
        self._allow_private = settings.allow_private
        self.consent, self.taken = consent or Consent(), taken
        self.touched: set[str] = set()
        """URLs that were looked up; recorded only if the takedown list is not empty."""
        self.unruled: tuple[str, ...] = ()
        """URL prefixes to which robots.txt is not applied: those of an API with its own terms of use."""
        self._rules: dict[str, Rules] = {}
        self._reservations: dict[str, Reservations] = {}
        self._granted: set[str] = set()

    def outcome(self, url: str, hosts: Collection[str] | None = None, *, page: bool = False) -> Outcome:
        """Follow ``url`` through the store; ``hosts`` limits where redirects may lead (None: anywhere).

        For an image the outcome includes the opt-outs in its own answer; those of a ``page`` are read elsewhere.

        Raises:
            NotFetched: an answer is missing.
        """
        if url.startswith("file:"):  # a dataset's own image: no host's rules apply and no redirect leads here
            stored = self.store.get(url)
            self.touched.update([url] if self.taken else [])
            if stored is None:
                raise NotFetched(url)
            return Outcome(url, url, stored.failure, stored.detail, entry=stored)
        current, hops = url, list[str]()

        def end(rule: str, value: str, threshold: str, detail: str = "", entry: Entry | None = None) -> Outcome:
            return Outcome(url, current, rule, value, threshold, detail, entry, tuple(hops))

        for _ in range(MAX_REDIRECTS + 1):
            if mark := self.taken.url(current):  # before any request, robots.txt included
                return _listed_outcome(url, mark)
            if self.taken:
                self.touched.add(current)
            parts = urlsplit(current)
            if hosts is not None and parts.netloc not in hosts:
                return end("redirect", hops[-1] if hops else current, "the crawl's hosts")
            if not self._allow_private and is_private(parts.hostname or ""):
                return end("private_address", parts.hostname or "", "public addresses only")
            rules = self.rules(current)
            if not rules.allow(current):
                robots_entry = self.store.get(robots_url(current))
                reason = robots_entry.failure if robots_entry else ""
                if robots_entry and reason == "private_address":
                    return end(reason, robots_entry.detail, "public addresses only")
                # RFC 9309, 2.3.1.4: a robots.txt that cannot be reached forbids everything.
                return end("robots", f"robots.txt: {reason}" if reason else parts.path, robots_url(current))
            if rules.delay > self.budget.crawl_delay:
                limit = f"at most {self.budget.crawl_delay:g} s"
                return end("crawl_delay", f"{rules.delay:g} s", limit, robots_url(current))
            if self.reserved(current):
                return end("tdm_reserved", "tdmrep.json: 1", tdmrep_url(current))
            entry = self.store.get(current)
            if entry is None:
                # An image may name the host's tdmrep.json, which has to be stored as such.
                raise NotFetched(current, robots=current == tdmrep_url(current))
            if entry.failure == RULE:
                return _listed_outcome(url, entry.detail)
            if entry.failure:
                return end(entry.failure, entry.detail, entry.threshold, entry.type, entry)
            if entry.status not in REDIRECTS or not entry.location:
                if entry.status != 200:
                    return end("http_status", str(entry.status), "200", entry=entry)
                rule, reason = ("", "") if page else self._find_opt_out(url, current, entry)
                return end(rule, reason, current if rule else "", entry=entry)
            target = make_absolute(entry.location, current)
            hops.append(f"{entry.status} {target or entry.location}")
            if target is None:
                return end("unusable_url", entry.location[:200], "http or https", entry=entry)
            current = target
        if mark := self.taken.url(current):
            return _listed_outcome(url, mark)
        return end("redirect", f"{len(hops)} hops", str(MAX_REDIRECTS), hops[-1])

    def read_statements(self, entry: Entry) -> list[Statement]:
        """Return what an answer's headers state about being collected."""
        return parse_header_statements(entry.robots, entry.tdm, self.agent)

    def _find_opt_out(self, url: str, at: str, entry: Entry) -> tuple[str, str]:
        """Return the rule that drops an image by its headers, and the statement; two empty strings when it may be used."""
        statements = self.read_statements(entry)
        if refused := find_refusal(statements):
            return refused
        if self.consent.opt_in and not (gives_consent(statements) or self.host_agrees(at) or {url, at} & self._granted):
            return "no_consent", "said nothing"
        return "", ""

    def host_agrees(self, url: str) -> bool:
        """Return whether the host of ``url`` gives consent: the crawl's owner named it, its robots.txt allows this robot by name,
        or its tdmrep.json reserves nothing there.

        Raises:
            NotFetched: one of these is missing.
        """
        by_name = self.rules(url).named and self.rules(url).allow(url)
        return urlsplit(url).netloc in self.consent.hosts or by_name or self.reserved(url) is False

    def grant(self, urls: Collection[str]) -> None:
        """Record a page's consent for the images of its own host."""
        self._granted.update(urls)

    def reserved(self, url: str) -> bool | None:
        """Return what the host's tdmrep.json states for ``url``; None without a statement or when the crawl does not use such
        files.

        Raises:
            NotFetched: the file is missing.
        """
        origin = tdmrep_url(url)
        if not self.consent.tdmrep or url == origin or (self.unruled and url.startswith(self.unruled)):
            return None
        if origin not in self._reservations:
            status, body = self._well_known(origin) if self.rules(origin).allow(origin) else (404, b"")
            self._reservations[origin] = Reservations.of(body) if 200 <= status < 300 else Reservations()
        return self._reservations[origin].reserved(url)

    def rules(self, url: str) -> Rules:
        """Return the robots rules for the host of ``url``; redirects of robots.txt are followed (RFC 9309, 2.3.1.2).

        Raises:
            NotFetched: the robots.txt is missing.
        """
        if self.unruled and url.startswith(self.unruled):
            return Rules(None, self.agent)
        origin = robots_url(url)
        if origin not in self._rules:
            if len(self._rules) >= HOSTS_IN_MEMORY:  # drops the oldest; it is parsed again when needed
                del self._rules[next(iter(self._rules))]
            self._rules[origin] = Rules.of(*self._well_known(origin), self.agent)
        return self._rules[origin]

    def _well_known(self, current: str) -> tuple[int, bytes]:
        """Return status (599 for a failure) and body of a host's robots.txt or tdmrep.json, following redirects."""
        for _ in range(MAX_REDIRECTS + 1):
            if self.taken.url(current):
                return 599, b""  # rules that must not be read forbid everything
            self.touched.update([current] if self.taken else [])
            if not self._allow_private and is_private(urlsplit(current).hostname or ""):
                break
            entry = self.store.get(current)
            if entry is None:
                raise NotFetched(current, robots=True)
            target = make_absolute(entry.location, current) if entry.status in REDIRECTS and entry.location else None
            if target is None:
                status = entry.status if not entry.failure else 599
                return status, self.store.body(current) if 200 <= entry.status < 300 else b""
            current = target
        return 404, b""  # more than five redirects: treated as missing


def _listed_outcome(url: str, mark: str) -> Outcome:
    """Return the outcome of a URL on the takedown list, or one redirecting to it; no hops, which would reveal it."""
    return Outcome(url, url, RULE, *LEDGER_VALUES, f"{RULE}:{mark}")
