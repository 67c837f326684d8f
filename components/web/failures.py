"""Classify why a request failed, and read how long a host asks to wait."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import aiohttp

_DATE_ERRORS = (9, 10)
"""OpenSSL's verify codes for a certificate that is not yet valid or has expired."""

NO_SUCH_NAME = "no such name"
"""Detail of a name that does not exist; the network is working then."""
_NO_NAME_ERRORS = (socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME))


def classify_failure(error: BaseException) -> tuple[str, str] | None:
    """Return (class, detail) of an error other than a lost connection; the detail is reproducible. None for a lost connection.

    ``dns``: the name has no address, or cannot be looked up now. ``tls``: the certificate is not accepted; if its dates are the
    reason, this machine's clock may be wrong.
    """
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return "dns", NO_SUCH_NAME if error.os_error.errno in _NO_NAME_ERRORS else "names cannot be looked up"
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        code = getattr(error.certificate_error, "verify_code", 0)
        return (
            "tls",
            "certificate out of its dates (or the clock is wrong)" if code in _DATE_ERRORS else "certificate not accepted",
        )
    if isinstance(error, aiohttp.ClientSSLError):
        return "tls", "no secure connection"
    return None


def parse_retry_after(sent: Mapping[str, str]) -> float:
    """Return the seconds that an answer asks to wait (RFC 9110, 10.2.3); 0 when it does not say.

    A date is relative to the answer's ``Date``, so that a wrong clock makes no difference.

    Args:
        sent: the answer's headers by lower-case name.
    """
    value = sent.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        return float(value[:12])
    try:
        until = parsedate_to_datetime(value)
        since = parsedate_to_datetime(sent["date"]) if sent.get("date") else datetime.now(UTC)
        return max(0.0, (until.replace(tzinfo=UTC) - since.replace(tzinfo=UTC)).total_seconds())
    except (ValueError, TypeError, OverflowError, IndexError):
        return 0.0
