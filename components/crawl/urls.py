"""URLs in one spelling, so that equal addresses are equal strings.

In scope: joining, normalising, telling which addresses a crawl may ask for. Not in scope: what lies behind them.
"""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import SplitResult, quote, urljoin, urlsplit, urlunsplit

DEFAULT_PORTS = {"http": 80, "https": 443}
_PATH_SAFE = "/%:=&?~#+!$,;'@()*[]-._"
_BROKEN_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f]")
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


def absolute(reference: str, base: str) -> str | None:
    """``reference`` as found on a page, made absolute and normalised; None when it is no http(s) address.

    The fragment goes, the host is lower-case ASCII (IDNA), a default port goes, spaces and non-ASCII characters are
    percent-encoded as UTF-8, dot segments are resolved. Never raises: pages hold anything.
    """
    cleaned = _CONTROLS.sub("", reference).strip()
    try:
        parts = urlsplit(urljoin(base, cleaned.replace("\\", "/") if "://" not in cleaned[:12] else cleaned))
        return _normal(parts)
    except (ValueError, UnicodeError):
        return None


def normalise(url: str) -> str | None:
    """An absolute ``url`` in the spelling of :func:`absolute`, or None."""
    return absolute(url, url)


def _normal(parts: SplitResult) -> str | None:
    scheme = parts.scheme.lower()
    host = parts.hostname
    if scheme not in DEFAULT_PORTS or not host:
        return None
    # An IPv6 literal keeps its brackets; a name becomes ASCII.
    host = f"[{host}]" if ":" in host else host.rstrip(".").encode("idna").decode("ascii").lower()
    if not host or any(char in host for char in " /\\@?#%"):
        return None
    port = parts.port
    place = host if port in (None, DEFAULT_PORTS[scheme]) else f"{host}:{port}"
    path = quote(_BROKEN_ESCAPE.sub("%25", _without_dots(parts.path)), safe=_PATH_SAFE)
    query = quote(_BROKEN_ESCAPE.sub("%25", parts.query), safe=_PATH_SAFE)
    return urlunsplit((scheme, place, path or "/", query, ""))


def _without_dots(path: str) -> str:
    """RFC 3986, 5.2.4; ``urljoin`` leaves the dots of a reference that was absolute already."""
    if "/." not in path:
        return path
    kept: list[str] = []
    segments = path.split("/")
    for segment in segments:
        if segment == "..":
            if len(kept) > 1:
                kept.pop()
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in (".", ".."):
        kept.append("")
    return "/".join(kept)


def host_of(url: str) -> str:
    """The host of a normalised URL, with its port when it has one: the unit of politeness."""
    return urlsplit(url).netloc


def is_private(address: str) -> bool:
    """Whether ``address`` is a literal IP address, or a name for this machine, that the open web cannot reach."""
    bare = address.strip("[]").partition("%")[0]
    if bare == "localhost" or bare.endswith((".localhost", ".local", ".internal")):
        return True
    try:
        parsed = ipaddress.ip_address(bare)
    except ValueError:
        # 127.1 and 0x7f000001 are addresses to a resolver, though not to ``ipaddress``: a host of digits is one.
        return bool(re.fullmatch(r"(0x[0-9a-f]+|\d+)(\.(0x[0-9a-f]+|\d+))*", bare))
    mapped = getattr(parsed, "ipv4_mapped", None) or getattr(parsed, "sixtofour", None)
    if parsed.version == 6 and parsed in _NAT64:  # RFC 6052: an IPv4 address behind a translator, perhaps a private one
        mapped = ipaddress.IPv4Address(int(parsed) & 0xFFFFFFFF)
    return not (mapped or parsed).is_global or parsed.is_multicast
