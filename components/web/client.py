"""Request single URLs politely, until they answer or their retries are used up, and store the answers.

An answer in the snapshot's base is reused without a request or confirmed by a conditional one. The order of URLs and the queues
of hosts are in ``fetch``, API calls in ``api``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from components.core.errors import HearsightError
from components.web.answers import Answers, Consent
from components.web.api import Api, call_api
from components.web.conditional_fetch import ConditionalFetch, parse_moment
from components.web.erase import replace_redirect
from components.web.hosts import Host, Slots
from components.web.network import LoopLag, NetworkWatch
from components.web.request import NO_SUCH_NAME, RETRY_STATUS, Response, Role, Session
from components.web.settings import FetchSettings
from components.web.store import FetchStore
from components.web.takedown_list import Takedown
from components.web.urls import host_of
from components.web.warc import Entry

Progress = Callable[..., Iterable[Any]]


class Client:
    """Requests single URLs and stores their answers."""

    def __init__(
        self,
        store: FetchStore,
        settings: FetchSettings,
        proxy: str,
        progress: Progress | None,
        consent: Consent | None,
        earlier: ConditionalFetch | None,
        taken: Takedown,
    ) -> None:
        self.store, self.settings, self._earlier = store, settings, earlier
        self.answers = Answers.under(settings, store, consent=consent, taken=taken)
        self.requests = 0
        """Requests sent."""
        self.progress = progress or (lambda items, **_: items)
        self.spared = 0
        """Answers reused from the base without a request."""
        self.kept = 0
        """Answers whose body is in the base: 304, or an equal body."""
        self.api: Api | None = None
        """Builds the requests of the role ``api``."""
        self.waiting = asyncio.Lock()
        """Held while a task waits for an API's rate limit."""
        self._hosts: dict[str, Host] = {}
        self._slots = Slots(settings.connections)
        self._session = Session(settings, proxy)
        self._network = NetworkWatch(self._session.probe)
        self._lag = LoopLag()

    def note_changes(self, listed: Mapping[str, str]) -> None:
        """Use a sitemap's change dates: pages that the base fetched after their last change are not requested again."""
        if self._earlier:
            self._earlier.changed = {url: parse_moment(lastmod) for url, lastmod in listed.items() if lastmod}

    def take_over(self, urls: Collection[str]) -> None:
        """Reuse the base's good answers for ``urls``, whatever their age."""
        if self._earlier:
            self._earlier.lasting = frozenset(urls)

    def host(self, url: str, role: str = "") -> Host:
        """Return the politeness state of the host of ``url``; an API has its own."""
        name = f"{role} {host_of(url)}"
        if name not in self._hosts:
            self._hosts[name] = Host(self.settings)
        return self._hosts[name]

    async def _ask(self, url: str, role: Role) -> Entry:
        """Request one URL until it answers or the retries are used up; store and return the result."""
        if self._earlier and (reusable := self._earlier.spared(url, role)):
            self.spared += 1
            return self.store.add(reusable)
        if role == "api":
            return await call_api(self, url)
        host = self.host(url)
        async with host.gate:
            wait = self.settings.backoff
            for attempt in range(self.settings.retries + 1):
                delay = self.settings.delay if role == "robots" else max(self.settings.delay, self.answers.rules(url).delay)
                await host.wait_turn(delay)
                if host.closed:
                    return self.store.add(Entry(url, 0, "retry_later", "host asked for more than crawl.max_retry_after"))
                if host.given_up:
                    return self.store.add(_given_up(url, self.settings.budget.host_failures))
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
            host.note(good=not (slow or retryable or entry.failure in ("tls", "dns")))
        stored = self.keep(answer)
        await self._require_network(url)
        return stored

    async def _timed(self, host: Host, url: str, role: Role) -> tuple[Response, bool]:
        """Send one request; return the answer and whether the host was slow, not counting this machine's own delay."""
        async with self._slots.slot(host):
            loop = asyncio.get_running_loop()
            start, lag = loop.time(), self._lag.seconds
            answer = await self.request(url, role)
            seconds = loop.time() - start - (self._lag.seconds - lag)
        return answer, seconds > self.settings.budget.slow_answer

    async def request(self, url: str, role: Role) -> Response:
        """Send one request, conditional if the base has a copy."""
        self.requests += 1
        request_headers = self._earlier.conditions(url) if self._earlier else {}
        if role == "api" and self.api:  # unconditional: the answer's own headers hold the next page's address
            request_headers = self.api.headers(url)
        return await self._session.get(url, role, request_headers)

    def keep(self, answer: Response) -> Entry:
        """Store an answer, without a body that the base holds; of a redirect to a listed address only that it is one."""
        entry, body, headers, reason, _ = answer
        if entry.failure in ("connection", "dns", "timeout") and entry.detail != NO_SUCH_NAME:
            self._network.failed(host_of(entry.url))
        elif entry.failure not in ("dns", "private_address", "internal_error"):
            self._network.answered(host_of(entry.url), entry.url)
        if (stored := replace_redirect(entry, self.answers.taken)) is not entry:
            return self.store.add(stored)
        if self._earlier and entry.status == 304 and self._earlier.conditions(entry.url):
            self.kept += 1
            return self.store.add(self._earlier.confirmed(entry), b"", headers, reason, answered=304)
        compared = self._earlier.unchanged(entry, body) if self._earlier else entry
        self.kept += bool(compared.held)
        return self.store.add(compared, b"" if compared.held else body, headers, reason, answered=200 if compared.held else 0)

    async def _require_network(self, url: str) -> None:
        """Raise HearsightError when this machine has lost its network."""
        if await self._network.lost():
            raise HearsightError(
                f"the network is lost: {self._network.failures} hosts failed in a row, the last one {host_of(url)}, "
                "and no host that answered before can be reached",
                where=self.store.folder,
                hint="check the network and run the stage again; fetched answers are kept",
            )


def _given_up(url: str, failures: int) -> Entry:
    return Entry(url, 0, "host_failing", f"{failures} failures or slow answers in a row", threshold=f"fewer than {failures}")
