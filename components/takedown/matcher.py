"""Recognising a listed thing in text and bytes: by the list's hashes, or by the plain value a person gives.

By hashes, every address and host name in the bytes is looked up; with a plain value its very spelling is searched as well,
so that a place no address rule foresees is found too. Content digests of removed records are recognised besides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from components.core.errors import HearsightError
from components.crawl.takedown import Entry, Takedown, hashed
from components.takedown.listing import spelled

_URL = re.compile(rb"https?:(?://|\\/\\/)[^\s\"'<>\\^`{|}\x00-\x20\x7f]+", re.IGNORECASE)
_HOST = re.compile(rb"(?<![a-z0-9.%_-])(?:[a-z0-9][a-z0-9-]{0,62}\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]", re.IGNORECASE)
_DIGEST = re.compile(rb"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")
_TAIL = ".,;:!?)]*"
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
        return cls(Takedown(Entry(kind, "", hashed("", kind, value), "") for kind, value in values), values, digests)

    def address(self, value: str) -> bool:
        """Whether a URL or a host's name is listed."""
        return bool(self.listed.url(value) if "//" in value else self.listed.host(value.partition(":")[0]))

    def in_bytes(self, data: bytes, *, digests: bool = True) -> set[str]:
        """The listed things ``data`` names, as found in it; digests of removed content too."""
        found: set[str] = set()
        if self._plain:
            found.update(text(match) for match in self._plain.findall(data))
        else:
            addresses = {text(token).replace("\\/", "/") for token in _URL.findall(data)}
            found.update(token for token in addresses if self.address(token) or self.address(token.rstrip(_TAIL)))
            found.update(token for token in {text(match) for match in _HOST.findall(data)} if self.address(token))
        if digests and self.digests:
            found.update(token for token in map(text, _DIGEST.findall(data)) if token in self.digests)
        return found

    def in_text(self, value: str, *, digests: bool = True) -> set[str]:
        """As :meth:`in_bytes`."""
        return self.in_bytes(value.encode("utf-8", "replace"), digests=digests)

    def redact(self, value: str) -> str:
        """``value`` with every listed address in it replaced by what stands for it."""
        for token in sorted(self.in_text(value, digests=False), key=len, reverse=True):
            value = value.replace(token, self.listed.mask(f"http://{token.partition('://')[2] or token}"))
        return value


def text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _pattern(pair: tuple[str, str]) -> bytes:
    kind, value = pair
    if not value:
        raise HearsightError(f"an empty {kind} cannot be looked for", where="takedown", mend="give one")
    before = rb"(?<![a-z0-9-])" if kind == "host" else rb"(?<!\w)"
    after = rb"(?![a-z0-9-]|\.[a-z0-9])" if kind == "host" else _AFTER
    return before + re.escape(value.encode()) + after
