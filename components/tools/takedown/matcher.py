"""Recognising a listed thing in text and bytes: by the list's hashes, or by the plain value a person gives.

By hashes, every address and host name in the bytes is looked up (``crawl.naming``); with a plain value its very spelling is
searched, so that a place no address rule foresees is found too. Content digests of removed records are recognised besides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import partial

from components.core.errors import HearsightError
from components.tools.takedown.listing import spelled
from components.web.redaction import decode_lossy, find_listed, is_listed, redact, search_text
from components.web.takedown_list import Entry, Takedown, hash_value

_DIGEST = re.compile(rb"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")
_AFTER = rb"(?![\w/?=&%~+-]|\.\w)"
OVERLAP = 4096
"""Bytes by which pieces of a large file overlap: longer than what is searched for."""


class Wanted:
    """What is looked for."""

    def __init__(self, listed: Takedown, plain: Sequence[tuple[str, str]] = (), digests: Iterable[str] = ()) -> None:
        self.listed = listed
        self.digests = frozenset(digests)
        """Content digests (sha256) of removed records that nothing current refers to."""
        self._plain = re.compile(b"|".join(map(_pattern, plain)), re.IGNORECASE) if plain else None

    @classmethod
    def of_plain(cls, plain: Sequence[tuple[str, str]], digests: Iterable[str] = ()) -> Wanted:
        """From plain (kind, value) pairs, whether or not they are on the list."""
        values = [(kind, spelled(kind, value)) for kind, value in plain]
        return cls(Takedown(Entry(kind, "", hash_value("", kind, value), "") for kind, value in values), values, digests)

    def address(self, value: str) -> bool:
        """Whether a URL or a host's name is listed."""
        return is_listed(value, self.listed)

    def in_bytes(self, data: bytes, *, digests: bool = True) -> set[str]:
        """The listed things ``data`` names, as found in it; digests of removed content too."""
        found = {decode_lossy(match) for match in self._plain.findall(data)} if self._plain else find_listed(data, self.listed)
        if digests and self.digests:
            found.update(token for token in map(decode_lossy, _DIGEST.findall(data)) if token in self.digests)
        return found

    def apart(self, data: bytes, *, digests: bool = True) -> tuple[set[str], int]:
        """As :meth:`in_bytes`, but for what stands inside addresses of others, which is counted; see ``naming.apart``."""
        return search_text(data, self.listed, partial(self.in_bytes, digests=digests))

    def in_text(self, value: str, *, digests: bool = True) -> set[str]:
        """What of :meth:`apart` is no mention."""
        return self.apart(value.encode("utf-8", "replace"), digests=digests)[0]

    def redact(self, value: str) -> str:
        """``value`` with every listed address in it replaced by what stands for it."""
        return redact(value, self.listed, partial(self.in_bytes, digests=False))


def _pattern(pair: tuple[str, str]) -> bytes:
    kind, value = pair
    if not value:
        raise HearsightError(f"an empty {kind} cannot be looked for", where="takedown", hint="give one")
    before = rb"(?<![a-z0-9-])" if kind == "host" else rb"(?<!\w)"
    after = rb"(?![a-z0-9-]|\.[a-z0-9])" if kind == "host" else _AFTER
    return before + re.escape(value.encode()) + after
