"""Normalise URLs so that equal addresses are equal strings, and detect addresses that a crawl must not request."""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import SplitResult, quote, urljoin, urlsplit, urlunsplit

import idna

DEFAULT_PORTS = {"http": 80, "https": 443}
_PATH_SAFE = "/%:=&?~#+!$,;'@()*[]-._"
_BROKEN_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f]")
LONGEST = 8_192
"""Maximum characters of an address; servers refuse longer ones (RFC 9110, 4.1 asks for 8,000), and joining takes time per
character."""
DEEPEST = 256
"""Maximum slashes of an address and its path: joining takes a step for each."""
LOCAL = "page.invalid"
"""Host that stands for files of this machine; the name can never exist (RFC 2606)."""
_LONG_HOST = re.compile(r"[^/?#]{0,12}//[^/?#]{300}")
_ABSOLUTE = re.compile(r"https?://[^/]", re.I)
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
"""Blocks that some Python versions call global although the open web cannot reach them."""


def make_absolute(reference: str, base: str) -> str | None:
    """Return ``reference`` from a page in absolute, normalised form; None when it is not an http(s) address.

    The fragment and a default port are removed, the host becomes lower-case ASCII (IDNA), spaces and non-ASCII characters are
    percent-encoded as UTF-8, dot segments are resolved. Never raises. None if the reference, the base or the result is longer
    than ``LONGEST`` or deeper than ``DEEPEST``.
    """
    if len(reference) > LONGEST or len(base) > LONGEST or _too_deep(base):
        return None
    cleaned = _CONTROLS.sub("", reference).strip()
    try:
        joined = cleaned.replace("\\", "/") if "://" not in cleaned[:12] else cleaned
        if _LONG_HOST.match(joined) or _LONG_HOST.match(
            base
        ):  # quadratic to check, and invalid: host names have at most 253 characters
            return None
        # ``urljoin`` changes absolute addresses: it drops an empty parameter.
        url = _normalise_parts(urlsplit(joined if _ABSOLUTE.match(joined) else urljoin(base, joined)))
        return url if url is None or not (len(url) > LONGEST or _too_deep(url)) else None
    except (ValueError, UnicodeError):
        return None


def _too_deep(url: str) -> bool:
    return url.count("/") > DEEPEST and url.partition("?")[0].count("/") > DEEPEST


def normalise(url: str) -> str | None:
    """Return an absolute ``url`` in the form of :func:`make_absolute`, or None."""
    return make_absolute(url, url)


def _normalise_parts(parts: SplitResult) -> str | None:
    scheme = parts.scheme.lower()
    host = parts.hostname
    if scheme not in DEFAULT_PORTS or not host:
        return None
    # An IPv6 literal keeps its brackets; a name becomes ASCII.
    host = f"[{host}]" if ":" in host else _ascii_host(host)
    if not host or not host.isprintable() or any(char in host for char in " /\\@?#%"):
        return None
    port = parts.port
    netloc = host if port in (None, DEFAULT_PORTS[scheme]) else f"{host}:{port}"
    path = quote(_BROKEN_ESCAPE.sub("%25", remove_dots(parts.path)), safe=_PATH_SAFE)
    query = quote(_BROKEN_ESCAPE.sub("%25", parts.query), safe=_PATH_SAFE)
    return urlunsplit((scheme, netloc, path or "/", query, ""))


def _ascii_host(host: str) -> str:
    """Return a host's name in lower-case ASCII without final dots, as browsers spell it; raises UnicodeError."""
    if not host.isascii():
        try:
            host = idna.encode(host, uts46=True).decode("ascii")
        except idna.IDNAError:  # IDNA 2008 has no symbols, which registries sold under IDNA 2003
            host = host.encode("idna").decode("ascii")
    return host.rstrip(".").encode("idna").decode("ascii").lower()


def remove_dots(path: str) -> str:
    """Resolve dot segments (RFC 3986, 5.2.4); ``urljoin`` keeps those of absolute references."""
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


def is_local(url: str) -> bool:
    """Return whether a URL stands for a file of this machine."""
    return host_of(url) == LOCAL


def host_of(url: str) -> str:
    """Return the host of a normalised URL, with its port if it has one: the unit of politeness."""
    return urlsplit(url).netloc


def is_private(address: str) -> bool:
    """Return whether ``address`` is a literal IP address, or a name of this machine, that the open web cannot reach."""
    bare = address.strip("[]").partition("%")[0]
    if bare == "localhost" or bare.endswith((".localhost", ".local", ".internal")):
        return True
    try:
        parsed = ipaddress.ip_address(bare)
    except ValueError:
        # Resolvers accept 127.1 and 0x7f000001, which ``ipaddress`` refuses: a host of digits is an address.
        return bool(re.fullmatch(r"(0x[0-9a-f]+|\d+)(\.(0x[0-9a-f]+|\d+))*", bare))
    mapped = getattr(parsed, "ipv4_mapped", None) or getattr(parsed, "sixtofour", None)
    if parsed.version == 6 and parsed in _NAT64:  # RFC 6052: an IPv4 address behind a translator
        mapped = ipaddress.IPv4Address(int(parsed) & 0xFFFFFFFF)
    address_behind = mapped or parsed
    if any(candidate in block for candidate in (parsed, address_behind) for block in _NOT_PUBLIC):  # False for another IP version
        return True
    return not address_behind.is_global or parsed.is_multicast or address_behind.is_multicast
