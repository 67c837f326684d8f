"""Why a request failed, in classes a ledger can count, and how long a host asks to be left alone."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import aiohttp

_CLOCK = (9, 10)
"""OpenSSL's verify codes for a certificate that is not valid yet, or no more."""

NO_SUCH_NAME = "no such name"
"""What DNS answers of a host that is no more; it tells that the network is there."""
_NAMELESS = (socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME))


def classify_failure(error: BaseException) -> tuple[str, str] | None:
    """(class, words) of an error that is more than a lost connection; the words hold nothing of chance.

    ``dns``: the name has no address, or none could be learned now; the words say which. ``tls``: the certificate is not
    accepted; when its dates are at fault, this machine's clock may be.
    """
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return "dns", NO_SUCH_NAME if error.os_error.errno in _NAMELESS else "names cannot be looked up"
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        code = getattr(error.certificate_error, "verify_code", 0)
        return "tls", "certificate out of its dates (or the clock is wrong)" if code in _CLOCK else "certificate not accepted"
    if isinstance(error, aiohttp.ClientSSLError):
        return "tls", "no secure connection"
    return None


def parse_retry_after(sent: Mapping[str, str]) -> float:
    """Seconds that an answer asks us to wait (RFC 9110, 10.2.3); 0 when it does not say.

    A date is counted from the answer's own ``Date``, so that a clock that goes wrong, its or ours, makes no difference.

    Args:
        sent: the answer's headers by lower-case name.
    """
    said = sent.get("retry-after", "").strip()
    if said.isascii() and said.isdigit():
        return float(said[:12])
    try:
        until = parsedate_to_datetime(said)
        since = parsedate_to_datetime(sent["date"]) if sent.get("date") else datetime.now(UTC)
        return max(0.0, (until.replace(tzinfo=UTC) - since.replace(tzinfo=UTC)).total_seconds())
    except (ValueError, TypeError, OverflowError, IndexError):
        return 0.0
