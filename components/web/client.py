"""Request single URLs politely, until they answer or their retries are used up, and store the answers.

An answer in the snapshot's base is reused without a request or confirmed by a conditional one. The order of URLs and the queues
of hosts are in ``fetch``, API calls in ``api_calls``.

Old image lists have many dead hosts. The network counts as lost only when many distinct hosts failed over some time in which
none answered, and hosts that answered before cannot be reached either.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

from components.core.errors import HearsightError
from components.web.answers import Answers
from components.web.challenges import FAILURE as CHALLENGE
from components.web.conditional_fetch import ConditionalFetch, parse_moment
from components.web.consent.policy import Policy
from components.web.erase import replace_redirect
from components.web.hosts import Host, Slots
from components.web.request import NO_SUCH_NAME, RETRY_STATUS, Response, Role, Session
from components.web.settings import FetchSettings
from components.web.store import FetchStore
from components.web.takedown_list import EMPTY_LIST, Takedown
from components.web.urls import host_of
from components.web.warc import Entry

FAILED_HOSTS = 25
"""Minimum distinct hosts that failed since the last answer."""
FAILED_SECONDS = 15.0
"""Minimum seconds without an answer."""
UNPROBED_FACTOR = 4
"""Factor on both minima while no host has answered yet, since none can be probed."""
PROBES = 3
"""Hosts that answered before and are probed."""


class NetworkWatch:
    """Records which hosts answer and fail, and decides whether the network is lost."""

    def __init__(self, probe: Callable[[str], Awaitable[bool]]) -> None:
        """``probe``: requests a URL and returns whether any answer came."""
        self._probe = probe
        self._good: OrderedDict[str, str] = OrderedDict()
        self._failed: set[str] = set()
        self._quiet_since: float | None = None
        self._probing = asyncio.Lock()

    def answered(self, origin: str, url: str) -> None:
        """Record an answer from a host."""
        self._failed.clear()
        self._quiet_since = None
        self._good[origin] = url
        self._good.move_to_end(origin)
        while len(self._good) > PROBES:
            self._good.popitem(last=False)

    def failed(self, origin: str) -> None:
        """Record a request to a host without an answer."""
        if self._quiet_since is None:
            self._quiet_since = asyncio.get_running_loop().time()
        self._failed.add(origin)

    @property
    def failures(self) -> int:
        """Distinct hosts that failed since the last answer."""
        return len(self._failed)

    async def lost(self) -> bool:
        """Return whether the network is lost; probes hosts that answered before if it seems so."""
        if not self._looks_lost():
            return False
        async with self._probing:
            if not self._looks_lost():  # an answer came during another probe
                return False
            for origin, url in reversed(list(self._good.items())):
                if await self._probe(url):
                    self.answered(origin, url)
                    return False
            return True

    def _looks_lost(self) -> bool:
        factor = 1 if self._good else UNPROBED_FACTOR
        if self._quiet_since is None or len(self._failed) < factor * FAILED_HOSTS:
            return False
        return asyncio.get_running_loop().time() - self._quiet_since >= factor * FAILED_SECONDS


class LoopLag:
    """Measures how late the event loop runs callbacks, which a busy machine adds to every answer's time."""

    PERIOD = 0.25

    def __init__(self) -> None:
        self.seconds = 0.0
        """Total lateness so far."""

    async def watch(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            start = loop.time()
            await asyncio.sleep(self.PERIOD)
            self.seconds += max(0.0, loop.time() - start - self.PERIOD)


Progress = Callable[..., Iterable[Any]]


def _show_nothing(items: Iterable[Any], **_: object) -> Iterable[Any]:
    return items


@dataclass(eq=False)
class Client:
    """Requests single URLs and stores their answers."""

    store: FetchStore
    settings: FetchSettings
    _: KW_ONLY
    proxy: str = ""
    progress: Progress = _show_nothing
    consent: Policy | None = None
    earlier: ConditionalFetch | None = None
    taken: Takedown = EMPTY_LIST

    def __post_init__(self) -> None:
        self.answers = Answers(self.store, self.settings, consent=self.consent, taken=self.taken, live=True)
        self.requests = 0
        """Requests sent."""
        self.spared = 0
        """Answers reused from the base without a request."""
        self.kept = 0
        """Answers whose body is in the base: 304, or an equal body."""
        self.waiting = asyncio.Lock()
        """Held while a task waits for an API's rate limit."""
        self._hosts: dict[str, Host] = {}
        self._slots = Slots(self.settings.connections)
        self._session = Session(self.settings, self.proxy)
        self._network = NetworkWatch(self._session.probe)
        self._lag = LoopLag()

    def note_changes(self, listed: Mapping[str, str]) -> None:
        """Use a sitemap's change dates: pages that the base fetched after their last change are not requested again."""
        if self.earlier:
            self.earlier.changed = {url: parse_moment(lastmod) for url, lastmod in listed.items() if lastmod}

    def take_over(self, urls: Collection[str]) -> None:
        """Reuse the base's good answers for ``urls``, whatever their age."""
        if self.earlier:
            self.earlier.lasting = frozenset(urls)

    def host(self, url: str, role: str = "") -> Host:
        """Return the politeness state of the host of ``url``; an API has its own."""
        name = f"{role} {host_of(url)}"
        if name not in self._hosts:
            self._hosts[name] = Host(self.settings)
        return self._hosts[name]

    def reuse(self, url: str, role: Role) -> bool:
        """Store the base's answer for ``url`` if it needs no request; return whether it does."""
        reusable = self.earlier.spared(url, role) if self.earlier else None
        if reusable is not None:
            self.spared += 1
            self.store.add(reusable)
        return reusable is not None

    async def fetch(self, url: str, role: Role) -> None:
        """Request one URL until it answers or the retries are used up, and store the result."""
        host = self.host(url)
        async with host.gate:
            wait = self.settings.backoff
            for attempt in range(self.settings.retries + 1):
                delay = self.settings.delay if role == "robots" else max(self.settings.delay, self.answers.rules(url).delay)
                await host.wait_turn(delay)
                if host.closed:
                    self.store.add(Entry(url, 0, "retry_later", "host asked for more than crawl.max_retry_after"))
                    return
                if host.given_up:
                    limit = self.settings.budget.host_failures
                    detail = f"{limit} failures or slow answers in a row"
                    self.store.add(Entry(url, 0, "host_failing", detail, threshold=f"fewer than {limit}"))
                    return
                answer, slow = await self._timed(host, url, role)
                entry = answer.entry
                retryable = entry.failure in ("timeout", "connection", "dns") and entry.detail != NO_SUCH_NAME
                retryable = retryable or entry.status in RETRY_STATUS
                host.closed = host.closed or answer.pause > self.settings.max_retry_after
                if not retryable or host.closed or attempt == self.settings.retries:
                    break
                host.hold(answer.pause)
                await asyncio.sleep(max(min(wait, self.settings.timeout), answer.pause))
                wait *= 2
            host.note(good=not (slow or retryable or entry.failure in ("tls", "dns", CHALLENGE)))
        self.keep(answer)
        await self._require_network(url)

    async def _timed(self, host: Host, url: str, role: Role) -> tuple[Response, bool]:
        """Send one request; return the answer and whether the host was slow, not counting this machine's own delay."""
        async with self._slots.slot(host):
            loop = asyncio.get_running_loop()
            start, lag = loop.time(), self._lag.seconds
            answer = await self.request(url, role, self.earlier.conditions(url) if self.earlier else {})
            seconds = loop.time() - start - (self._lag.seconds - lag)
        return answer, seconds > self.settings.budget.slow_answer

    async def request(self, url: str, role: Role, headers: Mapping[str, str]) -> Response:
        """Send one request with further ``headers``."""
        self.requests += 1
        return await self._session.get(url, role, headers)

    def keep(self, answer: Response) -> None:
        """Store an answer, without a body that the base holds; of a redirect to a listed address only that it is one."""
        entry, body, headers, reason, _ = answer
        if entry.failure in ("connection", "dns", "timeout") and entry.detail != NO_SUCH_NAME:
            self._network.failed(host_of(entry.url))
        elif entry.failure not in ("dns", "private_address", "internal_error"):
            self._network.answered(host_of(entry.url), entry.url)
        if (stored := replace_redirect(entry, self.answers.taken)) is not entry:
            self.store.add(stored)
            return
        if self.earlier and entry.status == 304 and self.earlier.conditions(entry.url):
            self.kept += 1
            self.store.add(self.earlier.confirmed(entry), b"", headers, reason, answered=304)
            return
        compared = self.earlier.unchanged(entry, body) if self.earlier else entry
        self.kept += bool(compared.held)
        self.store.add(compared, b"" if compared.held else body, headers, reason, answered=200 if compared.held else 0)

    async def _require_network(self, url: str) -> None:
        """Raise HearsightError when this machine has lost its network."""
        if await self._network.lost():
            raise HearsightError(
                f"the network is lost: {self._network.failures} hosts failed in a row, the last one {host_of(url)}, "
                "and no host that answered before can be reached",
                where=self.store.folder,
                hint="check the network and run the stage again; fetched answers are kept",
            )
