"""One host of a crawl: how often it is asked, and when it is given up.

A host that fails or answers slowly many times in a row is given up, so that it costs a bounded time; its other URLs are stored as
failures of the class ``host_failing``, which can be retried. Not in scope: sending requests (``request``).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from components.web.answers import NotFetched
from components.web.settings import FetchSettings

SIDE_FACTOR, SIDE_MOST = 8, 512
"""Places of the side lane beyond those of the main one: so many times as many, at most so many."""
LONG = 2.0
"""Seconds after which a request leaves the main lane."""
SLOWER = 4.0
"""A host is slow when its answers take so many times as long as others'."""
HOST_WEIGHT, ALL_WEIGHT = 0.5, 0.02
"""Weights of the newest answer in the moving means of a host's and of all answers' time."""


class Host:
    """The requests to one host."""

    def __init__(self, settings: FetchSettings) -> None:
        self.waiting: deque[tuple[str, NotFetched]] = deque()
        """URLs that are wanted, each with the answer of this host that it needs next."""
        self.workers = 0
        """Tasks that take URLs from ``waiting``."""
        self.gate = asyncio.Semaphore(settings.per_host)
        self.free_at = 0.0
        self.held_until = 0.0
        """Until when it asked to be left alone, in the loop's time."""
        self.closed = False
        """It asked to be left alone for longer than we wait."""
        self.pace = 0.0
        """Mean seconds of an answer; 0 before the first."""
        self.strikes = 0
        """Failures and slow answers in a row."""
        self._most = settings.budget.host_failures

    @property
    def given_up(self) -> bool:
        """Whether it has failed so often that it is not asked any more."""
        return self.strikes >= self._most

    def note(self, *, good: bool) -> None:
        """Count the outcome of one URL."""
        self.strikes = 0 if good else self.strikes + 1

    def idle(self, now: float) -> bool:
        """Whether a new object would behave the same from now on, in the loop's time."""
        busy = self.workers or self.waiting or self.gate.locked()
        return not (busy or self.strikes or self.closed or self.free_at > now)

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


class Slots:
    """The requests in flight in all, in two lanes, so that hosts that fail or are slow hold up no others.

    The main lane has ``connections`` places. The side lane has more, since waiting costs little: it is for hosts whose last
    URL failed, for hosts that are much slower than others, and for single requests that take long.
    """

    def __init__(self, connections: int) -> None:
        self._main = asyncio.Semaphore(connections)
        self._side = asyncio.Semaphore(connections + min(SIDE_FACTOR * connections, SIDE_MOST))
        self._pace = 0.0
        """Mean seconds of an answer, all hosts."""

    @asynccontextmanager
    async def slot(self, host: Host) -> AsyncIterator[None]:
        """Hold a place for one request to ``host``."""
        place = _Place(self._side if host.strikes or host.pace > SLOWER * self._pace else self._main)
        await place.lane.acquire()
        loop = asyncio.get_running_loop()
        start = loop.time()
        timer = loop.call_later(LONG, place.begin_move, self._side)
        try:
            yield
        finally:
            timer.cancel()
            place.leave()
            took = loop.time() - start
            host.pace += HOST_WEIGHT * (took - host.pace) if host.pace else took
            self._pace += ALL_WEIGHT * (took - self._pace) if self._pace else took


class _Place:
    """One request's place in a lane."""

    def __init__(self, lane: asyncio.Semaphore) -> None:
        self.lane = lane
        self._moving: asyncio.Task[None] | None = None

    def begin_move(self, lane: asyncio.Semaphore) -> None:
        """Go to another lane as soon as there is a place."""
        if lane is not self.lane:
            self._moving = asyncio.ensure_future(self._move(lane))

    async def _move(self, lane: asyncio.Semaphore) -> None:
        await lane.acquire()
        self.lane.release()
        self.lane = lane

    def leave(self) -> None:
        """Give the place back."""
        if self._moving is not None:
            self._moving.cancel()
        self.lane.release()
