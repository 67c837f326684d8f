"""Classifies failed requests to Google: retry, refuse the item, or end the run.

Source: Google's error model (``{"error": {"code", "status", "message", "errors", "details"}}``) and its canonical codes.
One status has several meanings: 400 INVALID_ARGUMENT is a bad image or a bad key, 429 and 403 are a quota per minute or
per day. The library's exceptions do not distinguish them, so the response body is read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from components.core.errors import HearsightError
from components.google.credentials import KEY, WHERE

SERVICE_NAMES = {"language": "Google Natural Language", "vision": "Google Vision", "texttospeech": "Google Text-to-Speech"}
RETRY_STATUSES = frozenset({408, 429, 500, 502, 503, 504})
"""Transient HTTP statuses."""
TRANSIENT = frozenset({4, 8, 10, 13, 14})
"""google.rpc.Code of transient errors inside an answer: deadline, exhausted, aborted, internal, unavailable."""
FINAL = frozenset({"dailyLimitExceeded", "dailyLimitExceededUnreg", "quotaExceeded"})
SLOWER = frozenset({"rateLimitExceeded", "userRateLimitExceeded", "RATE_LIMIT_EXCEEDED"})
_REASON = re.compile(r'"reason": "(\w+)"')
_NO_VOICE = re.compile(r"voice .*does not exist", re.IGNORECASE)
_DAY = re.compile(r"per[ _]?(project[ _]?)?day", re.IGNORECASE)
RETRY_HINT = "run again later: stored answers are kept, only the others are requested"


class Verdict(NamedTuple):
    """The reason why a request has no answer, and what to do about it."""

    kind: Literal["again", "nonsense", "refused"]
    why: str
    wait: float = 0.0
    """Seconds of Retry-After."""


def classify_failure(service: str, failure: Exception) -> Verdict:
    """Return what a request's exception means.

    Raises:
        HearsightError: no request can succeed: no quota, no permission, no such service.
    """
    # Imported on use: an optional extra.
    from google.auth.exceptions import GoogleAuthError
    from google.protobuf.json_format import ParseError

    response, plain = getattr(failure, "response", None), f"{type(failure).__name__}: {failure}"[:160]
    if isinstance(failure, GoogleAuthError):
        hint = "run `gcloud auth application-default login` again"
        raise HearsightError(f"Google issued no token ({' '.join(plain.split())})", where=WHERE, hint=hint)
    if response is not None:
        return _classify_response(service, response.status_code, response.headers, response.content)
    if isinstance(failure, OSError):  # all of requests' exceptions
        return Verdict("again", plain)
    if isinstance(failure, (ParseError, ValueError, RecursionError)):
        return Verdict("nonsense", str(failure)[:160])
    raise failure


def _classify_response(service: str, status: int, headers: Mapping[str, str], body: bytes) -> Verdict:
    error = _error(body)
    text = json.dumps(error)
    reasons = set(_REASON.findall(text))
    why = " ".join(f"{status} {error.get('status', '')}: {error.get('message', '')}".split())[:200]
    service_name, where = SERVICE_NAMES[service], WHERE
    exhausted = status == 429 or error.get("status") == "RESOURCE_EXHAUSTED" or bool(reasons & SLOWER)
    if status in (403, 429) and (reasons & FINAL or (exhausted and _DAY.search(text))):
        raise HearsightError(f"{service_name}'s quota is used up ({why})", where=where, hint=RETRY_HINT)
    if exhausted or status in RETRY_STATUSES:
        return Verdict("again", why, retry_after(headers))
    if status == 401 or reasons & {"API_KEY_INVALID", "API_KEY_EXPIRED"} or (status == 400 and "API key" in text):
        raise HearsightError(
            f"{service_name} rejects the credentials ({why})", where=where, hint=f"set a valid {KEY} or log in again"
        )
    if status == 403:
        hint = "enable the service and its billing in the Google Cloud console, and allow the key to use it"
        raise HearsightError(f"{service_name} denies access ({why})", where=where, hint=hint)
    if service == "texttospeech" and status == 400 and _NO_VOICE.search(text):
        raise HearsightError(f"{service_name} no longer has a drawn voice ({why})", where=where, hint="remove it from `voices`")
    if status in (400, 413):
        return Verdict("refused", why)
    raise HearsightError(f"{service_name} answers {why}", where=where, hint="check the service's address in the environment")


def retry_after(headers: Mapping[str, str]) -> float:
    """Return the seconds of the Retry-After header; 0 without a valid header."""
    # Imported on use: an optional extra.
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
