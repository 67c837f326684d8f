"""Open an archive's bytes as a stream (disk, standard input, S3, http) or, where required, as a seekable file.

Of an http(s) address a timeout per read does not stop a server that sends a byte now and then, so every wait also has the
remaining time as its limit. robots.txt and rate limits are not applied: this reads single pages and archives named by a person.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Protocol, TypeVar

import aiohttp

from components.core.errors import HearsightError

TIMEOUT = 60.0
"""Seconds to wait for a byte."""
SECONDS = 3600.0
"""Total seconds to wait for the bytes of one address, redirects included."""
HEADERS = {"User-Agent": "hearsight pairs", "Accept": "text/html,*/*;q=0.1", "Accept-Encoding": "identity"}
T = TypeVar("T")


class HttpStream:
    """The body of a GET request.

    Raises:
        HearsightError: there is no answer, an error status, a broken transfer, or no end within ``SECONDS``.
    """

    def __init__(self, url: str) -> None:
        self._url, self._remaining, self._loop = url, SECONDS, asyncio.new_event_loop()
        try:
            self._wait(self._open(url))
        except (aiohttp.ClientError, OSError, ValueError) as error:
            self._close()
            raise HearsightError(f"no answer ({_line(error)})", where=url, hint="check the address in a browser") from None
        self.charset = self._response.charset
        """The charset that the answer states; None without one."""

    async def _open(self, url: str) -> None:
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=TIMEOUT, sock_read=TIMEOUT)
        self._session = aiohttp.ClientSession(headers=HEADERS, timeout=timeout, trust_env=True, auto_decompress=False)
        self._response = await self._session.get(url)
        if not 200 <= self._response.status < 300:
            raise ValueError(f"status {self._response.status}")

    def _wait(self, answer: Coroutine[None, None, T], most: float = SECONDS) -> T:
        """Return what a coroutine returns, within ``most`` seconds and the remaining time."""
        began, limit = time.monotonic(), min(most, self._remaining)
        try:
            return self._loop.run_until_complete(asyncio.wait_for(answer, limit))
        except aiohttp.ServerTimeoutError:
            raise
        except TimeoutError:
            over = f"more than {SECONDS:g} s in all" if limit == self._remaining else f"no byte for {limit:g} s"
            raise TimeoutError(over) from None
        finally:
            self._remaining -= time.monotonic() - began

    def _close(self) -> None:
        if hasattr(self, "_session"):
            self._loop.run_until_complete(self._session.close())
        self._loop.close()

    def __enter__(self) -> HttpStream:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def read(self, size: int, /) -> bytes:
        try:
            # aiohttp itself waits without end after a chunk that it cannot read.
            return self._wait(self._response.content.read(size), TIMEOUT)
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise HearsightError(f"reading broke off ({_line(error)})", where=self._url, hint="try again") from None


def _line(error: Exception) -> str:
    """Return the error as one line of printable characters."""
    text = str(error) or type(error).__name__
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())[:300]


PEEK_BYTES = 1 << 18
"""Bytes read ahead to detect the archive's type."""
SPOOL_LIMIT = 1 << 33
"""Maximum bytes of a WACZ copied to a temporary file (from standard input, S3 or an http address)."""


class Stream(Protocol):
    """The interface that archive readers need."""

    def read(self, size: int, /) -> bytes:
        """Return at most ``size`` bytes; b"" at the end."""


def read_fully(stream: Stream, size: int) -> bytes:
    """Return ``size`` bytes, fewer only at the end; a pipe may return one byte per read."""
    first = stream.read(size)
    if len(first) >= size or not first:
        return first
    data = bytearray(first)
    while len(data) < size and (more := stream.read(size - len(data))):
        data += more
    return bytes(data)


class PeekedStream:
    """A stream whose first bytes were read ahead into ``head``."""

    def __init__(self, stream: Stream) -> None:
        self.stream, self.head = stream, read_fully(stream, PEEK_BYTES)
        self._returned = 0

    def read(self, size: int, /) -> bytes:
        if self._returned >= len(self.head):
            return self.stream.read(size)
        piece = self.head[self._returned : self._returned + size]
        self._returned += len(piece)
        return piece


@contextmanager
def open_archive(path: str) -> Iterator[Stream]:
    """Open ``path``: a file, ``-``, ``s3://bucket/key``, or an http(s) address.

    S3 requests are signed when the AWS environment holds credentials, and anonymous otherwise; ``AWS_ENDPOINT_URL`` sets the
    endpoint. Reading an http(s) address may take :data:`SECONDS` in all.

    Raises:
        HearsightError: the archive is missing or may not be read.
    """
    if path == "-":
        yield sys.stdin.buffer
    elif path.startswith("s3://"):
        from components.web.archives.s3_stream import S3Stream  # loads boto3: 0.5 s

        yield S3Stream(path)
    elif path.startswith(("http://", "https://")):
        with HttpStream(path) as body:
            yield body
    else:
        try:
            with Path(path).open("rb", buffering=0) as handle:
                yield handle
        except (OSError, ValueError) as error:
            if not isinstance(error, OSError):
                raise HearsightError(str(error), where=ascii(path), hint="give the path of a file") from None
            if error.filename is None:  # raised while the archive was used, not by open()
                raise
            raise HearsightError(error.strerror or "cannot be read", where=path, hint="give the path of a file") from None


@contextmanager
def open_seekable(peeked: PeekedStream, path: str) -> Iterator[IO[bytes]]:
    """Yield the same bytes as a seekable file: a local file itself, or a temporary copy.

    Raises:
        HearsightError: there is no space for the copy, or it exceeds ``SPOOL_LIMIT``.
    """
    stream = peeked.stream
    if hasattr(stream, "seekable") and stream.seekable():
        yield stream  # type: ignore[misc]
        return
    with tempfile.TemporaryFile() as copy:
        size = 0
        try:
            while more := peeked.read(1 << 20):
                size += len(more)
                if size > SPOOL_LIMIT:
                    raise HearsightError(
                        f"is a WACZ of more than {SPOOL_LIMIT} bytes", where=path, hint="save it as a file and give its path"
                    )
                copy.write(more)
        except OSError as error:
            message = f"cannot be copied to {tempfile.gettempdir()} ({error.strerror or error})"
            raise HearsightError(
                message, where=path, hint="save it as a file and give its path, or set TMPDIR to a larger disk"
            ) from None
        yield copy
