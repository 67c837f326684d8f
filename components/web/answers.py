"""What the stored answers say about a URL: pure reading, the same while a crawl runs and when it is replayed.

Redirects, robots.txt and refused addresses are followed through the store. Where the store has no answer yet,
:class:`NotFetched` names the one that is needed; the fetcher lives on that exception. Not in scope: the network.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import urlsplit

from components.web.budget import Budget
from components.web.consent_policy import Reservations, find_refusal, gives_consent, parse_header_statements, tdmrep_url
from components.web.robots import Rules, robots_url
from components.web.settings import FetchSettings
from components.web.store import FetchStore
from components.web.takedown_list import EMPTY_LIST, LEDGER_VALUES, RULE, Takedown
from components.web.urls import is_private, make_absolute
from components.web.warc import Entry

MAX_REDIRECTS = 5
HOSTS_IN_MEMORY = 10_000
"""Hosts whose parsed robots.txt is kept at a time."""
REDIRECTS = (301, 302, 303, 307, 308)


class NotFetched(Exception):
    """The store has no answer for ``url`` yet."""

    def __init__(self, url: str, *, robots: bool = False) -> None:
        super().__init__(url)
        self.url, self.robots = url, robots
        """``robots``: it is a host's robots.txt or tdmrep.json, which comes before anything else of that host."""


@dataclass(frozen=True)
class Outcome:
    """Where asking for one URL ends."""

    url: str
    final: str
    """The URL that answered, after redirects."""
    rule: str = ""
    """'' for a good answer, else the rule that drops it."""
    value: str = ""
    threshold: str = ""
    detail: str = ""
    entry: Entry | None = None
    """The good answer, or the one that was not good, where there is one."""
    hops: tuple[str, ...] = ()
    """The redirects passed, as 'status target'."""


@dataclass(frozen=True)
class Consent:
    """Whose word a crawl needs."""

    opt_in: bool = False
    """Only what says yes is taken; else what does not say no."""
    hosts: frozenset[str] = frozenset()
    """Hosts that said yes by other ways."""
    tdmrep: bool = False
    """Each host is asked for its tdmrep.json."""


