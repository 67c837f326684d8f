"""The polite fetcher: asks the web what the store cannot answer yet, and puts every answer there.

Every host has a queue of its own and a few tasks that work through it: robots.txt first, a delay between requests, redirects one
recorded hop at a time, retries by the class of failure. A URL whose next answer is another host's moves to that host's queue, so
no host waits for another. Not in scope: which URLs are wanted (``walk``) and what they mean (``records``).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from components.core.errors import HearsightError
from components.web.answers import HOSTS_IN_MEMORY, Answers, Consent, NotFetched
from components.web.api import Api, call
from components.web.conditional_fetch import Earlier, moment
from components.web.erase import turned
from components.web.failures import NO_SUCH_NAME
from components.web.hosts import Host, Slots
from components.web.network import LoopLag, NetworkWatch
from components.web.request import RETRY_STATUS, Answered, Role, Session
from components.web.settings import FetchSettings
from components.web.store import FetchStore
from components.web.takedown_list import NOTHING, Takedown
from components.web.urls import host_of
from components.web.warc import Entry

__all__ = ["FetchSettings", "Fetcher", "spread"]

Progress = Callable[..., Iterable[Any]]
WINDOW = 20_000
"""URLs that may still be waited for when more are asked for."""
OF_ONE_HOST = 100
"""How many of them may be one host's; what a slow host has waiting beyond that holds nobody up."""


@dataclass(frozen=True)
class _Wanted:
    """How a URL is asked for."""

    role: Role
    hosts: Collection[str] | None


