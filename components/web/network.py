"""Detect that this machine has lost its network, as opposed to hosts that are down.

Old image lists have many dead hosts. The network counts as lost only when many distinct hosts failed over some time in which
none answered, and hosts that answered before cannot be reached either.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable

FAILED_HOSTS = 25
"""Minimum distinct hosts that failed since the last answer."""
FAILED_SECONDS = 15.0
"""Minimum seconds without an answer."""
UNPROBED_FACTOR = 4
"""Factor on both minima while no host has answered yet, since none can be probed."""
PROBES = 3
"""Hosts that answered before and are probed."""


class NetworkWatch:
    """Records which hosts answer and fail, and decides whether the network is lost."""

    def __init__(self, probe: Callable[[str], Awaitable[bool]]) -> None:
        """``probe``: requests a URL and returns whether any answer came."""
        self._probe = probe
        self._good: OrderedDict[str, str] = OrderedDict()
        self._failed: set[str] = set()
        self._quiet_since: float | None = None
        self._probing = asyncio.Lock()

    def answered(self, origin: str, url: str) -> None:
        """Record an answer from a host."""
        self._failed.clear()
        self._quiet_since = None
        self._good[origin] = url
        self._good.move_to_end(origin)
        while len(self._good) > PROBES:
            self._good.popitem(last=False)

    def failed(self, origin: str) -> None:
        """Record a request to a host without an answer."""
        if self._quiet_since is None:
            self._quiet_since = asyncio.get_running_loop().time()
        self._failed.add(origin)

    @property
    def failures(self) -> int:
        """Distinct hosts that failed since the last answer."""
        return len(self._failed)

    async def lost(self) -> bool:
        """Return whether the network is lost; probes hosts that answered before if it seems so."""
        if not self._looks_lost():
            return False
        async with self._probing:
            if not self._looks_lost():  # an answer came during another probe
                return False
            for origin, url in reversed(list(self._good.items())):
                if await self._probe(url):
                    self.answered(origin, url)
                    return False
            return True

    def _looks_lost(self) -> bool:
        factor = 1 if self._good else UNPROBED_FACTOR
        if self._quiet_since is None or len(self._failed) < factor * FAILED_HOSTS:
            return False
        return asyncio.get_running_loop().time() - self._quiet_since >= factor * FAILED_SECONDS


class LoopLag:
    """Measures how late the event loop runs callbacks, which a busy machine adds to every answer's time."""

    PERIOD = 0.25

    def __init__(self) -> None:
        self.seconds = 0.0
        """Total lateness so far."""

    async def watch(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            start = loop.time()
            await asyncio.sleep(self.PERIOD)
            self.seconds += max(0.0, loop.time() - start - self.PERIOD)
