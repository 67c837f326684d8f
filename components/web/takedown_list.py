"""Read the takedown list: the addresses and owners that a crawl must not hold (``takedown.jsonl``).

The list is versioned in git, so it holds no plain names: an entry is the salted sha256 of the canonical form (``canonical``) of a
URL, host or owner. The salt keeps hashes of two projects apart; it does not hide a host from a person who guesses it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from components.core.digests import is_digest, sha256_bytes
from components.core.errors import HearsightError
from components.core.hashtags import normalise_account
from components.core.ledger import dropped
from components.core.text_encoding import decode_text
from components.web.canonical import FOLDER, canonicalise_host, canonicalise_owner, canonicalise_url, is_folder_image
from components.web.urls import normalise

NAME = "takedown.jsonl"
CANONICAL: dict[str, Callable[[str], str | None]] = {
    "url": canonicalise_url, "host": canonicalise_host, "owner": canonicalise_owner,
}  # fmt: skip
"""Kind of an entry → the form of its values, in the list and in the data."""
RULE = "takedown"
"""The ledger's rule for listed items, and the store's failure for a redirect to one."""
LEDGER_VALUES = ("listed", "not on the list")
"""The rule's value and threshold; they reveal nothing about the listed item."""

_WITHIN = re.compile(r"https?(?::/|%3A%2F).*", re.I)
"""An address within another one."""


@dataclass(frozen=True)
class Entry:
    """One line of the list."""

    kind: str
    """url | host | owner."""
    salt: str
    sha256: str
    """Of salt, kind and value, one per line; see :func:`hash_value`."""
    date: str
    """The day of the request, ISO 8601."""
    reason: str = ""


def hash_value(salt: str, kind: str, value: str) -> str:
    """Return the salted sha256 of a canonical value (:data:`CANONICAL`)."""
    return sha256_bytes(f"{salt}\n{kind}\n{value}".encode())


def parent_domains(host: str) -> Iterator[str]:
    """Yield the host, then each parent domain of two labels or more (a bare ``com`` lists nothing else)."""
    yield host
    labels = host.split(".")
    for start in range(1, len(labels) - 1):
        yield ".".join(labels[start:])


class Takedown:
    """The takedown list with look-ups."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self.entries = list(entries)
        self.salts = sorted({entry.salt for entry in self.entries})
        self._of = {kind: {entry.sha256 for entry in self.entries if entry.kind == kind} for kind in CANONICAL}
        self.host = lru_cache(maxsize=100_000)(self._host)

    def __bool__(self) -> bool:
        return bool(self.entries)

    def plain(self) -> list[list[str]]:
        """Return everything that decides what is listed as JSON values, for cache keys and workers; see :meth:`of`."""
        return sorted([entry.kind, entry.salt, entry.sha256] for entry in self.entries)

    @classmethod
    def of(cls, plain: Iterable[Iterable[str]]) -> Takedown:
        """Return the list that :meth:`plain` wrote."""
        return cls(Entry(kind, salt, sha256, "") for kind, salt, sha256 in plain)

    def find(self, kind: str, value: str) -> Entry | None:
        """Return the entry of a canonical value; None when it is not listed itself."""
        mark = self._match(kind, value)
        return next((entry for entry in self.entries if entry.kind == kind and entry.sha256 == mark), None)

    def url(self, url: str) -> str:
        """Return the hash of the entry that lists ``url``, directly or by its host; '' when none does."""
        if not self.entries or ("//" not in url and not is_folder_image(url)):
            return ""
        try:
            host = "" if is_folder_image(url) else urlsplit(url).hostname or ""
        except ValueError:
            return ""
        if entry_hash := self.host(host):
            return entry_hash
        return self._match("url", canonicalise_url(url), _earlier_url(url)) if self._of["url"] else ""

    def within(self, url: str) -> str:
        """Return the hash of the entry that lists the address within ``url``, as those of a web archive hold it; '' for none."""
        found = _WITHIN.search(url, 8)
        forms = (found[0], unquote(found[0].partition("&")[0])) if found else ()
        return next(filter(None, map(self.url, forms)), "")

    def owner(self, owner: str) -> str:
        """Return the hash of the entry that lists ``owner``; '' when none does."""
        return self._match("owner", canonicalise_owner(owner), normalise_account(owner)) if self._of["owner"] else ""

    def mask(self, name: str) -> str:
        """Return a placeholder for a listed address: distinct for distinct addresses, and no address."""
        return f"{RULE}:{hash_value(self.salts[0], 'name', name)[:16]}"

    def without(self, value: Any) -> Any:
        """Return a list of addresses without the listed ones; any other value unchanged."""
        return [item for item in value if not self.url(str(item))] if isinstance(value, list) else value

    def _host(self, host: str) -> str:
        value = canonicalise_host(host) if self._of["host"] else None
        return self._match("host", *parent_domains(value), host.strip("[]")) if value else ""

    def _match(self, kind: str, *values: str | None) -> str:
        """Return the first hash of a value, in its order and in that of the salts, that the list has."""
        hashes = (hash_value(salt, kind, value) for value in dict.fromkeys(values) if value for salt in self.salts)
        return next((entry_hash for entry_hash in hashes if entry_hash in self._of[kind]), "")


def _earlier_url(url: str) -> str | None:
    """Return the form that lists were written in before :func:`canonicalise_url` had the present one."""
    if is_folder_image(url):
        return FOLDER + quote(unquote(url[len(FOLDER) :]).strip(), safe="/-._~")
    normal = normalise(url)
    return normal.partition("://")[2] if normal else None


EMPTY_LIST = Takedown()


def takedown_row(key: str, mark: str, *, kind: str = "record") -> dict[str, str]:
    """Return the ledger row of a listed item: the entry's hash (``mark``) and nothing of the item but ``key``."""
    return dropped(key, RULE, *LEDGER_VALUES, kind=kind, detail=f"{RULE}:{mark}")


def read_takedown(path: Path) -> Takedown:
    """Return the list at ``path``; a missing or empty file lists nothing.

    Raises:
        HearsightError: a line is not an entry. An unreadable list must stop a run, which would bring removed items back.
    """
    try:
        lines = decode_text(path.read_bytes()).splitlines()
    except FileNotFoundError:
        return EMPTY_LIST
    except (OSError, UnicodeDecodeError) as error:
        raise HearsightError(f"cannot be read ({error})", where=path, hint="restore it with git") from None
    entries = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            entry = Entry(**json.loads(line))
            if entry.kind not in CANONICAL or not isinstance(entry.salt, str) or not is_digest(entry.sha256):
                raise ValueError
        except (ValueError, TypeError):
            raise HearsightError(
                f"line {number} is not a takedown entry",
                where=path,
                hint="restore it with git, or write it with `hearsight takedown add`",
            ) from None
        entries.append(entry)
    return Takedown(entries)
