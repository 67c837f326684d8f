"""Read the body behind an http(s) address within a total time limit.

A timeout per read does not stop a server that sends a byte now and then, so every wait also has the remaining time as its limit.
robots.txt and rate limits are not applied: this reads single pages and archives named by a person.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from typing import TypeVar

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

    def _wait(self, answer: Coroutine[None, None, T]) -> T:
        """Return what a coroutine returns, within the remaining time."""
        began = time.monotonic()
        try:
            return self._loop.run_until_complete(asyncio.wait_for(answer, self._remaining))
        except TimeoutError:
            if time.monotonic() - began < self._remaining:
                raise
            raise TimeoutError(f"more than {SECONDS:g} s in all") from None
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
            return self._wait(self._response.content.read(size))
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise HearsightError(f"reading broke off ({_line(error)})", where=self._url, hint="try again") from None


def _line(error: Exception) -> str:
    """Return the error as one line of printable characters."""
    text = str(error) or type(error).__name__
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())[:300]
