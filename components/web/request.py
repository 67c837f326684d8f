"""Send one HTTP request of the crawl, bounded in time and bytes, and classify its failure.

Every answer becomes an :class:`Entry`, which holds a failure by its name. Politeness, retries and storing are in ``client``.
"""

from __future__ import annotations

import asyncio
import logging
import resource
import socket
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Literal, NamedTuple

import aiohttp
from aiohttp import ThreadedResolver
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.http_exceptions import ContentEncodingError, HttpProcessingError
from yarl import URL

from components.web.challenges import FAILURE as CHALLENGE
from components.web.challenges import find_challenge
from components.web.image_precheck import read_image
from components.web.robots import MAX_BYTES as ROBOTS_BYTES
from components.web.settings import FetchSettings
from components.web.sitemaps import MAX_BYTES as SITEMAP_BYTES
from components.web.urls import is_private
from components.web.warc import Entry, decode_wire, index_headers, select_headers

Role = Literal["page", "image", "robots", "sitemap", "api", "index"]
"""What is requested; an ``index`` lists the captures of a web archive."""
RETRY_STATUS = (429, 500, 502, 503, 504)
HTML = ("text/html", "application/xhtml+xml")
ERROR_BODY = 64 * 1024
"""Maximum bytes stored of the body of an answer that is not 200."""
NAME_LOOKUPS = 64
"""Concurrent name lookups: a dead domain can take half a minute and must not delay others."""
FILES = 4096
"""Open files and connections, if the system allows as many."""
_DROP_HEADERS = ("content-encoding", "transfer-encoding", "content-length", "connection", "keep-alive")
_DATE_ERRORS = (9, 10)
"""OpenSSL's verify codes for a certificate that is not yet valid or has expired."""

NO_SUCH_NAME = "no such name"
"""Detail of a name that does not exist; the network is working then."""
_NO_NAME_ERRORS = (socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME))
_log = logging.getLogger(__name__)


class PrivateAddress(OSError):
    """A name that resolves to a private network."""


class PublicResolver(AbstractResolver):
    """Resolves names as the system does and refuses names with a non-public address.

    The check applies to the addresses that the connection uses, so a second, different DNS answer cannot bypass it.
    """

    def __init__(self) -> None:
        self._system = ThreadedResolver()

    async def resolve(self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC) -> list[ResolveResult]:
        """Return the addresses of ``host``; raises PrivateAddress."""
        addresses = await self._system.resolve(host, port, family)
        for address in addresses:
            if is_private(address["host"]):
                raise PrivateAddress(f"{host} is at {address['host']}")
        return addresses

    async def close(self) -> None:
        await self._system.close()


class Response(NamedTuple):
    """The result of one request."""

    entry: Entry
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    """As returned by :func:`components.web.warc.decode_wire`."""
    reason: str = ""
    pause: float = 0.0
    """Seconds that the host asks to wait."""


class Session:
    """Connections to the web, or to a proxy."""

    def __init__(self, settings: FetchSettings, proxy: str = "") -> None:
        self._settings, self._proxy = settings, proxy or None
        self._session: aiohttp.ClientSession | None = None

    def open(self) -> aiohttp.ClientSession:
        """Return the session; the first call opens it inside the running event loop."""
        if self._session is None:
            settings = self._settings
            _allow_open_files(FILES)
            asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(NAME_LOOKUPS, "lookup"))
            resolver = None if self._proxy or settings.allow_private else PublicResolver()
            agent = f"{settings.user_agent}/0.1" + (f" (+{settings.contact})" if settings.contact else "")
            self._session = aiohttp.ClientSession(
                # The fetcher limits connections itself, so that waiting for one does not count as waiting for the host.
                connector=aiohttp.TCPConnector(limit=0, resolver=resolver, ttl_dns_cache=300),
                headers={"User-Agent": agent, "Accept-Encoding": "gzip, deflate, br, zstd"},
                timeout=aiohttp.ClientTimeout(total=settings.timeout, sock_connect=settings.connect_timeout),
                cookie_jar=aiohttp.DummyCookieJar(),
                trust_env=False,
            )
        return self._session

    def _send(self, url: str, headers: Mapping[str, str] | None = None) -> AbstractAsyncContextManager[aiohttp.ClientResponse]:
        return self.open().get(URL(url, encoded=True), allow_redirects=False, proxy=self._proxy, headers=headers)

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    async def probe(self, url: str) -> bool:
        """Return whether the host of ``url`` sends any HTTP answer."""
        try:
            async with self._send(url):
                return True
        except (aiohttp.ClientResponseError, HttpProcessingError):
            return True
        except (aiohttp.ClientError, OSError, ValueError, TimeoutError):
            return False

    async def get(self, url: str, role: Role, asks: Mapping[str, str]) -> Response:
        """Send one request with the extra headers ``asks``; server errors never raise."""
        try:
            return await self._get(url, role, asks)
        except TimeoutError:
            return Response(Entry(url, 0, "timeout", f"over {self._settings.timeout:g} s"))
        except (aiohttp.ClientError, HttpProcessingError, OSError, ValueError) as error:
            return Response(_make_failure(url, error))
        except Exception as error:
            # A defect of ours or of a library costs one answer, not the run.
            _log.warning("%s: %s while the answer was read", url, type(error).__name__, exc_info=True)
            return Response(Entry(url, 0, "internal_error", type(error).__name__))

    async def _get(self, url: str, role: Role, asks: Mapping[str, str]) -> Response:
        settings = self._settings
        pages = settings.max_page_bytes
        limits_by_role = {"page": pages, "api": pages, "image": settings.max_image_bytes}
        limit = limits_by_role.get(role, SITEMAP_BYTES if role == "sitemap" else ROBOTS_BYTES)
        async with self._send(url, asks) as answer:
            if answer.status < 100:
                return Response(Entry(url, 0, "bad_http", "the response is not valid HTTP or exceeds a header limit"))
            received = [(decode_wire(name), decode_wire(value)) for name, value in answer.raw_headers]
            sent = index_headers(received)
            headers = tuple((name, value) for name, value in received if name.lower() not in _DROP_HEADERS)
            reason = decode_wire((answer.reason or "").encode("utf-8", "surrogateescape"))
            entry = Entry(url, answer.status, **select_headers(sent))
            pause = parse_retry_after(sent) if answer.status in RETRY_STATUS else 0.0
            markup = entry.type.partition(";")[0].strip().lower() in HTML
            # Of what should be no page, at most a challenge is read.
            start = await _read(answer, ERROR_BODY) if answer.status != 200 or (markup and role != "page") else b""
            if sign := find_challenge(answer.status, sent, start):
                return Response(Entry(url, 0, CHALLENGE, sign, entry.type), pause=pause)
            if answer.status != 200:
                return Response(entry, start[:ERROR_BODY], headers, reason, pause)
            if role == "page" and not is_readable(entry.type):
                return Response(Entry(url, 0, "not_html", entry.type[:80], entry.type))
            if role == "image":
                refusal, body = await read_image(answer, sent, settings)
                if refusal:
                    entry = Entry(url, 0, refusal.rule, refusal.value, entry.type, threshold=refusal.threshold)
                return Response(entry, body, headers, reason)
            if role == "page" and entry.type.startswith("image/"):
                limit = settings.max_image_bytes
            body = start + await _read(answer, limit - len(start))
            if markup and (sign := find_challenge(200, sent, body)):
                return Response(Entry(url, 0, CHALLENGE, sign, entry.type))
            if len(body) > limit and role not in ("robots", "sitemap"):
                return Response(Entry(url, 0, "too_large", f"over {limit} bytes", entry.type))
            return Response(entry, body[:limit], headers, reason)


