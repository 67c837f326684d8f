"""The polite fetcher: request what the store cannot answer yet, and store every answer.

Every host has a queue and a few tasks: robots.txt first, a delay between requests, redirects one recorded hop at a time, retries
by class of failure. A URL whose next answer comes from another host moves to that host's queue, so no host waits for another.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from itertools import zip_longest

from components.web.answers import HOSTS_IN_MEMORY, NotFetched
from components.web.api import Api
from components.web.api_calls import call_api
from components.web.client import Client
from components.web.hosts import Host
from components.web.request import Role
from components.web.urls import host_of

WINDOW = 20_000
"""URLs that may be pending when ``ensure`` returns without waiting."""
OF_ONE_HOST = 100
"""Maximum pending URLs counted per host: a slow host does not delay the next call."""
Hosts = Collection[str] | None


@dataclass(frozen=True)
class _Request:
    role: Role
    hosts: Hosts
    page: bool
    """Whether a refusal of a use is no reason not to ask (see ``Answers.outcome``)."""


@dataclass(eq=False)
class Fetcher(Client):
    """Fills a store with answers. A context manager with its own event loop."""

    api: Api | None = field(default=None, init=False)
    """The API that requests of the role ``api`` are sent to."""
    _pending: dict[str, _Request] = field(default_factory=dict, init=False)
    """URLs requested and not yet answered."""
    _in_flight: dict[str, list[str]] = field(default_factory=dict, init=False)
    """URL in flight → the pending URLs that wait for it."""
    _workers: set[asyncio.Task[None]] = field(default_factory=set, init=False)
    _finished: asyncio.Queue[None] = field(default_factory=asyncio.Queue, init=False)
    _error: BaseException | None = field(default=None, init=False)
    _runner: asyncio.Runner = field(default_factory=asyncio.Runner, init=False)

    def __enter__(self) -> Fetcher:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._runner.run(self._close())
        finally:
            self._runner.close()
            self.store.sync()

    def ensure(
        self, urls: Iterable[str], role: Role, hosts: Hosts = None, desc: str = "", *, wait: bool = True, page: bool | None = None
    ) -> None:
        """Request until the store has an outcome for each of ``urls``; errors of the web are outcomes too.

        Args:
            role: ``robots`` for what the hosts of ``urls`` state about them, without the URLs themselves.
            hosts: hosts that redirects may lead to; None for any.
            wait: wait for all; if False, return once at most :data:`WINDOW` are pending, which later calls finish.
            page: what ``Answers.outcome`` will be asked with; by default True for all roles but ``image``.

        Raises:
            HearsightError: the disk is full, or the network is lost (fetched answers are kept).
        """
        request = _Request(role, hosts, role != "image" if page is None else page)
        wanted = dict.fromkeys(urls)
        if request.page:  # what is pending as an image is a page too
            self._pending |= {url: replace(self._pending[url], page=True) for url in wanted if url in self._pending}
        new = [url for url in wanted if url not in self._pending and self._missing(url, request)]
        if not new and (not wait or not self._pending):
            return
        self._pending |= dict.fromkeys(new, request)
        try:
            self._runner.run(self._work(interleave_hosts(new), wait, desc or f"fetching {role}s"))
        finally:
            self.store.sync()

    def _missing(self, url: str, request: _Request) -> NotFetched | None:
        """Return the answer that the outcome of ``url`` needs next; None when the outcome is known."""
        try:
            if request.role == "robots":
                self.answers.refuse_host(url)
            else:
                self.answers.outcome(url, request.hosts, page=request.page)
        except NotFetched as missing:
            return missing
        return None

    async def _work(self, new: list[str], wait: bool, desc: str) -> None:
        self._session.open()
        self._error = None
        self._forget_idle()
        while not self._finished.empty():  # URLs that finished after the last call stopped counting
            self._finished.get_nowait()
        lag = asyncio.ensure_future(self._lag.watch())
        try:
            for url in new:
                self._route(url)
            if not wait and self._count_pending() <= WINDOW:
                return
            for _ in self.progress(range(len(self._pending)), total=len(self._pending), desc=desc):
                await self._finished.get()
                if self._error is not None or (not wait and self._count_pending() <= WINDOW):
                    break
            if self._error is not None:
                raise self._error
        except BaseException:
            await self._stop()
            raise
        finally:
            lag.cancel()

    def _count_pending(self) -> int:
        return sum(min(len(host.waiting), OF_ONE_HOST) for host in self._hosts.values()) + len(self._in_flight)

    def _forget_idle(self) -> None:
        """Drop hosts without state to keep, so that memory does not grow with their number."""
        if len(self._hosts) > HOSTS_IN_MEMORY:
            now = asyncio.get_running_loop().time()
            self._hosts = {name: host for name, host in self._hosts.items() if not host.idle(now)}

    def _route(self, url: str) -> None:
        """Queue a pending URL at the host whose answer it needs next; count it as finished when it needs none."""
        request = self._pending[url]
        missing = self._missing(url, request)
        if missing is None:
            del self._pending[url]
            self._finished.put_nowait(None)
            return
        if missing.url in self.store:
            raise RuntimeError(f"{missing.url} is in the store and still requested")
        host = self.host(missing.url, "api" if request.role == "api" else "")
        host.waiting.append((url, missing))
        if host.workers < self.settings.per_host:
            host.workers += 1
            task = asyncio.ensure_future(self._serve(host))
            self._workers.add(task)
            task.add_done_callback(self._workers.discard)

    async def _serve(self, host: Host) -> None:
        try:
            while host.waiting and self._error is None:
                await self._advance(*host.waiting.popleft())
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # raised again in _work
            self._error = self._error or error
            self._finished.put_nowait(None)
        finally:
            host.workers -= 1

    async def _advance(self, url: str, missing: NotFetched) -> None:
        """Get the answer that a pending URL needs, and route every URL that waits for it."""
        needed = missing.url
        if needed in self._in_flight:
            self._in_flight[needed].append(url)
            return
        self._in_flight[needed] = [url]
        try:
            if needed not in self.store:  # otherwise it arrived while this URL was queued
                await self._ask(needed, "robots" if missing.robots else self._pending[url].role)
        finally:
            waiting = self._in_flight.pop(needed)
        for pending in waiting:
            self._route(pending)

    async def _ask(self, url: str, role: Role) -> None:
        """Store an answer for one URL: the base's, if that needs no request, else the host's."""
        if self.reuse(url, role):
            return
        if role == "api":
            assert self.api is not None
            await call_api(self, self.api, url)
        else:
            await self.fetch(url, role)

    async def _stop(self) -> None:
        """Cancel all tasks; fetched answers are in the store."""
        for task in (workers := list(self._workers)):
            task.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
        self._pending.clear()
        self._in_flight.clear()
        for host in self._hosts.values():
            host.waiting.clear()

    async def _close(self) -> None:
        await self._stop()
        await self._session.close()


def interleave_hosts(urls: Iterable[str]) -> list[str]:
    """Return ``urls`` with hosts taking turns, so that a slow host delays no other."""
    by_host: dict[str, list[str]] = {}
    for url in urls:
        by_host.setdefault(host_of(url), []).append(url)
    return [url for turn in zip_longest(*by_host.values()) for url in turn if url is not None]
