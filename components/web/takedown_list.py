"""Read the takedown list: the addresses and owners that a crawl must not hold (``takedown.jsonl``).

The list is versioned in git, so it holds no plain names: an entry is the salted sha256 of a normalised URL, host or owner. The
salt keeps hashes of two projects apart; it does not hide a host from a person who guesses it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from components.core.account_names import normalise_account
from components.core.digests import sha256_bytes
from components.core.errors import HearsightError
from components.core.ledger import dropped
from components.web.urls import normalise

NAME = "takedown.jsonl"
KINDS = ("url", "host", "owner")
RULE = "takedown"
"""The ledger's rule for listed items, and the store's failure for a redirect to one."""
LEDGER_VALUES = ("listed", "not on the list")
"""The rule's value and threshold; they reveal nothing about the listed item."""
_DIGEST = re.compile(r"[0-9a-f]{64}")


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
    """Return the salted sha256 of a canonical value (:func:`canonicalise_url`, ``_host``, ``core.account_names``)."""
    return sha256_bytes(f"{salt}\n{kind}\n{value}".encode())


def canonicalise_url(url: str) -> str | None:
    """Return the canonical form of a URL that is hashed; None when it is not a URL.

    Normalised, without its scheme (http and https are equal); an image of a folder as records name it, ``file:train/a.jpg``.
    """
    if is_folder_image(url):
        return f"file:{quote(unquote(url.removeprefix('file:')).strip(), safe='/-._~')}"
    normal = normalise(url)
    return normal.partition("://")[2] if normal else None


def is_folder_image(url: str) -> bool:
    """Return whether ``url`` names an image in a table's image folder."""
    return url.startswith("file:") and url[len("file:") :][:1] not in ("", "/")


def canonicalise_host(host: str) -> str | None:
    """Return a host's name as hashed: lower-case ASCII, no port, no final dot; None when it is not a host."""
    if re.search(r"[\s/@?#]", host):
        return None
    normal = normalise(f"http://{host}/")
    return (urlsplit(normal).hostname or None) if normal else None


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
        self._of = {kind: {entry.sha256 for entry in self.entries if entry.kind == kind} for kind in KINDS}
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

    def url(self, url: str) -> str:
        """Return the hash of the entry that lists ``url``, directly or by its host; '' when none does."""
        if not self.entries or ("//" not in url and not is_folder_image(url)):
            return ""
        if is_folder_image(url):
            return self._match("url", canonicalise_url(url) or "") if self._of["url"] else ""
        try:
            host = urlsplit(url).hostname or ""
        except ValueError:
            return ""
        if entry_hash := self.host(host):
            return entry_hash
        value = canonicalise_url(url) if self._of["url"] else None
        return self._match("url", value) if value else ""

    def owner(self, owner: str) -> str:
        """Return the hash of the entry that lists ``owner``; '' when none does."""
        value = normalise_account(owner) if self._of["owner"] else None
        return self._match("owner", value) if value else ""

    def mask(self, name: str) -> str:
        """Return a placeholder for a listed address: distinct for distinct addresses, and no address."""
        return f"{RULE}:{hash_value(self.salts[0], 'name', name)[:16]}"

    def without(self, value: Any) -> Any:
        """Return a list of addresses without the listed ones; any other value unchanged."""
        return [item for item in value if not self.url(str(item))] if isinstance(value, list) else value

    def _host(self, host: str) -> str:
        if not self._of["host"]:
            return ""
        value = canonicalise_host(host) or ""
        return (
            next((entry_hash for name in parent_domains(value) if (entry_hash := self._match("host", name))), "") if value else ""
        )

    def _match(self, kind: str, value: str) -> str:
        return next((entry_hash for salt in self.salts if (entry_hash := hash_value(salt, kind, value)) in self._of[kind]), "")


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
        lines = path.read_text(encoding="utf-8").splitlines()
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
            if entry.kind not in KINDS or not isinstance(entry.salt, str) or not _DIGEST.fullmatch(entry.sha256):
                raise ValueError
        except (ValueError, TypeError):
            raise HearsightError(
                f"line {number} is not a takedown entry",
                where=path,
                hint="restore it with git, or write it with `hearsight takedown add`",
            ) from None
        entries.append(entry)
    return Takedown(entries)
