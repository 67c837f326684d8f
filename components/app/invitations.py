"""Invitations of raters: signed links that expire. A link stands for one rater, who may open it again in any browser."""

from __future__ import annotations

import time

from components.app.tokens import INVITATION, sign, verify
from components.core.errors import HearsightError

DAYS = 14
LONGEST_DAYS = 365


def invitation(secret: str, rater: str, days: float) -> str:
    """Return the token of a link that makes its holder this rater for some days."""
    if not 0 < days <= LONGEST_DAYS:
        raise HearsightError("an invitation is valid for more than 0 and at most 365 days", hint="choose another number of days")
    return sign(secret, INVITATION, [rater, int(time.time() + days * 86400)])


def invitation_link(address: str, token: str) -> str:
    """Return the link that is given to a rater."""
    return f"{address.rstrip('/')}/rate/invitation?token={token}"


def read_invitation(secret: str, token: str) -> tuple[str, int]:
    """Return the rater of an invitation and when it ends (s since 1970).

    Raises:
        HearsightError: it has expired, or was not made here.
    """
    rater, until = verify(secret, INVITATION, token, LONGEST_DAYS * 86400)
    if until < time.time():
        raise HearsightError("this link has expired", hint="ask for a new one")
    return str(rater), int(until)
