"""Connections of clients that are slow on purpose or by accident: each waits for its client for a limited time.

uvicorn closes a connection between two requests, but not one whose request is unfinished or whose answer nobody reads.
"""

from __future__ import annotations

import asyncio
import resource

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

MOST = 512
"""Connections at once. Beyond them, the one that has waited longest for its client is ended."""
HEADER_SECONDS = 10.0
"""From the connection, or the answer before, to the end of a request's header."""
BODY_SECONDS = 120.0
"""From the end of the header to that of the body: 20 MiB at 1.4 Mbit/s."""
READ_SECONDS = 30.0
"""How long a client may read nothing of an answer that does not fit the buffers."""


class BoundedConnection(H11Protocol):
    """uvicorn's HTTP/1.1 with deadlines for the client; the application's own time is not limited."""

    _awaited = 0.0
    """Seconds for what the client has to do now; 0 while the application works."""
    _since = 0.0
    """When that began, in the loop's time."""
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a header; make room where there are too many connections."""
        super().connection_made(transport)
        self._follow()
        if len(self.connections) > most_connections():
            waiting = [each for each in self.connections if isinstance(each, BoundedConnection) and each._awaited]
            oldest = min(waiting, key=lambda each: each._since)
            self.connections.discard(oldest)  # it would be chosen again until the loop has ended it
            oldest.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        self._wait(0.0)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take a part of a request."""
        super().data_received(data)
        self._follow()

    def on_response_complete(self) -> None:
        """Begin with the next request."""
        super().on_response_complete()
        self._follow()

    def pause_writing(self) -> None:
        """Wait for the client to read."""
        super().pause_writing()
        self._follow()

    def resume_writing(self) -> None:
        """Go on writing."""
        super().resume_writing()
        self._follow()

    def _follow(self) -> None:
        """Set the deadline for what the client has to do now, if that is another thing than before."""
        state = self.conn.their_state
        if self.flow.write_paused or self.transport.is_closing() or state is h11.ERROR:
            seconds = READ_SECONDS
        else:
            seconds = {h11.IDLE: HEADER_SECONDS, h11.SEND_BODY: BODY_SECONDS}.get(state, 0.0)
        if seconds != self._awaited:
            self._wait(seconds)

    def _wait(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._awaited, self._since = seconds, self.loop.time()
        # Not closed: that waits until the client has read what was written.
        self._timer = self.loop.call_later(seconds, self.transport.abort) if seconds else None


def most_connections() -> int:
    """Return how many connections there may be at once: at most half of the files that this process may open."""
    return min(MOST, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2)
