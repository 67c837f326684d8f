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
LONGEST = 8_192
"""Characters of an address; servers refuse longer ones (RFC 9110, 4.1 asks for 8,000), and joining costs as much each time."""
DEEPEST = 256
"""Slashes of an address and its path: to join one more costs a step for each."""
_LONG_HOST = re.compile(r"[^/?#]{0,12}//[^/?#]{300}")
_WHOLE = re.compile(r"https?://[^/]", re.I)
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_NOT_PUBLIC = tuple(
    ipaddress.ip_network(block)
    for block in (
        "192.88.99.0/24",  # RFC 7526: 6to4 relays, deprecated
        "::/96",  # RFC 4291, 2.5.5.1: IPv4-compatible, deprecated; unspecified and loopback among them
        "64:ff9b:1::/48",  # RFC 8215: local NAT64
        "fec0::/10",  # RFC 3879: site-local, deprecated
    )
)
"""What ``ipaddress`` calls global in some versions of Python, and the open web cannot reach."""


def make_absolute(reference: str, base: str) -> str | None:
    """``reference`` as found on a page, made absolute and normalised; None when it is no http(s) address.

    The fragment goes, the host is lower-case ASCII (IDNA), a default port goes, spaces and non-ASCII characters are
    percent-encoded as UTF-8, dot segments are resolved. Never raises: pages hold anything. None for one, or a base, or an
    absolute form longer than ``LONGEST`` or deeper than ``DEEPEST``.
    """
    if len(reference) > LONGEST or len(base) > LONGEST or _too_deep(base):
        return None
    cleaned = _CONTROLS.sub("", reference).strip()
    try:
        joined = cleaned.replace("\\", "/") if "://" not in cleaned[:12] else cleaned
        if _LONG_HOST.match(joined) or _LONG_HOST.match(base):  # quadratic to check, and no host: those have 253 characters
            return None
        # ``urljoin`` changes what is absolute already: it drops an empty parameter.
        url = _normal(urlsplit(joined if _WHOLE.match(joined) else urljoin(base, joined)))
        return url if url is None or not (len(url) > LONGEST or _too_deep(url)) else None
    except (ValueError, UnicodeError):
        return None


def _too_deep(url: str) -> bool:
    return url.count("/") > DEEPEST and url.partition("?")[0].count("/") > DEEPEST


def normalise(url: str) -> str | None:
    """An absolute ``url`` in the spelling of :func:`absolute`, or None."""
    return make_absolute(url, url)


def _normal(parts: SplitResult) -> str | None:
    scheme = parts.scheme.lower()
    host = parts.hostname
    if scheme not in DEFAULT_PORTS or not host:
        return None
    # An IPv6 literal keeps its brackets; a name becomes ASCII.
    host = f"[{host}]" if ":" in host else host.rstrip(".").encode("idna").decode("ascii").lower()
    if not host or not host.isprintable() or any(char in host for char in " /\\@?#%"):
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
    address_behind = mapped or parsed
    if any(one in block for one in (parsed, address_behind) for block in _NOT_PUBLIC):  # of another version: not in it
        return True
    return not address_behind.is_global or parsed.is_multicast or address_behind.is_multicast
