"""Signed, expiring links: of raters, and of the speech of a caption. An invitation stands for one rater, in any browser."""

from __future__ import annotations

import time
from typing import Any

from itsdangerous import BadSignature, SignatureExpired, URLSafeTimedSerializer

from components.core.errors import HearsightError

INVITATION = "invitation"
"""A purpose; a link for one is invalid for another."""


def sign(secret: str, purpose: str, content: Any) -> str:
    """Return the content as a signed text that is safe in a URL and knows its time."""
    return URLSafeTimedSerializer(secret, salt=purpose).dumps(content)


def verify(secret: str, purpose: str, token: str, seconds: int) -> Any:
    """Return the content of a token for this purpose that is at most ``seconds`` old.

    Raises:
        HearsightError: the token is expired or not ours.
    """
    try:
        return URLSafeTimedSerializer(secret, salt=purpose).loads(token, max_age=seconds)
    except SignatureExpired:
        raise HearsightError("this link has expired", hint="ask for a new one") from None
    except BadSignature:
        raise HearsightError("this link is not valid", hint="copy the whole link, or ask for a new one") from None


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
