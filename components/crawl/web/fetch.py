"""The polite fetcher: asks the web what the store cannot answer yet, and puts every answer there.

A few connections a host, a delay between requests to it, robots.txt first, redirects one recorded hop at a time, time and
size limits, retries by the class of failure, addresses of private networks refused. What is fetched does not
depend on the order of the answers. Not in scope: which URLs are wanted (``walk``) and what they mean (``records``).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Any, Literal

import aiohttp
from aiohttp.http_exceptions import HttpProcessingError
from yarl import URL

from components.core.errors import HearsightError
from components.crawl.takedown import NOTHING, Takedown
from components.crawl.urls import host_of
from components.crawl.web.addresses import PrivateAddress, PublicResolver
from components.crawl.web.answers import Answers, Consent, NotFetched
from components.crawl.web.api import Api, call
from components.crawl.web.earlier import Earlier, moment
from components.crawl.web.early import Limits, read_image
from components.crawl.web.erase import turned
from components.crawl.web.failures import NO_SUCH_NAME, failure_class, retry_after
from components.crawl.web.robots import MAX_BYTES as ROBOTS_BYTES
from components.crawl.web.settings import FetchSettings
from components.crawl.web.sitemaps import MAX_BYTES as SITEMAP_BYTES
from components.crawl.web.store import FetchStore
from components.crawl.web.warc import Entry, described, sent_headers

Role = Literal["page", "image", "robots", "sitemap", "api"]
Progress = Callable[..., Iterable[Any]]
RETRY_STATUS = (429, 500, 502, 503, 504)
ERROR_BODY = 64 * 1024
"""Bytes kept of the body of an answer that is not 200."""
GONE = 25
"""Connection failures in a row, with no success between, that mean the network is gone."""
CHUNK = 2000
"""URLs that are in hand at a time."""
_DROP_HEADERS = ("content-encoding", "transfer-encoding", "content-length", "connection", "keep-alive")


class _Host:
    """Politeness towards one host."""

    def __init__(self, settings: FetchSettings) -> None:
        self.gate = asyncio.Semaphore(settings.per_host)
        self.free_at = 0.0
        self.held_until = 0.0
        """Until when it asked to be left alone, in the loop's time."""
        self.closed = False
        """It asked to be left alone for longer than we wait."""

    async def turn(self, delay: float) -> None:
        """Wait until the next request may start."""
        now = asyncio.get_running_loop().time()
        start = max(now, self.free_at)
        self.free_at = start + delay
        if start > now:
            await asyncio.sleep(start - now)

    def hold(self, pause: float) -> None:
        """Let no request start for ``pause`` seconds."""
        self.held_until = max(self.held_until, asyncio.get_running_loop().time() + pause)
        self.free_at = max(self.free_at, self.held_until)


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
        self.answers = Answers(store, settings.user_agent, allow_private=settings.allow_private, consent=consent, taken=taken)
        self.requests = 0
        """Requests sent."""
        self._proxy = proxy or None
        self.progress = progress or (lambda items, **_: items)
        self.spared = 0
        """Answers taken over from the base without a request."""
        self.kept = 0
        """Answers whose body the base holds: 304, or an equal body."""
        self._hosts: dict[str, _Host] = {}
        self._flying: dict[str, asyncio.Future[Entry]] = {}
        self.api: Api | None = None
        """What requests of the role ``api`` are made of."""
        self.waiting = asyncio.Lock()
        """Held by who waits for an API's rate limit."""
        self._failures = 0
        self._runner = asyncio.Runner()
        self._session: aiohttp.ClientSession | None = None

    def __enter__(self) -> Fetcher:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            if self._session is not None:
                self._runner.run(self._session.close())
        finally:
            self._runner.close()
            self.store.sync()

    def ensure(self, urls: Collection[str], role: Role, hosts: Collection[str] | None = None, desc: str = "") -> None:
        """Ask until the store can tell the outcome of each of ``urls``; errors of the web are answers too.

        Raises:
            HearsightError: the disk is full, or the network went away (what was fetched is kept).
        """
        wanted = [url for url in urls if self._needs(url, hosts)]
        if not wanted:
            return
        try:
            for start in range(0, len(wanted), CHUNK):
                part = spread(wanted[start : start + CHUNK])
                self._runner.run(self._all(part, role, hosts, desc))
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

    def host(self, url: str, role: str = "") -> _Host:
        """The politeness towards the host of ``url``; its API has rates of its own."""
        return self._hosts.setdefault(f"{role} {host_of(url)}", _Host(self.settings))

    def _needs(self, url: str, hosts: Collection[str] | None) -> bool:
        try:
            self.answers.outcome(url, hosts)
        except NotFetched:
            return True
        return False

    async def _all(self, urls: Sequence[str], role: Role, hosts: Collection[str] | None, desc: str) -> None:
        self._open()
        tasks = [asyncio.ensure_future(self._one(url, role, hosts)) for url in urls]
        try:
            for task in self.progress(asyncio.as_completed(tasks), total=len(tasks), desc=desc or f"fetching {role}s"):
                await task
        finally:
            for running in tasks:
                running.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _open(self) -> None:
        if self._session is None:
            own = None if self._proxy or self.settings.allow_private else PublicResolver()
            connector = aiohttp.TCPConnector(limit=self.settings.connections, resolver=own)
            agent = f"{self.settings.user_agent}/0.1" + (f" (+{self.settings.contact})" if self.settings.contact else "")
            self._session = aiohttp.ClientSession(
                connector=connector, headers={"User-Agent": agent, "Accept-Encoding": "gzip, deflate"}, trust_env=False
            )

    async def _one(self, url: str, role: Role, hosts: Collection[str] | None) -> None:
        while True:
            try:
                self.answers.outcome(url, hosts)
                return
            except NotFetched as missing:
                need, kind = missing.url, ("robots" if missing.robots else role)
            if need not in self._flying:
                self._flying[need] = asyncio.ensure_future(self._ask(need, kind))
            # Shielded: one of several who wait may be cancelled, the request is not theirs alone.
            await asyncio.shield(self._flying[need])
            self._flying.pop(need, None)

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
                    left = Entry(url, 0, "retry_later", "the host asked to be left alone")
                    return self.store.add(left)
                entry, body, headers, reason, pause = await self.request(url, role)
                again = entry.failure in ("timeout", "connection", "dns") and entry.detail != NO_SUCH_NAME
                again = again or entry.status in RETRY_STATUS
                host.closed = host.closed or pause > self.settings.max_retry_after
                if not again or host.closed or attempt == self.settings.retries:
                    break
                host.hold(pause)
                await asyncio.sleep(max(min(wait, self.settings.timeout), pause))
                wait *= 2
        return self.keep(entry, body, headers, reason)

    def keep(self, entry: Entry, body: bytes, headers: list[tuple[str, str]], reason: str) -> Entry:
        """Store an answer; raises HearsightError when it is one failure too many in a row."""
        lost = entry.failure in ("connection", "dns") and entry.detail != NO_SUCH_NAME
        self._failures = self._failures + 1 if lost else 0
        placed = self._store(entry, body, headers, reason)
        if self._failures >= GONE:
            raise HearsightError(
                f"the network is gone: {self._failures} connections failed in a row, the last to {host_of(entry.url)}",
                where=self.store.folder,
                mend="check the network and run the stage again; what was fetched is kept",
            )
        return placed

    def _store(self, entry: Entry, body: bytes, headers: list[tuple[str, str]], reason: str) -> Entry:
        """Keep an answer; what the base holds is not copied, and of a redirect to what is taken down only that it is one."""
        if (told := turned(entry, self.answers.taken)) is not entry:
            return self.store.add(told)
        if self._earlier and entry.status == 304 and self._earlier.conditions(entry.url):
            self.kept += 1
            return self.store.add(self._earlier.confirmed(entry), b"", headers, reason, answered=304)
        same = self._earlier.unchanged(entry, body) if self._earlier else entry
        self.kept += bool(same.held)
        return self.store.add(same, b"" if same.held else body, headers, reason, answered=200 if same.held else 0)

    async def request(self, url: str, role: Role) -> tuple[Entry, bytes, list[tuple[str, str]], str, float]:
        """One request: (entry, body, headers, reason phrase, seconds the host asks us to wait)."""
        assert self._session is not None
        pages = self.settings.max_page_bytes
        largest = {"page": pages, "api": pages, "image": self.settings.max_image_bytes}
        limit = largest.get(role, SITEMAP_BYTES if role == "sitemap" else ROBOTS_BYTES)
        times = aiohttp.ClientTimeout(total=self.settings.timeout, sock_connect=self.settings.connect_timeout)
        self.requests += 1
        asks = self._earlier.conditions(url) if self._earlier else {}
        if role == "api" and self.api:  # unconditional: the answer's own headers tell of the next page
            asks = self.api.headers(url)
        try:
            address = URL(url, encoded=True)
            async with self._session.get(
                address, allow_redirects=False, proxy=self._proxy, timeout=times, headers=asks
            ) as answer:
                headers = [(name, value) for name, value in answer.headers.items() if name.lower() not in _DROP_HEADERS]
                sent = sent_headers(list(answer.headers.items()))
                entry = Entry(url, answer.status, **described(sent))
                pause = retry_after(sent) if answer.status in RETRY_STATUS else 0.0
                if answer.status != 200:
                    body = await _read(answer, ERROR_BODY)
                    return entry, body[:ERROR_BODY], headers, answer.reason or "", pause
                if role == "page" and not readable(entry.type):
                    return Entry(url, 0, "not_html", entry.type[:80], entry.type), b"", [], "", 0.0
                if role == "image":
                    limits = Limits(limit, self.settings.min_side, self.settings.max_aspect)
                    refused, body = await read_image(answer, sent, limits)
                    if refused:
                        entry = Entry(url, 0, refused.rule, refused.value, entry.type, threshold=refused.threshold)
                    return entry, body, headers, answer.reason or "", 0.0
                if role == "page" and entry.type.startswith("image/"):
                    limit = self.settings.max_image_bytes
                body = await _read(answer, limit)
                if len(body) > limit and role not in ("robots", "sitemap"):
                    return Entry(url, 0, "too_large", f"over {limit} bytes", entry.type), b"", [], "", 0.0
                return entry, body[:limit], headers, answer.reason or "", 0.0
        except TimeoutError:
            return Entry(url, 0, "timeout", f"over {self.settings.timeout:g} s"), b"", [], "", 0.0
        except (aiohttp.ClientError, HttpProcessingError, OSError, ValueError) as error:
            cause = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
            if isinstance(cause, PrivateAddress):
                return Entry(url, 0, "private_address", str(cause)), b"", [], "", 0.0
            if told := failure_class(error):
                return Entry(url, 0, *told), b"", [], "", 0.0
            if isinstance(error, (aiohttp.ClientResponseError, HttpProcessingError)):
                return Entry(url, 0, "bad_http", "the answer breaks HTTP's rules or limits"), b"", [], "", 0.0
            # The same words for every way to lose a connection: which one it was is chance, and ledgers hold none.
            return Entry(url, 0, "connection", "refused or lost"), b"", [], "", 0.0


async def _read(answer: aiohttp.ClientResponse, limit: int) -> bytes:
    """The body, or a little more than ``limit`` bytes of it."""
    pieces, size = [], 0
    async for piece in answer.content.iter_chunked(65536):
        pieces.append(piece)
        size += len(piece)
        if size > limit:
            break
    return b"".join(pieces)


def readable(content_type: str) -> bool:
    """Whether a page request should read the body: HTML, unknown, or an image that somebody linked as a page."""
    kind = content_type.partition(";")[0].strip().lower()
    return kind in ("", "text/html", "application/xhtml+xml", "application/octet-stream") or kind.startswith("image/")


def spread(urls: Iterable[str]) -> list[str]:
    """``urls`` with hosts taking turns, so that a slow host holds up none of the others."""
    by_host: dict[str, list[str]] = {}
    for url in urls:
        by_host.setdefault(host_of(url), []).append(url)
    return [url for turn in zip_longest(*by_host.values()) for url in turn if url is not None]
