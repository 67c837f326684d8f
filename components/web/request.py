"""One HTTP request of the crawl: bounded in time and bytes, and told apart by the class of what went wrong.

Whatever a server sends becomes an :class:`Entry`: an answer, or a failure with a name. Not in scope: politeness, retries and
storing (``fetch``).
"""

from __future__ import annotations

import asyncio
import logging
import resource
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Literal, NamedTuple

import aiohttp
from aiohttp.http_exceptions import ContentEncodingError, HttpProcessingError
from yarl import URL

from components.web.failures import classify_failure, parse_retry_after
from components.web.image_precheck import Limits, read_image
from components.web.public_addresses import PrivateAddress, PublicResolver
from components.web.robots import MAX_BYTES as ROBOTS_BYTES
from components.web.settings import FetchSettings
from components.web.sitemaps import MAX_BYTES as SITEMAP_BYTES
from components.web.warc import Entry, decode_wire, index_headers, select_headers

Role = Literal["page", "image", "robots", "sitemap", "api"]
RETRY_STATUS = (429, 500, 502, 503, 504)
ERROR_BODY = 64 * 1024
"""Bytes kept of the body of an answer that is not 200."""
NAME_LOOKUPS = 64
"""Host names looked up at a time: a lookup of a dead domain can take half a minute, and must not hold up others."""
FILES = 4096
"""Files and connections that may be open at a time, where the system lets us have so many."""
_DROP_HEADERS = ("content-encoding", "transfer-encoding", "content-length", "connection", "keep-alive")
_log = logging.getLogger(__name__)


class Answered(NamedTuple):
    """What came of one request."""

    entry: Entry
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    """As :func:`components.web.warc.decode_wire` gives them."""
    reason: str = ""
    pause: float = 0.0
    """Seconds the host asks us to wait."""


