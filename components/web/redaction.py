"""Listed addresses in text and bytes: found, and replaced by what stands for them.

Not in scope: the list itself (``takedown``), and looking into files (``components/tools/takedown``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from components.web.takedown_list import Takedown, is_folder_image

URL = re.compile(rb"https?:(?://|\\/\\/)(?:(?![,;|)\]]+https?:)[^\s\"'<>\\^`{|}\x00-\x20\x7f])+", re.IGNORECASE)
"""An address in text: up to white space, a quote or a bracket of markup, or the next address behind a comma."""
_HOST = re.compile(rb"(?<![a-z0-9.%_-])(?:[a-z0-9][a-z0-9-]{0,62}\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]", re.IGNORECASE)
_FILE = re.compile(rb"(?<![\w:])file:(?!/)[^\s\"'<>\\^`{|}\x00-\x20\x7f]+")
"""A picture of a table's image folder, as records name it."""
_TAIL = ".,;:!?)]*"
Search = Callable[[bytes], set[str]]


def is_listed(value: str, taken: Takedown) -> bool:
    """Whether a URL or a host's name is listed."""
    return bool(taken.url(value) if "//" in value or is_folder_image(value) else taken.host(value.partition(":")[0]))


def find_listed(data: bytes, taken: Takedown) -> set[str]:
    """Every listed address and host name in ``data``, as found in it."""
    addresses = {decode_lossy(token).replace("\\/", "/") for token in (*URL.findall(data), *_FILE.findall(data))}
    found = {token for token in addresses if is_listed(token, taken) or is_listed(token.rstrip(_TAIL), taken)}
    return found | {token for token in {decode_lossy(match) for match in _HOST.findall(data)} if is_listed(token, taken)}


def search_text(data: bytes, taken: Takedown, search: Search) -> tuple[set[str], int]:
    """What ``search`` finds in the text ``data``, and how many addresses of others hold something of it.

    ``http://proxy.org/gone.org/a.jpg`` is an address at ``proxy.org``: it mentions ``gone.org`` and is not of it.
    Bytes that are no text (they hold a zero) have no such order: whatever is found in them counts.
    """
    found = search(data)
    if not found or b"\0" in data:
        return found, 0
    others: list[bytes] = []

    def other(match: re.Match[bytes]) -> bytes:
        token = decode_lossy(match[0]).replace("\\/", "/")
        if is_listed(token, taken) or is_listed(token.rstrip(_TAIL), taken) or not search(match[0]):
            return match[0]
        others.append(match[0])
        return b" "

    rest = URL.sub(other, data)
    return (search(rest), len(others)) if others else (found, 0)


def redact(value: str, taken: Takedown, search: Search | None = None) -> str:
    """``value`` with every listed address in it replaced by what stands for it."""
    found, _ = search_text(value.encode("utf-8", "replace"), taken, search or (lambda data: find_listed(data, taken)))
    for token in sorted(found, key=len, reverse=True):
        value = value.replace(token, taken.mask(token))
    return value


def redact_row(row: Mapping[str, str], taken: Takedown) -> dict[str, str]:
    """A ledger row that names nothing listed; a page's key is its address."""
    if not taken:
        return dict(row)
    key = taken.mask(row["key"]) if taken.url(row["key"]) else row["key"]
    return {**row, "key": key, **{name: redact(row[name], taken) for name in ("value", "threshold", "detail")}}


def decode_lossy(raw: bytes) -> str:
    """Bytes as text, whatever they hold."""
    return raw.decode("utf-8", "replace")
