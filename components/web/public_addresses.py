"""Names resolved into public addresses only, so that no page can send the crawl into a private network."""

from __future__ import annotations

import socket

from aiohttp.abc import AbstractResolver, ResolveResult

from components.web.urls import is_private


class PrivateAddress(OSError):
    """A name that resolves into a private network."""


class PublicResolver(AbstractResolver):
    """Resolves names as the system does, and refuses those with an address that is not public.

    The check is on the very addresses the connection will use, so a name cannot answer twice in two ways.
    """

    def __init__(self) -> None:
        from aiohttp import ThreadedResolver

        self._system = ThreadedResolver()

    async def resolve(self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC) -> list[ResolveResult]:
        """The addresses of ``host``; raises PrivateAddress."""
        found = await self._system.resolve(host, port, family)
        for answer in found:
            if is_private(answer["host"]):
                raise PrivateAddress(f"{host} is at {answer['host']}")
        return found

    async def close(self) -> None:
        """Let go of the system's resolver."""
        await self._system.close()
