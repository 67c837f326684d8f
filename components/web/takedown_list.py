"""The takedown list, read: which addresses and owners the crawl must not hold (``takedown.jsonl``).

The list is versioned in git and so names nothing in plain: an entry holds the salted sha256 of a normalised URL, host or
owner. The salt keeps hashes of two projects apart; it does not hide a host from somebody who guesses it.
Not in scope: finding listed addresses in text (``naming``), taking them out of a store (``web.erase``), writing the list and
clearing what older runs left (``components/tools/takedown``).
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

from components.core.account_names import spelled_owner
from components.core.digests import sha256_bytes
from components.core.errors import HearsightError
from components.core.ledger import dropped
from components.web.urls import normalise

NAME = "takedown.jsonl"
KINDS = ("url", "host", "owner")
RULE = "takedown"
"""The ledger's rule for what is listed, and the store's failure for a redirect that leads to it."""
LEDGER_VALUES = ("listed", "not on the list")
"""The rule's value and threshold: nothing of what is taken down may be told."""
_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Entry:
    """One line of the list."""

    kind: str
    """url | host | owner."""
    salt: str
    sha256: str
    """Of salt, kind and value, a line each; see :func:`hashed`."""
    date: str
    """The day it was given, ISO 8601."""
    reason: str = ""


def hash_value(salt: str, kind: str, value: str) -> str:
    """The salted sha256 of a value in its spelling of :func:`spelled_url`, :func:`spelled_host` or ``core.owners``."""
    return sha256_bytes(f"{salt}\n{kind}\n{value}".encode())


def canonicalise_url(url: str) -> str | None:
    """A URL in the one spelling that is hashed; None for no URL.

    Normalised, without its scheme (http and https are one); a picture of a folder as records name it, ``file:train/a.jpg``.
    """
    if is_folder_image(url):
        return f"file:{quote(unquote(url.removeprefix('file:')).strip(), safe='/-._~')}"
    normal = normalise(url)
    return normal.partition("://")[2] if normal else None


def is_folder_image(url: str) -> bool:
    """Whether ``url`` names a picture below the image folder of a table."""
    return url.startswith("file:") and url[len("file:") :][:1] not in ("", "/")


def canonicalise_host(host: str) -> str | None:
    """A host's name as hashed: lower-case ASCII, no port, no final dot; None for what is no host."""
    if re.search(r"[\s/@?#]", host):
        return None
    normal = normalise(f"http://{host}/")
    return (urlsplit(normal).hostname or None) if normal else None


def parent_domains(host: str) -> Iterator[str]:
    """The host itself, then each parent domain of two labels or more (a bare ``com`` takes nothing else down)."""
    yield host
    labels = host.split(".")
    for start in range(1, len(labels) - 1):
        yield ".".join(labels[start:])


class Takedown:
    """The list, ready to be asked."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self.entries = list(entries)
        self.salts = sorted({entry.salt for entry in self.entries})
        self._of = {kind: {entry.sha256 for entry in self.entries if entry.kind == kind} for kind in KINDS}
        self.host = lru_cache(maxsize=100_000)(self._host)

    def __bool__(self) -> bool:
        return bool(self.entries)

    def plain(self) -> list[list[str]]:
        """All that decides what is listed, JSON-able: for the keys of caches, and for workers; see :meth:`of`."""
        return sorted([entry.kind, entry.salt, entry.sha256] for entry in self.entries)

    @classmethod
    def of(cls, plain: Iterable[Iterable[str]]) -> Takedown:
        """The list that :meth:`plain` wrote."""
        return cls(Entry(kind, salt, sha256, "") for kind, salt, sha256 in plain)

    def url(self, url: str) -> str:
        """The hash of the entry that lists ``url``, by itself or by its host; '' when none does."""
        if not self.entries or ("//" not in url and not is_folder_image(url)):
            return ""
        if is_folder_image(url):
            return self._match("url", canonicalise_url(url) or "") if self._of["url"] else ""
        try:
            host = urlsplit(url).hostname or ""
        except ValueError:
            return ""
        if found := self.host(host):
            return found
        value = canonicalise_url(url) if self._of["url"] else None
        return self._match("url", value) if value else ""

    def owner(self, owner: str) -> str:
        """The hash of the entry that lists ``owner``; '' when none does."""
        value = spelled_owner(owner) if self._of["owner"] else None
        return self._match("owner", value) if value else ""

    def mask(self, name: str) -> str:
        """What stands for a listed address where a name is needed: different for different addresses, and no address."""
        return f"{RULE}:{hash_value(self.salts[0], 'name', name)[:16]}"

    def without(self, value: Any) -> Any:
        """A list of addresses without the listed ones; anything else as it is."""
        return [item for item in value if not self.url(str(item))] if isinstance(value, list) else value

    def _host(self, host: str) -> str:
        if not self._of["host"]:
            return ""
        value = canonicalise_host(host) or ""
        return next((found for name in parent_domains(value) if (found := self._match("host", name))), "") if value else ""

    def _match(self, kind: str, value: str) -> str:
        return next((found for salt in self.salts if (found := hash_value(salt, kind, value)) in self._of[kind]), "")


EMPTY_LIST = Takedown()


def takedown_row(key: str, mark: str, *, kind: str = "record") -> dict[str, str]:
    """The ledger row of what is listed: with the entry's hash (``mark``), and nothing of its own but ``key``."""
    return dropped(key, RULE, *LEDGER_VALUES, kind=kind, detail=f"{RULE}:{mark}")


def read_takedown(path: Path) -> Takedown:
    """The list at ``path``; a missing or empty one lists nothing.

    Raises:
        HearsightError: a line is no entry. A list that cannot be read must stop a run: it would bring back what was taken down.
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
                f"line {number} is no takedown entry", where=path, hint="restore it with git, or write it with `takedown add`"
            ) from None
        entries.append(entry)
    return Takedown(entries)
