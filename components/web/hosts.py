"""Track one host of a crawl: when it may be requested again, and when it is given up.

A host that fails or answers slowly many times in a row is given up, so that it costs a bounded time; its other URLs are stored as
failures of the class ``host_failing``, which can be retried. Requests are sent in ``request``.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from components.web.answers import NotFetched
from components.web.settings import FetchSettings

SIDE_FACTOR, SIDE_MOST = 8, 512
"""Extra slots of the side lane: this multiple of the main lane's, up to the maximum."""
LONG = 2.0
"""Seconds after which a request leaves the main lane."""
SLOWER = 4.0
"""A host is slow when its answers take this many times as long as the mean."""
HOST_WEIGHT, ALL_WEIGHT = 0.5, 0.02
"""Weights of the newest answer in the moving means of answer time, per host and overall."""


class Host:
    """The requests to one host."""

    def __init__(self, settings: FetchSettings) -> None:
        self.waiting: deque[tuple[str, NotFetched]] = deque()
        """Requested URLs, each with the answer of this host that it needs next."""
        self.workers = 0
        """Number of tasks that process ``waiting``."""
        self.gate = asyncio.Semaphore(settings.per_host)
        self.free_at = 0.0
        self.held_until = 0.0
        """Time, in the loop's clock, until which the host asked for no requests."""
        self.closed = False
        """Whether it asked for a longer pause than we wait."""
        self.pace = 0.0
        """Mean seconds of an answer; 0 before the first."""
        self.strikes = 0
        """Consecutive failures and slow answers."""
        self._most = settings.budget.host_failures

    @property
    def given_up(self) -> bool:
        """Whether it failed so often that it is not requested any more."""
        return self.strikes >= self._most

    def note(self, *, good: bool) -> None:
        self.strikes = 0 if good else self.strikes + 1

    def idle(self, now: float) -> bool:
        """Return whether a new object would behave the same from ``now`` on (loop time)."""
        busy = self.workers or self.waiting or self.gate.locked()
        return not (busy or self.strikes or self.closed or self.free_at > now)

    async def wait_turn(self, delay: float) -> None:
        now = asyncio.get_running_loop().time()
        start = max(now, self.free_at)
        self.free_at = start + delay
        if start > now:
            await asyncio.sleep(start - now)

    def hold(self, pause: float) -> None:
        """Start no request for ``pause`` seconds."""
        self.held_until = max(self.held_until, asyncio.get_running_loop().time() + pause)
        self.free_at = max(self.free_at, self.held_until)


class Slots:
    """Slots for all concurrent requests, in two lanes, so that failing and slow hosts delay no others.

    The main lane has ``connections`` slots. The side lane has more, since waiting costs little. It serves hosts whose last URL
    failed, hosts much slower than the mean, and single requests that take long.
    """

    def __init__(self, connections: int) -> None:
        self._main = asyncio.Semaphore(connections)
        self._side = asyncio.Semaphore(connections + min(SIDE_FACTOR * connections, SIDE_MOST))
        self._pace = 0.0
        """Mean seconds of an answer, all hosts."""

    @asynccontextmanager
    async def slot(self, host: Host) -> AsyncIterator[None]:
        """Hold a slot for one request to ``host``."""
        slot = _Slot(self._side if host.strikes or host.pace > SLOWER * self._pace else self._main)
        await slot.lane.acquire()
        loop = asyncio.get_running_loop()
        start = loop.time()
        timer = loop.call_later(LONG, slot.begin_move, self._side)
        try:
            yield
        finally:
            timer.cancel()
            slot.leave()
            seconds = loop.time() - start
            host.pace += HOST_WEIGHT * (seconds - host.pace) if host.pace else seconds
            self._pace += ALL_WEIGHT * (seconds - self._pace) if self._pace else seconds


class _Slot:
    """One request's slot in a lane."""

    def __init__(self, lane: asyncio.Semaphore) -> None:
        self.lane = lane
        self._moving: asyncio.Task[None] | None = None

    def begin_move(self, lane: asyncio.Semaphore) -> None:
        """Move to another lane as soon as it has a free slot."""
        if lane is not self.lane:
            self._moving = asyncio.ensure_future(self._move(lane))

    async def _move(self, lane: asyncio.Semaphore) -> None:
        await lane.acquire()
        self.lane.release()
        self.lane = lane

    def leave(self) -> None:
        if self._moving is not None:
            self._moving.cancel()
        self.lane.release()