class Answers:
    """A fetch store, read as one robot reads the web."""

    def __init__(
        self,
        store: FetchStore,
        agent: str,
        *,
        allow_private: bool,
        consent: Consent | None = None,
        taken: Takedown = EMPTY_LIST,
        budget: Budget | None = None,
    ) -> None:
        self.budget = budget or Budget()
        """What a page and a host may cost."""
        self.store, self._agent, self._allow_private = store, agent, allow_private
        self.consent, self.taken = consent or Consent(), taken
        self.touched: set[str] = set()
        """The addresses that were followed, while anything is taken down."""
        self.unruled: tuple[str, ...] = ()
        """Beginnings of addresses that no robots.txt rules: of an API under a contract of its own."""
        self._rules: dict[str, Rules] = {}
        self._reservations: dict[str, Reservations] = {}
        self._granted: set[str] = set()

    @classmethod
    def under(
        cls, settings: FetchSettings, store: FetchStore, *, consent: Consent | None = None, taken: Takedown = EMPTY_LIST
    ) -> Answers:
        """A store read under a crawl's settings."""
        return cls(
            store,
            settings.user_agent,
            allow_private=settings.allow_private,
            consent=consent,
            taken=taken,
            budget=settings.budget,
        )

    @property
    def agent(self) -> str:
        """The robot's product token."""
        return self._agent

    def outcome(self, url: str, hosts: Collection[str] | None = None, *, page: bool = False) -> Outcome:
        """Follow ``url`` through the store; ``hosts`` bounds where redirects may lead (None: anywhere).

        Of a picture it also tells what its own answer says of being collected; a ``page`` is read for that by the walk.

        Raises:
            NotFetched: an answer is missing.
        """
        if url.startswith("file:"):  # of a set's own folder: no host's rules speak of it, and no redirect leads here
            own = self.store.get(url)
            self.touched.update([url] if self.taken else [])
            if own is None:
                raise NotFetched(url)
            return Outcome(url, url, own.failure, own.detail, entry=own)
        at, hops = url, list[str]()
        for _ in range(MAX_REDIRECTS + 1):
            if mark := self.taken.url(at):  # before anything is asked, robots.txt included
                return _taken_down(url, mark)
            if self.taken:
                self.touched.add(at)
            host = urlsplit(at).hostname or ""
            if hosts is not None and urlsplit(at).netloc not in hosts:
                return Outcome(url, at, "redirect", hops[-1] if hops else at, "the crawl's hosts", hops=tuple(hops))
            if not self._allow_private and is_private(host):
                return Outcome(url, at, "private_address", host, "public addresses only", hops=tuple(hops))
            rules = self.rules(at)
            if not rules.allow(at):
                asked = self.store.get(robots_url(at))
                why = asked.failure if asked is not None else ""
                if why == "private_address":
                    return Outcome(url, at, why, asked.detail if asked else "", "public addresses only", hops=tuple(hops))
                # RFC 9309, 2.3.1.4: a robots.txt that cannot be reached forbids everything.
                value = f"robots.txt: {why}" if why else urlsplit(at).path
                return Outcome(url, at, "robots", value, robots_url(at), hops=tuple(hops))
            if rules.delay > self.budget.crawl_delay:
                value, threshold = f"{rules.delay:g} s", f"at most {self.budget.crawl_delay:g} s"
                return Outcome(url, at, "crawl_delay", value, threshold, robots_url(at), hops=tuple(hops))
            if self.reserved(at):
                return Outcome(url, at, "tdm_reserved", "tdmrep.json: 1", tdmrep_url(at), hops=tuple(hops))
            entry = self.store.get(at)
            if entry is None:
                raise NotFetched(at)
            if entry.failure == RULE:
                return _taken_down(url, entry.detail)
            if entry.failure:
                return Outcome(url, at, entry.failure, entry.detail, entry.threshold, entry.type, entry, tuple(hops))
            if entry.status not in REDIRECTS or not entry.location:
                if entry.status != 200:
                    return Outcome(url, at, "http_status", str(entry.status), "200", "", entry, tuple(hops))
                rule, why = ("", "") if page else self._wishes(url, at, entry)
                return Outcome(url, at, rule, why, at if rule else "", entry=entry, hops=tuple(hops))
            target = make_absolute(entry.location, at)
            hops.append(f"{entry.status} {target or entry.location}")
            if target is None:
                return Outcome(url, at, "unusable_url", entry.location[:200], "http or https", "", entry, tuple(hops))
            at = target
        if mark := self.taken.url(at):
            return _taken_down(url, mark)
        return Outcome(url, at, "redirect", f"{len(hops)} hops", str(MAX_REDIRECTS), hops[-1], hops=tuple(hops))

    def _wishes(self, url: str, at: str, entry: Entry) -> tuple[str, str]:
        """The rule that drops a picture for what it says, and what said so; two empty strings when it may be taken."""
        said = parse_header_statements(entry.robots, entry.tdm, self._agent)
        if no := find_refusal(said):
            return no
        if self.consent.opt_in and not (gives_consent(said) or self.host_agrees(at) or {url, at} & self._granted):
            return "no_consent", "said nothing"
        return "", ""

    def host_agrees(self, url: str) -> bool:
        """Whether the host of ``url`` consents to its being collected: it is a host the crawl's owner named, its robots.txt
        lets this robot, by name, ask for it, or its tdmrep.json reserves nothing there.

        Raises:
            NotFetched: one of these has not been asked for.
        """
        by_name = self.rules(url).named and self.rules(url).allow(url)
        return urlsplit(url).netloc in self.consent.hosts or by_name or self.reserved(url) is False

    def grant(self, urls: Collection[str]) -> None:
        """Take a page's consent for the pictures of its own host."""
        self._granted.update(urls)

    def reserved(self, url: str) -> bool | None:
        """What the tdmrep.json of ``url``'s host says of it; None for nothing, or when the crawl does not ask for such files.

        Raises:
            NotFetched: it has not been asked for.
        """
        origin = tdmrep_url(url)
        if not self.consent.tdmrep or url == origin or (self.unruled and url.startswith(self.unruled)):
            return None
        if origin not in self._reservations:
            status, body = self._well_known(origin) if self.rules(origin).allow(origin) else (404, b"")
            self._reservations[origin] = Reservations.of(body) if 200 <= status < 300 else Reservations()
        return self._reservations[origin].reserved(url)

    def rules(self, url: str) -> Rules:
        """The robots rules for ``url``'s host; redirects of robots.txt are followed (RFC 9309, 2.3.1.2).

        Raises:
            NotFetched: its robots.txt has not been asked for.
        """
        if self.unruled and url.startswith(self.unruled):
            return Rules(None, self._agent)
        origin = robots_url(url)
        if origin not in self._rules:
            if len(self._rules) >= HOSTS_IN_MEMORY:  # the oldest; what is needed again is read again
                del self._rules[next(iter(self._rules))]
            self._rules[origin] = Rules.of(*self._well_known(origin), self._agent)
        return self._rules[origin]

    def _well_known(self, at: str) -> tuple[int, bytes]:
        """Status (599 for a failure) and body of a host's file about itself, redirects followed."""
        for _ in range(MAX_REDIRECTS + 1):
            if self.taken.url(at):
                return 599, b""  # rules that may no longer be read forbid everything
            self.touched.update([at] if self.taken else [])
            if not self._allow_private and is_private(urlsplit(at).hostname or ""):
                break
            entry = self.store.get(at)
            if entry is None:
                raise NotFetched(at, robots=True)
            target = make_absolute(entry.location, at) if entry.status in REDIRECTS and entry.location else None
            if target is None:
                status = entry.status if not entry.failure else 599
                return status, self.store.body(at) if 200 <= entry.status < 300 else b""
            at = target
        return 404, b""  # more than five redirects: treated as not there


def _taken_down(url: str, mark: str) -> Outcome:
    """The outcome of what is listed, or leads there: no hops, which would name it."""
    return Outcome(url, url, RULE, *LEDGER_VALUES, f"{RULE}:{mark}")
