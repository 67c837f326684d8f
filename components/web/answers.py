"""Read the outcome of a URL from stored answers only: equal while a crawl runs and in a replay.

Redirects, robots.txt and refused addresses are followed through the store. A missing answer raises :class:`NotFetched`, which
tells the fetcher what to request next.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from urllib.parse import urlsplit

from components.core.text_encoding import decode_text
from components.web.consent.policy import Policy
from components.web.consent.reservations import Reservations, tdmrep_url
from components.web.consent.statements import LONGEST, Statement, parse_header_statements
from components.web.robots import Rules, robots_url
from components.web.settings import FetchSettings
from components.web.store import FetchStore
from components.web.takedown_list import EMPTY_LIST, LEDGER_VALUES, RULE, Takedown
from components.web.urls import is_private, make_absolute
from components.web.warc import Entry

MAX_REDIRECTS = 5
HOSTS_IN_MEMORY, LICENCES_IN_MEMORY = 10_000, 1000
"""Hosts whose parsed robots.txt and tdmrep.json are kept in memory, and licences."""
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


class Answers:
    """Outcomes of URLs, read from a fetch store under the user agent, limits and address policy of a crawl's settings."""

    def __init__(
        self,
        store: FetchStore,
        settings: FetchSettings,
        *,
        consent: Policy | None = None,
        taken: Takedown = EMPTY_LIST,
        live: bool = False,
    ) -> None:
        self.store, self.agent, self.budget = store, settings.user_agent, settings.budget
        """``agent``: the robot's product token."""
        self._allow_private = settings.allow_private
        self.consent, self.taken, self._live = consent or Policy(settings.user_agent), taken, live
        """``live``: whether the licences that a robots.txt names are asked for; a replay takes one it lacks for unreadable."""
        self.touched: set[str] = set()
        """URLs that were looked up; recorded only if the takedown list is not empty."""
        self.unruled: tuple[str, ...] = ()
        """URL prefixes to which robots.txt is not applied: those of an API with its own terms of use."""
        # What is missing raises, and is looked up again.
        self._rules = lru_cache(HOSTS_IN_MEMORY)(self._read_rules)
        self._reservations = lru_cache(HOSTS_IN_MEMORY)(self._read_reservations)
        self._licences = lru_cache(LICENCES_IN_MEMORY)(self._read_licence)
        self.licence_urls: set[str] = set()
        """The addresses of all licences that were looked up."""
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
            # Of a page, whose links may be followed, only a reservation is a reason not to ask for it.
            if (refusal := self.refuse_host(current)) and (not page or refusal[0] == "tdm_reserved"):
                return end(*refusal)
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
                refused = None if page else self.find_opt_out(url, current, self.read_statements(entry))
                return end(*refused, current, entry=entry) if refused else end("", "", "", entry=entry)
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
        return parse_header_statements(entry.robots, entry.tdm, entry.signals)

    def refuse(self, statements: Iterable[Statement], url: str) -> tuple[str, str] | None:
        """Return (rule, statement) of the strongest refusal of ``url``'s use, or None; licences that are not stored refuse."""
        return self.consent.find_refusal(statements, url, partial(self.stored_licence, url))

    def consents(self, statements: Collection[Statement], url: str) -> bool:
        """Return whether one of the statements gives consent to the use of ``url``."""
        return self.consent.gives_consent(statements, url, partial(self.stored_licence, url))

    def refuse_host(self, url: str) -> tuple[str, str, str] | None:
        """Return (rule, statement, where it stands) of what the host's tdmrep.json or robots.txt refuses for ``url``, or None.

        Raises:
            NotFetched: one of these, or while a crawl runs a licence that they name, is missing.
        """
        reserved, text = self.reservation(url)
        if reserved:
            return "tdm_reserved", f"tdmrep.json: {text}", tdmrep_url(url)
        statements = self.rules(url).statements(url)
        read = self._licence if self._live else self.stored_licence
        refusal = self.consent.find_refusal(statements, url, partial(read, url)) if statements else None
        return (*refusal, robots_url(url)) if refusal else None

    def _licence(self, url: str, address: str) -> str | None:
        """Return the text of a licence that is stated for ``url``. Raises NotFetched."""
        target = make_absolute(address, url)
        if target is None:
            return None
        self.licence_urls.add(target)
        return self._licences(target)

    def _read_licence(self, url: str) -> str | None:
        status, body = self.well_known(url) if self.rules(url).allow(url) else (404, b"")
        return decode_text(body, "replace") if 200 <= status < 300 and len(body) <= LONGEST else None

    def stored_licence(self, url: str, address: str) -> str | None:
        """Return the text of a licence that is stated for ``url``, None for one that is not stored or cannot be read."""
        try:
            return self._licence(url, address)
        except NotFetched:
            return None

    def find_opt_out(self, url: str, at: str, statements: Sequence[Statement]) -> tuple[str, str] | None:
        """Return (rule, statement) of what drops an image by its answer at ``at``, or None."""
        if refused := self.refuse(statements, at):
            return refused
        agrees = not self.consent.opt_in or self.consents(statements, at) or self.host_agrees(at) or self.is_granted(url, at)
        return None if agrees else ("no_consent", "said nothing")

    def host_agrees(self, url: str) -> bool:
        """Return whether the host of ``url`` gives consent: the crawl's owner named it, its robots.txt allows this robot by name,
        its tdmrep.json reserves nothing there, or its robots.txt permits the use.

        Raises:
            NotFetched: one of these is missing.
        """
        by_name = self.rules(url).named and self.rules(url).allow(url)
        known = urlsplit(url).netloc in self.consent.hosts or by_name or self.reservation(url)[0] is False
        return known or self.consents(self.rules(url).statements(url), url)

    def grant(self, urls: Collection[str]) -> None:
        """Record a page's consent for the images of its own host."""
        self._granted.update(urls)

    def is_granted(self, *urls: str) -> bool:
        """Return whether a page gave consent for an image of one of these addresses."""
        return not self._granted.isdisjoint(urls)

    def reservation(self, url: str) -> tuple[bool | None, str]:
        """Return whether the host's tdmrep.json reserves ``url``, and the rule that says so; (None, '') without a statement or
        when the crawl does not use such files.

        Raises:
            NotFetched: the file is missing.
        """
        origin = tdmrep_url(url)
        if not self.consent.tdmrep or url == origin or (self.unruled and url.startswith(self.unruled)):
            return None, ""
        return self._reservations(origin).stated(url)

    def _read_reservations(self, url: str) -> Reservations:
        status, body = self.well_known(url) if self.rules(url).allow(url) else (404, b"")
        if 200 <= status < 300:
            return Reservations.of(body)
        entry = self.store.get(url)
        why = (entry and entry.failure) or str(status)
        absent = 400 <= status < 500 and status != 429  # as of a robots.txt (RFC 9309, 2.3.1.3): buckets answer 403 for no file
        return Reservations() if absent else Reservations.of_unreadable(why)

    def rules(self, url: str) -> Rules:
        """Return the robots rules for the host of ``url``; redirects of robots.txt are followed (RFC 9309, 2.3.1.2).

        Raises:
            NotFetched: the robots.txt is missing.
        """
        if self.unruled and url.startswith(self.unruled):
            return Rules(None, self.agent)
        return self._rules(robots_url(url))

    def _read_rules(self, url: str) -> Rules:
        return Rules.of(*self.well_known(url), self.agent)

    def well_known(self, url: str) -> tuple[int, bytes]:
        """Return status (599 for a failure) and body of a host's robots.txt or tdmrep.json, following redirects."""
        current, hops = url, 0
        while hops <= MAX_REDIRECTS:
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
            current, hops = target, hops + 1
        # RFC 9309, 2.3.1.2: a robots.txt behind more redirects is missing. So is what is never asked for.
        return 404 if url == robots_url(url) or not hops else 599, b""


def _listed_outcome(url: str, mark: str) -> Outcome:
    """Return the outcome of a URL on the takedown list, or one redirecting to it; no hops, which would reveal it."""
    return Outcome(url, url, RULE, *LEDGER_VALUES, f"{RULE}:{mark}")
