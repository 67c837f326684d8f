"""The polite fetcher: asks the web what the store cannot answer yet, and puts every answer there.

Every host has a queue of its own and a few tasks that work through it: robots.txt first, a delay between requests, redirects one
recorded hop at a time, retries by the class of failure. A URL whose next answer is another host's moves to that host's queue, so
no host waits for another. Not in scope: asking for one URL (``client``), which URLs are wanted (``walk``) and what they mean
(``records``).
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import zip_longest

from components.web.answers import HOSTS_IN_MEMORY, Consent, NotFetched
from components.web.client import Client, Progress
from components.web.conditional_fetch import ConditionalFetch
from components.web.hosts import Host
from components.web.request import Role
from components.web.settings import FetchSettings
from components.web.store import FetchStore
from components.web.takedown_list import EMPTY_LIST, Takedown
from components.web.urls import host_of

__all__ = ["FetchSettings", "Fetcher", "interleave_hosts"]

WINDOW = 20_000
"""URLs that may still be waited for when more are asked for."""
OF_ONE_HOST = 100
"""How many of them may be one host's; what a slow host has waiting beyond that holds nobody up."""


@dataclass(frozen=True)
class _Wanted:
    """How a URL is asked for."""

    role: Role
    hosts: Collection[str] | None


class Fetcher(Client):
    """Fills a store with what is asked for. A context manager; it has its own event loop."""

    def __init__(
        self,
        store: FetchStore,
        settings: FetchSettings,
        *,
        proxy: str = "",
        progress: Progress | None = None,
        consent: Consent | None = None,
        earlier: ConditionalFetch | None = None,
        taken: Takedown = EMPTY_LIST,
    ) -> None:
        super().__init__(store, settings, proxy, progress, consent, earlier, taken)
        self._wanted: dict[str, _Wanted] = {}
        """What is asked for and not yet answered."""
        self._flying: dict[str, list[str]] = {}
        """URL in flight → the wanted URLs that wait for it."""
        self._workers: set[asyncio.Task[None]] = set()
        self._finished: asyncio.Queue[None] = asyncio.Queue()
        self._error: BaseException | None = None
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
            self._runner.run(self._work(interleave_hosts(new), wait, desc or f"fetching {role}s"))
        finally:
            self.store.sync()

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


def interleave_hosts(urls: Iterable[str]) -> list[str]:
    """``urls`` with hosts taking turns, so that a slow host holds up none of the others."""
    by_host: dict[str, list[str]] = {}
    for url in urls:
        by_host.setdefault(host_of(url), []).append(url)
    return [url for turn in zip_longest(*by_host.values()) for url in turn if url is not None]
