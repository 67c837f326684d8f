"""What the stored answers say about a URL: pure reading, the same while a crawl runs and when it is replayed.

Redirects, robots.txt and refused addresses are followed through the store. Where the store has no answer yet,
:class:`NotFetched` names the one that is needed; the fetcher lives on that exception. Not in scope: the network.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import urlsplit

from components.crawl.takedown import NOTHING, RULE, Takedown
from components.crawl.urls import absolute, is_private
from components.crawl.web.robots import Rules, robots_url
from components.crawl.web.store import FetchStore
from components.crawl.web.warc import Entry

MAX_REDIRECTS = 5
REDIRECTS = (301, 302, 303, 307, 308)


class NotFetched(Exception):
    """The store has no answer for ``url`` yet."""

    def __init__(self, url: str, *, robots: bool = False) -> None:
        super().__init__(url)
        self.url, self.robots = url, robots


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


class Answers:
    """A fetch store, read as one robot reads the web."""

    def __init__(self, store: FetchStore, agent: str, *, allow_private: bool, taken: Takedown = NOTHING) -> None:
        self.store, self._agent, self._allow_private = store, agent, allow_private
        self.taken = taken
        self._rules: dict[str, Rules] = {}

    def outcome(self, url: str, hosts: Collection[str] | None = None) -> Outcome:
        """Follow ``url`` through the store; ``hosts`` bounds where redirects may lead (None: anywhere).

        Raises:
            NotFetched: an answer is missing.
        """
        at, hops = url, list[str]()
        for _ in range(MAX_REDIRECTS + 1):
            # Before anything is asked, robots.txt included; hops would name the address, so there are none.
            if mark := self.taken.url(at):
                return Outcome(url, self.taken.mask(at), RULE, f"{RULE}:{mark}")
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
            entry = self.store.get(at)
            if entry is None:
                raise NotFetched(at)
            if entry.failure:
                return Outcome(url, at, entry.failure, entry.detail, "", entry.type, entry, tuple(hops))
            if entry.status not in REDIRECTS or not entry.location:
                if entry.status != 200:
                    return Outcome(url, at, "http_status", str(entry.status), "200", "", entry, tuple(hops))
                return Outcome(url, at, entry=entry, hops=tuple(hops))
            target = absolute(entry.location, at)
            hops.append(f"{entry.status} {target or entry.location}")
            if target is None:
                return Outcome(url, at, "unusable_url", entry.location[:200], "http or https", "", entry, tuple(hops))
            at = target
        return Outcome(url, at, "redirect", f"{len(hops)} hops", str(MAX_REDIRECTS), hops[-1], hops=tuple(hops))

    def rules(self, url: str) -> Rules:
        """The robots rules for ``url``'s host; redirects of robots.txt are followed (RFC 9309, 2.3.1.2).

        Raises:
            NotFetched: its robots.txt has not been asked for.
        """
        origin = at = robots_url(url)
        if origin not in self._rules:
            status, body = 404, b""  # more than five redirects: treated as not there
            for _ in range(MAX_REDIRECTS + 1):
                if at != origin and self.taken.url(at):
                    status = 599  # rules that can no longer be read forbid everything
                    break
                if not self._allow_private and is_private(urlsplit(at).hostname or ""):
                    break
                entry = self.store.get(at)
                if entry is None:
                    raise NotFetched(at, robots=True)
                target = absolute(entry.location, at) if entry.status in REDIRECTS and entry.location else None
                if target is None:
                    status = entry.status if not entry.failure else 599
                    body = self.store.body(at) if 200 <= entry.status < 300 else b""
                    break
                at = target
            self._rules[origin] = Rules.of(status, body, self._agent)
        return self._rules[origin]
