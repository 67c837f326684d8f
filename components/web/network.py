"""Whether this machine has lost its network, told apart from hosts that are down.

Dead hosts are normal in a link-rotted table. So the network counts as lost only when many distinct hosts failed over some time
in which none answered, and a host that answered before cannot be reached either. Not in scope: what to do then (``fetch``).
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable

FAILED_HOSTS = 25
"""Distinct hosts that failed since the last answer, at least."""
FAILED_SECONDS = 15.0
"""Seconds without an answer, at least."""
NEVER = 4
"""How many times more hosts and seconds it takes while no host has answered yet, since then none can be probed."""
PROBES = 3
"""Hosts that answered before and are asked again."""


class NetworkWatch:
    """Notes which hosts answer and which fail, and decides."""

    def __init__(self, probe: Callable[[str], Awaitable[bool]]) -> None:
        """``probe``: asks a URL and tells whether any answer came."""
        self._probe = probe
        self._good: OrderedDict[str, str] = OrderedDict()
        self._failed: set[str] = set()
        self._quiet_since: float | None = None
        self._probing = asyncio.Lock()

    def answered(self, origin: str, url: str) -> None:
        """Note an answer from a host."""
        self._failed.clear()
        self._quiet_since = None
        self._good[origin] = url
        self._good.move_to_end(origin)
        while len(self._good) > PROBES:
            self._good.popitem(last=False)

    def failed(self, origin: str) -> None:
        """Note a request to a host that got no answer."""
        if self._quiet_since is None:
            self._quiet_since = asyncio.get_running_loop().time()
        self._failed.add(origin)

    @property
    def failures(self) -> int:
        """Distinct hosts that failed since the last answer."""
        return len(self._failed)

    async def lost(self) -> bool:
        """Whether the network is lost; asks hosts that answered before when it looks so."""
        if not self._looks_lost():
            return False
        async with self._probing:
            if not self._looks_lost():  # an answer came while another probe ran
                return False
            for origin, url in reversed(list(self._good.items())):
                if await self._probe(url):
                    self.answered(origin, url)
                    return False
            return True

    def _looks_lost(self) -> bool:
        factor = 1 if self._good else NEVER
        if self._quiet_since is None or len(self._failed) < factor * FAILED_HOSTS:
            return False
        return asyncio.get_running_loop().time() - self._quiet_since >= factor * FAILED_SECONDS


class LoopLag:
    """How late the event loop runs its callbacks: what a busy machine adds to every answer's time."""

    PERIOD = 0.25

    def __init__(self) -> None:
        self.seconds = 0.0
        """Lateness so far, in all."""

    async def watch(self) -> None:
        """Measure until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            start = loop.time()
            await asyncio.sleep(self.PERIOD)
            self.seconds += max(0.0, loop.time() - start - self.PERIOD)