class Session:
    """Connections to the web, or to a proxy."""

    def __init__(self, settings: FetchSettings, proxy: str = "") -> None:
        self._settings, self._proxy = settings, proxy or None
        self._session: aiohttp.ClientSession | None = None

    def open(self) -> aiohttp.ClientSession:
        """Open the session inside the running event loop, the first time."""
        if self._session is None:
            settings = self._settings
            _allow_open_files(FILES)
            asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(NAME_LOOKUPS, "lookup"))
            own = None if self._proxy or settings.allow_private else PublicResolver()
            agent = f"{settings.user_agent}/0.1" + (f" (+{settings.contact})" if settings.contact else "")
            self._session = aiohttp.ClientSession(
                # The fetcher counts connections itself, so that waiting for one does not count as waiting for the host.
                connector=aiohttp.TCPConnector(limit=0, resolver=own, ttl_dns_cache=300),
                headers={"User-Agent": agent, "Accept-Encoding": "gzip, deflate, br, zstd"},
                cookie_jar=aiohttp.DummyCookieJar(),
                trust_env=False,
            )
        return self._session

    async def close(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()

    async def probe(self, url: str) -> bool:
        """Whether the host of ``url`` gives any HTTP answer."""
        times = aiohttp.ClientTimeout(total=self._settings.timeout, sock_connect=self._settings.connect_timeout)
        try:
            address = URL(url, encoded=True)
            async with self.open().get(address, allow_redirects=False, proxy=self._proxy, timeout=times):
                return True
        except (aiohttp.ClientResponseError, HttpProcessingError):
            return True
        except (aiohttp.ClientError, OSError, ValueError, TimeoutError):
            return False

    async def get(self, url: str, role: Role, asks: Mapping[str, str]) -> Answered:
        """Send one request, with the further headers ``asks``; never raises for what a server does."""
        try:
            return await self._get(url, role, asks)
        except TimeoutError:
            return Answered(Entry(url, 0, "timeout", f"over {self._settings.timeout:g} s"))
        except (aiohttp.ClientError, HttpProcessingError, OSError, ValueError) as error:
            return Answered(_failed(url, error))
        except Exception as error:
            # A defect of ours or of a library, met on one answer: it costs that answer, not the run.
            _log.warning("%s: %s while its answer was read", url, type(error).__name__, exc_info=True)
            return Answered(Entry(url, 0, "internal_error", type(error).__name__))

    async def _get(self, url: str, role: Role, asks: Mapping[str, str]) -> Answered:
        settings = self._settings
        pages = settings.max_page_bytes
        largest = {"page": pages, "api": pages, "image": settings.max_image_bytes}
        limit = largest.get(role, SITEMAP_BYTES if role == "sitemap" else ROBOTS_BYTES)
        times = aiohttp.ClientTimeout(total=settings.timeout, sock_connect=settings.connect_timeout)
        address = URL(url, encoded=True)
        async with self.open().get(
            address, allow_redirects=False, proxy=self._proxy, timeout=times, headers=dict(asks)
        ) as answer:
            if answer.status < 100:
                return Answered(Entry(url, 0, "bad_http", "the answer breaks HTTP's rules or limits"))
            came = [(decode_wire(name), decode_wire(value)) for name, value in answer.raw_headers]
            sent = index_headers(came)
            headers = tuple((name, value) for name, value in came if name.lower() not in _DROP_HEADERS)
            reason = decode_wire((answer.reason or "").encode("utf-8", "surrogateescape"))
            entry = Entry(url, answer.status, **select_headers(sent))
            if answer.status != 200:
                pause = parse_retry_after(sent) if answer.status in RETRY_STATUS else 0.0
                return Answered(entry, (await _read(answer, ERROR_BODY))[:ERROR_BODY], headers, reason, pause)
            if role == "page" and not is_readable(entry.type):
                return Answered(Entry(url, 0, "not_html", entry.type[:80], entry.type))
            if role == "image":
                budget = settings.budget
                limits = Limits(limit, settings.min_side, settings.max_aspect, budget.image_pixels, budget.image_side)
                refused, body = await read_image(answer, sent, limits)
                if refused:
                    entry = Entry(url, 0, refused.rule, refused.value, entry.type, threshold=refused.threshold)
                return Answered(entry, body, headers, reason)
            if role == "page" and entry.type.startswith("image/"):
                limit = settings.max_image_bytes
            body = await _read(answer, limit)
            if len(body) > limit and role not in ("robots", "sitemap"):
                return Answered(Entry(url, 0, "too_large", f"over {limit} bytes", entry.type))
            return Answered(entry, body[:limit], headers, reason)


def _failed(url: str, error: Exception) -> Entry:
    """The failure that an error of a request is."""
    cause = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
    if isinstance(cause, PrivateAddress):
        return Entry(url, 0, "private_address", str(cause))
    if told := classify_failure(error):
        return Entry(url, 0, *told)
    if isinstance(error, ContentEncodingError) or isinstance(error.__cause__, ContentEncodingError):
        return Entry(url, 0, "bad_encoding", "the compressed body is broken")
    if isinstance(error, (aiohttp.ClientResponseError, HttpProcessingError)):
        return Entry(url, 0, "bad_http", "the answer breaks HTTP's rules or limits")
    # The same words for every way to lose a connection: which one it was is chance, and ledgers hold none.
    return Entry(url, 0, "connection", "refused or lost")


def _allow_open_files(number: int) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = number if hard == resource.RLIM_INFINITY else min(number, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


async def _read(answer: aiohttp.ClientResponse, limit: int) -> bytes:
    """The body, or a little more than ``limit`` bytes of it."""
    body = bytearray()
    async for piece in answer.content.iter_chunked(65536):
        body += piece
        if len(body) > limit:
            break
    return bytes(body)


def is_readable(content_type: str) -> bool:
    """Whether a page request should read the body: HTML, unknown, or an image that somebody linked as a page."""
    kind = content_type.partition(";")[0].strip().lower()
    return kind in ("", "text/html", "application/xhtml+xml", "application/octet-stream") or kind.startswith("image/")
