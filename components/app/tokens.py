"""Signed, expiring links: a rater's invitation, and the speech of a caption."""

from __future__ import annotations

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
