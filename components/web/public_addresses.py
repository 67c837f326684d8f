"""Resolve names to public addresses only, so that no page can direct the crawl into a private network."""

from __future__ import annotations

import socket

from aiohttp import ThreadedResolver
from aiohttp.abc import AbstractResolver, ResolveResult

from components.web.urls import is_private


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
        """Close the system's resolver."""
        await self._system.close()