class Fetcher:
    """Fills a store with what is asked for. A context manager; it has its own event loop."""

    def __init__(
        self,
        store: FetchStore,
        settings: FetchSettings,
        *,
        proxy: str = "",
        progress: Progress | None = None,
        consent: Consent | None = None,
        earlier: Earlier | None = None,
        taken: Takedown = NOTHING,
    ) -> None:
        self.store, self.settings, self._earlier = store, settings, earlier
        self.answers = Answers.under(settings, store, consent=consent, taken=taken)
        self.requests = 0
        """Requests sent."""
        self.progress = progress or (lambda items, **_: items)
        self.spared = 0
        """Answers taken over from the base without a request."""
        self.kept = 0
        """Answers whose body the base holds: 304, or an equal body."""
        self.api: Api | None = None
        """What requests of the role ``api`` are made of."""
        self.waiting = asyncio.Lock()
        """Held by who waits for an API's rate limit."""
        self._hosts: dict[str, Host] = {}
        self._wanted: dict[str, _Wanted] = {}
        """What is asked for and not yet answered."""
        self._flying: dict[str, list[str]] = {}
        """URL in flight → the wanted URLs that wait for it."""
        self._workers: set[asyncio.Task[None]] = set()
        self._finished: asyncio.Queue[None] = asyncio.Queue()
        self._error: BaseException | None = None
        self._slots = Slots(settings.connections)
        self._session = Session(settings, proxy)
        self._network = NetworkWatch(self._session.probe)
        self._lag = LoopLag()
        self._runner = asyncio.Runner()

    def __enter__(self) -> Fetcher:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._runner.run(self._close())
        finally:
            self._runner.close()
            self.store.sync()

    def ensure(
        self, urls: Iterable[str], role: Role, hosts: Collection[str] | None = None, desc: str = "", *, wait: bool = True
    ) -> None:
        """Ask until the store can tell the outcome of each of ``urls``; errors of the web are answers too.

        Args:
            urls: what is wanted.
            role: what they should be.
            hosts: the hosts that redirects may lead to; None for any.
            desc: what the progress bar says.
            wait: False: return when few are left (:data:`WINDOW`), and leave those to later calls.

        Raises:
            HearsightError: the disk is full, or the network went away (what was fetched is kept).
        """
        new = [url for url in dict.fromkeys(urls) if url not in self._wanted and self._missing(url, hosts)]
        if not new and (not wait or not self._wanted):
            return
        self._wanted |= dict.fromkeys(new, _Wanted(role, hosts))
        try:
            self._runner.run(self._work(spread(new), wait, desc or f"fetching {role}s"))
        finally:
            self.store.sync()

    def note_changes(self, listed: Mapping[str, str]) -> None:
        """Take a sitemap's word for when its pages last changed: what the base got after that is not asked for again."""
        if self._earlier:
            self._earlier.changed = {url: moment(lastmod) for url, lastmod in listed.items() if lastmod}

    def take_over(self, urls: Collection[str]) -> None:
        """Let the base's good answers for ``urls`` stand unasked, whatever their age."""
        if self._earlier:
            self._earlier.lasting = frozenset(urls)

    def host(self, url: str, role: str = "") -> Host:
        """The politeness towards the host of ``url``; its API has rates of its own."""
        name = f"{role} {host_of(url)}"
        if name not in self._hosts:
            self._hosts[name] = Host(self.settings)
        return self._hosts[name]

    # -- the queues ------------------------------------------------------------------------------------------------

    def _missing(self, url: str, hosts: Collection[str] | None) -> NotFetched | None:
        """The answer that is needed next to tell the outcome of ``url``; None when there is one."""
        try:
            self.answers.outcome(url, hosts)
        except NotFetched as missing:
            return missing
        return None

    async def _work(self, new: list[str], wait: bool, desc: str) -> None:
        self._session.open()
        self._error = None
        self._forget_idle()
        while not self._finished.empty():  # of URLs that finished after the last call had stopped counting
            self._finished.get_nowait()
        lag = asyncio.ensure_future(self._lag.watch())
        try:
            for url in new:
                self._route(url)
            if not wait and self._left() <= WINDOW:
                return
            for _ in self.progress(range(len(self._wanted)), total=len(self._wanted), desc=desc):
                await self._finished.get()
                if self._error is not None or (not wait and self._left() <= WINDOW):
                    break
            if self._error is not None:
                raise self._error
        except BaseException:
            await self._stop()
            raise
        finally:
            lag.cancel()

    def _left(self) -> int:
        return sum(min(len(host.waiting), OF_ONE_HOST) for host in self._hosts.values()) + len(self._flying)

    def _forget_idle(self) -> None:
        """Let go of hosts about which there is nothing to remember, so that memory does not grow with their number."""
        if len(self._hosts) > HOSTS_IN_MEMORY:
            now = asyncio.get_running_loop().time()
            self._hosts = {name: host for name, host in self._hosts.items() if not host.idle(now)}

    def _route(self, url: str) -> None:
        """Hand a wanted URL to the host whose answer it needs next; count it when it needs none."""
        wanted = self._wanted[url]
        missing = self._missing(url, wanted.hosts)
        if missing is None:
            del self._wanted[url]
            self._finished.put_nowait(None)
            return
        if missing.url in self.store:
            raise RuntimeError(f"{missing.url} is in the store and still asked for")
        host = self.host(missing.url, "api" if wanted.role == "api" else "")
        host.waiting.append((url, missing))
        if host.workers < self.settings.per_host:
            host.workers += 1
            task = asyncio.ensure_future(self._serve(host))
            self._workers.add(task)
            task.add_done_callback(self._workers.discard)

    async def _serve(self, host: Host) -> None:
        """A task of one host: work through its queue."""
        try:
            while host.waiting and self._error is None:
                await self._advance(*host.waiting.popleft())
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # raised again where the crawl waits
            self._error = self._error or error
            self._finished.put_nowait(None)
        finally:
            host.workers -= 1

    async def _advance(self, url: str, missing: NotFetched) -> None:
        """See to the answer that a wanted URL needs, and move on all that wait for the same one."""
        need = missing.url
        if need in self._flying:
            self._flying[need].append(url)
            return
        self._flying[need] = [url]
        try:
            if need not in self.store:  # else it came while this one waited in the queue
                await self._ask(need, "robots" if missing.robots else self._wanted[url].role)
        finally:
            waiting = self._flying.pop(need)
        for one in waiting:
            self._route(one)

    async def _stop(self) -> None:
        """End all tasks; what was fetched is in the store."""
        for task in (workers := list(self._workers)):
            task.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
        self._wanted.clear()
        self._flying.clear()
        for host in self._hosts.values():
            host.waiting.clear()

    async def _close(self) -> None:
        await self._stop()
        await self._session.close()

    # -- one URL ---------------------------------------------------------------------------------------------------

    async def _ask(self, url: str, role: Role) -> Entry:
        """One URL, asked until it answers or the retries are used up; the result is in the store."""
        if self._earlier and (known := self._earlier.spared(url, role)):
            self.spared += 1
            return self.store.add(known)
        if role == "api":
            return await call(self, url)
        host = self.host(url)
        async with host.gate:
            wait = self.settings.backoff
            for attempt in range(self.settings.retries + 1):
                delay = self.settings.delay if role == "robots" else max(self.settings.delay, self.answers.rules(url).delay)
                await host.turn(delay)
                if host.closed:
                    return self.store.add(Entry(url, 0, "retry_later", "the host asked to be left alone"))
                if host.given_up:
                    return self.store.add(_given_up(url, self.settings.budget.host_failures))
                answer, slow = await self._timed(host, url, role)
                entry = answer.entry
                again = entry.failure in ("timeout", "connection", "dns") and entry.detail != NO_SUCH_NAME
                again = again or entry.status in RETRY_STATUS
                host.closed = host.closed or answer.pause > self.settings.max_retry_after
                if not again or host.closed or attempt == self.settings.retries:
                    break
                host.hold(answer.pause)
                await asyncio.sleep(max(min(wait, self.settings.timeout), answer.pause))
                wait *= 2
            host.note(good=not (slow or again or entry.failure in ("tls", "dns")))
        placed = self.keep(answer)
        await self._require_network(url)
        return placed

    async def _timed(self, host: Host, url: str, role: Role) -> tuple[Answered, bool]:
        """One request, and whether the host was slow; the time that this machine was busy is not the host's."""
        async with self._slots.slot(host):
            loop = asyncio.get_running_loop()
            start, lag = loop.time(), self._lag.seconds
            answer = await self.request(url, role)
            took = loop.time() - start - (self._lag.seconds - lag)
        return answer, took > self.settings.budget.slow_answer

    async def request(self, url: str, role: Role) -> Answered:
        """One request, conditional where the base has a copy."""
        self.requests += 1
        asks = self._earlier.conditions(url) if self._earlier else {}
        if role == "api" and self.api:  # unconditional: the answer's own headers tell of the next page
            asks = self.api.headers(url)
        return await self._session.get(url, role, asks)

    def keep(self, answer: Answered) -> Entry:
        """Store an answer; what the base holds is not copied, and of a redirect to what is taken down only that it is one."""
        entry, body, headers, reason, _ = answer
        if entry.failure in ("connection", "dns", "timeout") and entry.detail != NO_SUCH_NAME:
            self._network.failed(host_of(entry.url))
        elif entry.failure not in ("dns", "private_address", "internal_error"):
            self._network.answered(host_of(entry.url), entry.url)
        if (told := turned(entry, self.answers.taken)) is not entry:
            return self.store.add(told)
        if self._earlier and entry.status == 304 and self._earlier.conditions(entry.url):
            self.kept += 1
            return self.store.add(self._earlier.confirmed(entry), b"", headers, reason, answered=304)
        same = self._earlier.unchanged(entry, body) if self._earlier else entry
        self.kept += bool(same.held)
        return self.store.add(same, b"" if same.held else body, headers, reason, answered=200 if same.held else 0)

    async def _require_network(self, url: str) -> None:
        """Raises HearsightError when this machine has lost its network."""
        if await self._network.lost():
            raise HearsightError(
                f"the network is gone: {self._network.failures} hosts failed one after the other, the last of them "
                f"{host_of(url)}, and none that answered before can be reached",
                where=self.store.folder,
                hint="check the network and run the stage again; what was fetched is kept",
            )


def _given_up(url: str, failures: int) -> Entry:
    return Entry(url, 0, "host_failing", f"{failures} failures or slow answers in a row", threshold=f"fewer than {failures}")


def spread(urls: Iterable[str]) -> list[str]:
    """``urls`` with hosts taking turns, so that a slow host holds up none of the others."""
    by_host: dict[str, list[str]] = {}
    for url in urls:
        by_host.setdefault(host_of(url), []).append(url)
    return [url for turn in zip_longest(*by_host.values()) for url in turn if url is not None]