def _make_failure(url: str, error: Exception) -> Entry:
    cause = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
    if isinstance(cause, PrivateAddress):
        return Entry(url, 0, "private_address", str(cause))
    if failure := classify_failure(error):
        return Entry(url, 0, *failure)
    if isinstance(error, ContentEncodingError) or isinstance(error.__cause__, ContentEncodingError):
        return Entry(url, 0, "bad_encoding", "the compressed body is broken")
    if isinstance(error, (aiohttp.ClientResponseError, HttpProcessingError)):
        return Entry(url, 0, "bad_http", "the answer breaks HTTP's rules or limits")
    # One detail for all lost connections: how a connection is lost is chance, and ledgers must be reproducible.
    return Entry(url, 0, "connection", "refused or lost")


def classify_failure(error: BaseException) -> tuple[str, str] | None:
    """Return (class, detail) of an error other than a lost connection; the detail is reproducible. None for a lost connection.

    ``dns``: the name has no address, or cannot be looked up now. ``tls``: the certificate is not accepted; if its dates are the
    reason, this machine's clock may be wrong.
    """
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return "dns", NO_SUCH_NAME if error.os_error.errno in _NO_NAME_ERRORS else "names cannot be looked up"
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        code = getattr(error.certificate_error, "verify_code", 0)
        return (
            "tls",
            "certificate expired or not yet valid (or a wrong clock)" if code in _DATE_ERRORS else "certificate not accepted",
        )
    if isinstance(error, aiohttp.ClientSSLError):
        return "tls", "no secure connection"
    return None


def parse_retry_after(sent: Mapping[str, str]) -> float:
    """Return the seconds that an answer with the headers ``sent`` asks to wait (RFC 9110, 10.2.3); 0 when it does not say.

    A date is relative to the answer's ``Date``, so that a wrong clock makes no difference.
    """
    value = sent.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        return float(value[:12])
    try:
        until = parsedate_to_datetime(value)
        return max(0.0, (until.replace(tzinfo=UTC) - parse_date(sent).replace(tzinfo=UTC)).total_seconds())
    except (ValueError, TypeError, OverflowError, IndexError):
        return 0.0


def parse_date(sent: Mapping[str, str]) -> datetime:
    """Return the answer's ``Date``, or the present time without one; raises what ``parsedate_to_datetime`` raises."""
    return parsedate_to_datetime(sent["date"]) if sent.get("date") else datetime.now(UTC)


def _allow_open_files(number: int) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    target = number if hard == resource.RLIM_INFINITY else min(number, hard)
    if soft != resource.RLIM_INFINITY and soft < target:
        resource.setrlimit(resource.RLIMIT_NOFILE, (target, hard))


async def _read(answer: aiohttp.ClientResponse, limit: int) -> bytes:
    """Return the body, or a little more than ``limit`` bytes of it."""
    body = bytearray()
    async for piece in answer.content.iter_chunked(65536):
        body += piece
        if len(body) > limit:
            break
    return bytes(body)


def is_readable(content_type: str) -> bool:
    """Return whether a page request should read the body: HTML, unknown, or an image linked as a page."""
    kind = content_type.partition(";")[0].strip().lower()
    return kind in ("", *HTML, "application/octet-stream") or kind.startswith("image/")
