"""Write the takedown list ``takedown.jsonl`` (versioned in git): one salted hash for each listed item."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from components.core.errors import HearsightError
from components.core.files import publish_bytes
from components.web.takedown_list import CANONICAL, NAME, Entry, Takedown, hash_value, read_takedown

HINTS = {
    "url": "give it as http://host/path, or as file:name for an image of a table",
    "host": "give a bare name of two labels or more, as example.org, which covers its subdomains",
    "owner": "give the account as name, name@server or the address of its page",
}


def normalise(kind: str, value: str) -> str:
    """Return ``value`` in the canonical form, which is hashed; raise HearsightError when it is no url, host or owner.

    ``*.example.org`` is the host ``example.org``, which covers its subdomains. A name of one label, as of a top-level domain, is
    no host but for ``localhost``.
    """
    value = value.strip().removeprefix("*.") if kind == "host" else value
    normal = CANONICAL[kind](value)
    if not normal or (kind == "host" and "." not in normal and normal != "localhost" and not normal.startswith("[")):
        raise HearsightError(f"'{value}' is no {kind}", where="takedown", hint=HINTS[kind])
    return normal


def add(root: Path, kind: str, value: str, reason: str = "") -> tuple[Entry, bool]:
    """Add an entry for ``value`` to the list.

    Args:
        kind: url | host | owner; a host covers its subdomains.
        value: as plain text; only its hash is written.
        reason: written as plain text, so it should name nothing.

    Returns:
        The entry, and whether it is new: a value is listed once.

    Raises:
        HearsightError: the value is not of its kind, or the list cannot be read or written.
    """
    path = root / NAME
    listed = read_takedown(path)
    plain = normalise(kind, value)
    if (known := listed.find(kind, plain)) is not None:
        return known, False
    salt = listed.entries[0].salt if listed else secrets.token_hex(16)
    today = datetime.now(UTC).date().isoformat()
    entry = Entry(kind, salt, hash_value(salt, kind, plain), today, " ".join(reason.split()))
    lines = [json.dumps(asdict(item), ensure_ascii=False) + "\n" for item in [*listed.entries, entry]]
    publish_bytes(path, "".join(lines).encode())
    return entry, True


def find_listed_settings(params: Any, listed: Takedown, setting: str = "") -> Iterator[str]:
    """Yield the settings that name something listed, as ``english.crawl.source.seeds``; a person edits them."""
    if isinstance(params, dict):
        for name, value in params.items():
            yield from find_listed_settings(value, listed, f"{setting}.{name}" if setting else str(name))
    elif isinstance(params, list):
        if any(True for item in params for _ in find_listed_settings(item, listed, setting)):
            yield setting
    elif isinstance(params, str) and (listed.url(params) or listed.host(params) or ("@" in params and listed.owner(params))):
        yield setting
