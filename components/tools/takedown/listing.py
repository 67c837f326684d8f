"""Writing the takedown list: one entry a thing, as a hash (``takedown.jsonl``, versioned in git)."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from components.core.account_names import spelled_owner
from components.core.errors import HearsightError
from components.core.files import publish_bytes
from components.web.takedown_list import NAME, Entry, Takedown, canonicalise_host, canonicalise_url, hash_value, read_takedown

SPELLED = {"url": canonicalise_url, "host": canonicalise_host, "owner": spelled_owner}
MEND = {
    "url": "give it as http://host/path, or file:name as records have it",
    "host": "give a bare name, as in example.org",
    "owner": "give the owner's name",
}


def spelled(kind: str, value: str) -> str:
    """``value`` in the spelling that is hashed; raises HearsightError when it is no url, host or owner."""
    found = SPELLED[kind](value)
    if not found:
        raise HearsightError(f"'{value}' is no {kind}", where="takedown", hint=MEND[kind])
    return found


def add(root: Path, kind: str, value: str, reason: str = "") -> tuple[Entry, bool]:
    """Put ``value`` on the list.

    Args:
        root: the project's root.
        kind: url | host | owner; a host covers its subdomains.
        value: in plain; only its hash is written.
        reason: written in plain beside it, so it should name nothing.

    Returns:
        The entry, and whether it is new: a thing is listed once.

    Raises:
        HearsightError: the value is none of its kind, or the list cannot be read or written.
    """
    path = root / NAME
    listed = read_takedown(path)
    plain = spelled(kind, value)
    for entry in listed.entries:
        if entry.kind == kind and entry.sha256 == hash_value(entry.salt, kind, plain):
            return entry, False
    salt = listed.entries[0].salt if listed else secrets.token_hex(16)
    today = datetime.now(UTC).date().isoformat()
    entry = Entry(kind, salt, hash_value(salt, kind, plain), today, " ".join(reason.split()))
    lines = [json.dumps(asdict(item), ensure_ascii=False) + "\n" for item in [*listed.entries, entry]]
    publish_bytes(path, "".join(lines).encode())
    return entry, True


def named_in_params(params: Any, listed: Takedown, at: str = "") -> Iterator[str]:
    """The places of params.yaml that name something listed, as ``english.crawl.seeds``: a person has to take it out there."""
    if isinstance(params, dict):
        for name, value in params.items():
            yield from named_in_params(value, listed, f"{at}.{name}" if at else str(name))
    elif isinstance(params, list):
        if any(True for item in params for _ in named_in_params(item, listed, at)):
            yield at
    elif isinstance(params, str) and (listed.url(params) or listed.host(params)):
        yield at
