"""Recognise listed items in text and bytes, by the list's hashes or by a plain value.

By hashes, every address and host name in the bytes is looked up (``web.redaction``). A plain value is also searched literally,
which finds it where no address rule expects it. Content digests of removed records are recognised in both cases.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from components.core.errors import HearsightError
from components.tools.takedown.listing import normalise
from components.web.redaction import decode_lossy, find_listed, is_listed, redact, search_text
from components.web.takedown_list import Entry, Takedown, hash_value
from components.web.urls import normalise as normalise_url

_DIGEST = re.compile(rb"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")
_AFTER = rb"(?![\w/?=&%~+-]|\.\w)"
OVERLAP = 4096
"""Bytes by which pieces of a large file overlap; longer than any value that is searched for."""
ADDRESS_COLUMNS = ("page_url", "image_url", "host", "owner")
"""Columns of a record that name where it comes from."""


class Matcher:
    """The listed items and content digests to recognise."""

    def __init__(self, listed: Takedown, plain: Sequence[tuple[str, str]] = (), digests: Iterable[str] = ()) -> None:
        self.listed = listed
        self.digests = frozenset(digests)
        """sha256 of removed content that nothing current refers to."""
        self._plain = re.compile(b"|".join(map(_pattern, plain)), re.IGNORECASE) if plain else None

    @classmethod
    def from_plain(cls, plain: Sequence[tuple[str, str]], digests: Iterable[str] = ()) -> Matcher:
        """Build a matcher from plain (kind, value) pairs, whether or not they are listed."""
        values = [(kind, normalise(kind, value)) for kind, value in plain]
        # Records spell an address as it was requested, which is not its canonical form.
        spelled = [(kind, (normalise_url(value) or value).partition("://")[2] or value) for kind, value in plain if kind == "url"]
        listed = Takedown(Entry(kind, "", hash_value("", kind, value), "") for kind, value in values)
        return cls(listed, [*dict.fromkeys([*values, *spelled])], digests)

    def is_listed(self, value: str) -> bool:
        """Return whether a URL or a host name is listed."""
        return is_listed(value, self.listed)

    def covers(self, record: Mapping[str, str | None]) -> bool:
        """Return whether an address column of a record is listed."""
        found = {name: value for name in ADDRESS_COLUMNS if (value := record.get(name))}
        return any(self.listed.owner(value) if name == "owner" else self.is_listed(value) for name, value in found.items())

    def find_in_bytes(self, data: bytes, *, digests: bool = True) -> set[str]:
        """Return the listed items in ``data``, as spelled there, and with ``digests`` the digests of removed content."""
        matches = find_listed(data, self.listed)
        matches.update(map(decode_lossy, self._plain.findall(data) if self._plain else ()))
        if digests and self.digests:
            matches.update(token for token in map(decode_lossy, _DIGEST.findall(data)) if token in self.digests)
        return matches

    def find_hits(self, data: bytes, *, digests: bool = True) -> set[str]:
        """Return the matches outside other sites' addresses: there they are mentions, which stay."""
        return search_text(data, self.listed, partial(self.find_in_bytes, digests=digests))

    def find_in_text(self, value: str, *, digests: bool = True) -> set[str]:
        """Return the matches in a text that are no mentions."""
        return self.find_hits(value.encode("utf-8", "replace"), digests=digests)

    def redact(self, value: str) -> str:
        """Replace every listed address in ``value`` by its hash."""
        return redact(value, self.listed, partial(self.find_in_bytes, digests=False))


def _pattern(pair: tuple[str, str]) -> bytes:
    kind, value = pair
    if not value:
        raise HearsightError(f"an empty {kind} cannot be searched for", where="takedown", hint=f"give a {kind}")
    before = rb"(?<![a-z0-9-])" if kind == "host" else rb"(?<!\w)"
    after = rb"(?![a-z0-9-]|\.[a-z0-9])" if kind == "host" else _AFTER
    return before + re.escape(value.encode()) + after
