"""The owner's access: a token that is random for each start of the application, and the sessions that it began.

The sessions are kept here, not in cookies: logging out ends one everywhere, and a restart ends all.
"""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Callable

from starlette.requests import HTTPConnection

OWNER = "owner"
"""Key of the session: the identifier of an owner's session here."""
SESSION_SECONDS = 12 * 3600
"""Life of an owner's session from the login on; using it does not prolong it."""


class Owners:
    """Knows the owner of one running application.

    Args:
        token: makes its holder the owner.
        clock: seconds since 1970; replaced by tests.
    """

    def __init__(self, token: str, clock: Callable[[], float] = time.time) -> None:
        self._token, self.clock = token, clock
        self._ends: dict[str, float] = {}

    def holds(self, token: str) -> bool:
        """Return whether a text is the token; takes as long for every text."""
        return hmac.compare_digest(token.encode(), self._token.encode())

    def sends_token(self, connection: HTTPConnection) -> bool:
        """Return whether a request has the token in its header ``Authorization``, which no page of another site can set."""
        kind, _, token = connection.headers.get("authorization", "").partition(" ")
        return kind.lower() == "bearer" and self.holds(token.strip())

    def knows(self, connection: HTTPConnection) -> bool:
        """Return whether a request is the owner's: it has the token, or a session that has neither ended nor expired."""
        ends = self._ends.get(str(connection.session.get(OWNER, "")), 0.0)
        return self.clock() < ends or self.sends_token(connection)

    def log_in(self, connection: HTTPConnection) -> None:
        """Begin a session; what the browser's cookie held before is dropped."""
        now = self.clock()
        self._ends = {session: ends for session, ends in self._ends.items() if now < ends}
        session = secrets.token_urlsafe(24)
        self._ends[session] = now + SESSION_SECONDS
        connection.session.clear()
        connection.session[OWNER] = session

    def log_out(self, connection: HTTPConnection) -> None:
        """End a session, also in copies of its cookie."""
        self._ends.pop(str(connection.session.get(OWNER, "")), None)
        connection.session.clear()


def owners_of(connection: HTTPConnection) -> Owners:
    """Return what knows the owner of the application that got a request."""
    owners: Owners = connection.app.state.owners
    return owners
