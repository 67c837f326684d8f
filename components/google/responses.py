"""What the failure of a request to Google means: a reason to ask again, a no for this item, or the end.

Source: Google's error model (``{"error": {"code", "status", "message", "errors", "details"}}``) and its canonical codes.
The same status stands for different things: 400 INVALID_ARGUMENT for a bad picture and for a bad key, 429 and 403 for
a minute's quota and for a day's. Only what is about the item is the item's fault.
The library's exceptions tell neither apart, so the response is read that they carry.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from components.core.errors import HearsightError
from components.google.credentials import KEY, WHERE

NAMES = {"language": "Google Natural Language", "vision": "Google Vision", "texttospeech": "Google Text-to-Speech"}
AGAIN = frozenset({408, 429, 500, 502, 503, 504})
"""Statuses that may pass."""
TRANSIENT = frozenset({4, 8, 10, 13, 14})
"""google.rpc.Code of an error inside an answer that may pass: deadline, exhausted, aborted, internal, unavailable."""
FINAL = frozenset({"dailyLimitExceeded", "dailyLimitExceededUnreg", "quotaExceeded"})
SLOWER = frozenset({"rateLimitExceeded", "userRateLimitExceeded", "RATE_LIMIT_EXCEEDED"})
_REASON = re.compile(r'"reason": "(\w+)"')
_NO_VOICE = re.compile(r"voice .*does not exist", re.IGNORECASE)
_DAY = re.compile(r"per[ _]?(project[ _]?)?day", re.IGNORECASE)
KEPT = "run again later: what was answered is kept, and only the rest is asked"


class Verdict(NamedTuple):
    """Why a request has no answer."""

    kind: Literal["again", "nonsense", "refused"]
    why: str
    wait: float = 0.0
    """Seconds that Google asks to wait."""


def judge(service: str, failure: Exception) -> Verdict:
    """What a request's exception means.

    Raises:
        HearsightError: nothing that is asked will be answered: no quota, no right, no such service.
    """
    # Imported here: the extra is there once something was asked.
    from google.auth.exceptions import GoogleAuthError
    from google.protobuf.json_format import ParseError

    response, plain = getattr(failure, "response", None), f"{type(failure).__name__}: {failure}"[:160]
    if isinstance(failure, GoogleAuthError):
        hint = "run `gcloud auth application-default login` again"
        raise HearsightError(f"Google gave no token ({' '.join(plain.split())})", where=WHERE, hint=hint)
    if response is not None:
        return _judge(service, response.status_code, response.headers, response.content)
    if isinstance(failure, OSError):  # all of requests' exceptions
        return Verdict("again", plain)
    if isinstance(failure, (ParseError, ValueError, RecursionError)):
        return Verdict("nonsense", str(failure)[:160])
    raise failure


def _judge(service: str, status: int, headers: Mapping[str, str], body: bytes) -> Verdict:
    error = _error(body)
    text = json.dumps(error)
    reasons = set(_REASON.findall(text))
    why = " ".join(f"{status} {error.get('status', '')}: {error.get('message', '')}".split())[:200]
    about, where = NAMES[service], WHERE
    exhausted = status == 429 or error.get("status") == "RESOURCE_EXHAUSTED" or bool(reasons & SLOWER)
    if status in (403, 429) and (reasons & FINAL or (exhausted and _DAY.search(text))):
        raise HearsightError(f"{about}'s quota is used up ({why})", where=where, hint=KEPT)
    if exhausted or status in AGAIN:
        return Verdict("again", why, retry_after(headers))
    if status == 401 or reasons & {"API_KEY_INVALID", "API_KEY_EXPIRED"} or (status == 400 and "API key" in text):
        raise HearsightError(f"{about} does not know who asks ({why})", where=where, hint=f"give a valid {KEY} or log in again")
    if status == 403:
        hint = "enable the service and its billing in the Google Cloud console, and let the key use it"
        raise HearsightError(f"{about} may not be asked ({why})", where=where, hint=hint)
    if service == "texttospeech" and status == 400 and _NO_VOICE.search(text):
        raise HearsightError(f"{about} no longer has a voice that was drawn ({why})", where=where, hint="take it out of `voices`")
    if status in (400, 413):
        return Verdict("refused", why)
    raise HearsightError(f"{about} answers {why}", where=where, hint="look at the service's address in the environment")


def retry_after(headers: Mapping[str, str]) -> float:
    """Seconds that the Retry-After header asks for; 0 without a header that can be read."""
    # Imported here: it comes with the extra.
    from urllib3.exceptions import InvalidHeader
    from urllib3.util import Retry

    try:
        return float(Retry().parse_retry_after(headers.get("Retry-After", "")))
    except (InvalidHeader, ValueError, OverflowError):
        return 0.0


def _error(body: bytes) -> dict[str, Any]:
    try:
        error = json.loads(body)["error"]
    except (ValueError, RecursionError, LookupError, TypeError):
        return {}
    return error if isinstance(error, dict) else {}
