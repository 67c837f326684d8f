"""Find listed addresses in text and bytes and replace them with placeholders.

The list is in ``takedown_list``; searching files is in ``components/tools/takedown``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from components.web.canonical import is_folder_image
from components.web.takedown_list import Takedown

URL = re.compile(rb"https?:(?://|\\/\\/)(?:(?![,;|)\]]+https?:)[^\s\"'<>\\^`{|}\x00-\x20\x7f])+", re.IGNORECASE)
"""An address in text: up to white space, a quote, a bracket of markup, or the next address after a comma."""
_HOST = re.compile(
    rb"(?<![a-z0-9.%_-])(?:[a-z0-9][a-z0-9-]{0,62}\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]"
    rb"|(?<![\w.-])(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?![\w-]|\.\w)|\[[0-9a-f:]*:[0-9a-f:.]+\]",
    re.IGNORECASE,
)
"""A host's name, an IPv4 address, or an IPv6 address in brackets."""
_FILE = re.compile(rb"(?<![\w:])file:(?!/)[^\s\"'<>\\^`{|}\x00-\x20\x7f]+")
"""An image of a table's image folder, as records name it."""
_TAIL = ".,;:!?)]*"
Search = Callable[[bytes], set[str]]


def is_listed(value: str, taken: Takedown) -> bool:
    """Return whether a URL or a host's name is listed."""
    if "//" in value or is_folder_image(value):
        return bool(taken.url(value))
    return bool(taken.host(value if value.startswith("[") else value.partition(":")[0]))


def find_listed(data: bytes, taken: Takedown) -> set[str]:
    """Return every listed address and host name in ``data``, as spelled there."""
    addresses = {decode_lossy(token).replace("\\/", "/") for token in (*URL.findall(data), *_FILE.findall(data))}
    listed = {token for token in addresses if is_listed(token, taken) or is_listed(token.rstrip(_TAIL), taken)}
    return listed | {token for token in {decode_lossy(match) for match in _HOST.findall(data)} if is_listed(token, taken)}


def search_text(data: bytes, taken: Takedown, search: Search) -> set[str]:
    """Return the matches of ``search`` in the text ``data``, outside the addresses of other sites.

    ``http://proxy.org/gone.org/a.jpg`` is an address at ``proxy.org``: it mentions ``gone.org`` but is not an address of it.
    In binary data (it holds a zero byte) every match counts.
    """
    matches = search(data)
    if not matches or b"\0" in data:
        return matches

    def drop_foreign(match: re.Match[bytes]) -> bytes:
        token = decode_lossy(match[0]).replace("\\/", "/")
        if is_listed(token, taken) or is_listed(token.rstrip(_TAIL), taken) or not search(match[0]):
            return match[0]
        return b" "

    return search(URL.sub(drop_foreign, data))


def redact(value: str, taken: Takedown, search: Search | None = None) -> str:
    """Return ``value`` with every listed address replaced by its placeholder."""
    matches = search_text(value.encode("utf-8", "replace"), taken, search or (lambda data: find_listed(data, taken)))
    for token in sorted(matches, key=len, reverse=True):
        value = value.replace(token, taken.mask(token))
    return value


def redact_row(row: Mapping[str, str], taken: Takedown) -> dict[str, str]:
    """Return a ledger row without listed addresses; a page's key is its address."""
    if not taken:
        return dict(row)
    key = taken.mask(row["key"]) if taken.url(row["key"]) else row["key"]
    return {**row, "key": key, **{name: redact(row[name], taken) for name in ("value", "threshold", "detail")}}


def decode_lossy(raw: bytes) -> str:
    """Decode bytes as UTF-8 with replacement characters."""
    return raw.decode("utf-8", "replace")
