"""Canonical forms of addresses, hosts and accounts: all spellings of one item are equal, and no two items are.

The takedown list and the data are compared in these forms. Requests and records use :func:`components.web.urls.normalise`, which
keeps more of an address as it was written.
"""

from __future__ import annotations

import ipaddress
import re
import socket
import unicodedata
from functools import lru_cache
from urllib.parse import quote, unquote, unquote_to_bytes, urlsplit

from components.core.hashtags import normalise_account
from components.web.urls import DEFAULT_PORTS, normalise, remove_dots

FOLDER = "file:"
"""Begins the address of an image in a table's image folder, as records name it: ``file:train/a.jpg``."""
_IPV4 = re.compile(r"(?:0x[0-9a-f]*|\d+)(?:\.(?:0x[0-9a-f]*|\d+)){0,3}")
_NOT_HOST = re.compile(r"[\s/@?#*]")
_UNRESERVED = re.compile(r"[\w.~-]*", re.ASCII)
_SLASHES = re.compile("/{2,}")
_BETWEEN_DELIMITERS = re.compile(r"[^&=+;]+")
_ACCOUNT_PAGE = re.compile(r"(?:(?:https?:)?//|(?=[^\s/@]+\.[^\s/@]+/.))(.+)", re.IGNORECASE)
_SCHEME = re.compile("^acct:", re.IGNORECASE)
_ACCOUNT_FOLDERS = ("web", "users")
"""Folders of accounts on servers of ActivityPub."""
_NAMES_WITHOUT_SERVER = ("instagram.com",)
"""Sites whose accounts records name without their server."""


def is_folder_image(url: str) -> bool:
    """Return whether ``url`` names an image in a table's image folder."""
    return url[: len(FOLDER)].lower() == FOLDER and url[len(FOLDER) :][:1] not in ("", "/")


def canonicalise_url(url: str) -> str | None:
    """Return the canonical form of an http(s) address or of a folder's image; None for anything else.

    Equal are: http, https and their default ports; spellings of the host (:func:`canonicalise_host`); with and without
    user name and fragment; dot segments and doubled slashes; and a character of the path or query that is percent-encoded or not,
    except ``/`` and, in a query, ``& = + ;``, which then mean something else (RFC 3986, 2.2 and 6.2.2).
    """
    if is_folder_image(url):
        path = quote(unquote(url[len(FOLDER) :]).strip(), safe="/")
        return FOLDER + _canonicalise_path(f"/{path}").removeprefix("/")
    normal = normalise(f"http:{url}" if url.startswith("//") else url) or ""
    if (server := _canonicalise_server(normal)) is None:
        return None
    parts = urlsplit(normal)
    query = _BETWEEN_DELIMITERS.sub(lambda match: _encode(match[0]), parts.query)
    return f"{server}{_canonicalise_path(parts.path)}{query and '?'}{query}"


def _canonicalise_server(normal: str) -> str | None:
    """Return host and port of an address that :func:`normalise` returned, without a default port."""
    host, port = (canonicalise_host(urlsplit(normal).netloc), urlsplit(normal).port) if normal else (None, None)
    return f"{host}:{port}" if host and port not in (None, *DEFAULT_PORTS.values()) else host


def _canonicalise_path(path: str) -> str:
    return _SLASHES.sub("/", remove_dots("/".join(map(_encode, path.split("/")))))


def _encode(text: str) -> str:
    return text if _UNRESERVED.fullmatch(text) else quote(unquote_to_bytes(text), safe="")


@lru_cache(maxsize=100_000)
def canonicalise_host(host: str) -> str | None:
    """Return a host as lower-case ASCII without port and final dot, an IP address in one spelling; None when it is no host."""
    if _NOT_HOST.search(host):
        return None
    bracketed = f"[{host}]" if host.count(":") > 1 and not host.startswith("[") else host
    normal = normalise(f"http://{bracketed}/")
    name = urlsplit(normal).hostname if normal else None
    if not name:
        return None
    try:
        if ":" in name:
            address = ipaddress.IPv6Address(name)
            # Python's versions spell an IPv6 address that contains an IPv4 address differently.
            return str(address.ipv4_mapped) if address.ipv4_mapped else f"[{address.packed.hex()}]"
        return socket.inet_ntoa(socket.inet_aton(name)) if _IPV4.fullmatch(name) else name
    except (OSError, ValueError):
        return None


def canonicalise_owner(owner: str) -> str | None:
    """Return an account as ``name@server``, or as its name where no server is given; None when it is neither.

    The address of an account's page is the account: ``https://example.social/@name``, ``…/users/name``, ``…/name``; with
    ``/@name@other.social`` it is the account on the other server.
    """
    account = _SCHEME.sub("", unicodedata.normalize("NFKC", owner).strip())
    if address := _ACCOUNT_PAGE.fullmatch(account):
        return _read_account(address[1])
    name, at, server = account.lstrip("@").rpartition("@")
    if at and (canonical := _canonicalise_server(normalise(f"https://{server}/") or "")):
        return normalise_account(f"{name}@{canonical}")
    return normalise_account(account)


def _read_account(address: str) -> str | None:
    normal = normalise(f"https://{address}") or ""
    if (server := _canonicalise_server(normal)) is None:
        return None
    segments = [unquote(segment) for segment in urlsplit(normal).path.split("/") if segment]
    if len(segments) > 1 and segments[0].lower() in _ACCOUNT_FOLDERS:
        segments = segments[1:]
    elif not segments or (len(segments) > 1 and not segments[0].startswith("@")):
        return None
    name, server = segments[0].lstrip("@"), server.removeprefix("www.")
    if not name:
        return None
    return canonicalise_owner(name if "@" in name or server in _NAMES_WITHOUT_SERVER else f"{name}@{server}")
