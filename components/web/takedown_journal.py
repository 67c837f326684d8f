"""Read and append ``removed.jsonl`` of a fetch store: what was taken down, by hashes only, and how its digest changed.

Lineage uses it to find the runs that read removed answers; a later snapshot uses it to recognise its base. Removal is in
``erase``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from components.core.errors import HearsightError
from components.core.files import publish_bytes

JOURNAL = "removed.jsonl"
SWEPT = "swept"


def read_removals(folder: Path) -> list[dict[str, Any]]:
    """Return the removals of a snapshot, oldest first.

    Keys: ``before`` and ``after`` (the snapshot's digests), ``entries`` (hashes of the list's entries), ``answers`` (how many
    were removed), ``bodies`` and ``texts`` (sha256 of what was removed), ``images`` (sha256 of the image addresses on removed
    pages).

    Raises:
        HearsightError: the file is damaged.
    """
    try:
        lines = (folder / JOURNAL).read_text(encoding="utf-8").splitlines()
        removals = [json.loads(line) for line in lines if line.strip()]
        if any(not isinstance(removal["before"], str) or not isinstance(removal["after"], str) for removal in removals):
            raise TypeError
    except FileNotFoundError:
        return []
    except (ValueError, TypeError, KeyError):
        raise HearsightError(
            "is damaged", where=folder / JOURNAL, hint="restore it from a backup, or remove the snapshot"
        ) from None
    return removals


def append_removal(folder: Path, removal: dict[str, Any]) -> None:
    """Record one removal before it is done, so that a kill leaves a record of what the next run will do."""
    removals = [*read_removals(folder), removal]
    publish_bytes(folder / JOURNAL, b"".join(json.dumps(item, sort_keys=True).encode() + b"\n" for item in removals))


def follow_digest(folder: Path, digest: str) -> set[str]:
    """Return ``digest`` and every digest that its snapshot may have got by takedowns."""
    digests = {digest}
    for removal in read_removals(folder):
        if removal["before"] in digests:
            digests.add(removal["after"])
    return digests


def read_swept(folder: Path) -> str:
    """Return the state (takedown list and digest) of the last search for orphaned images in the snapshot; '' for none."""
    try:
        return (folder / SWEPT).read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return ""


def write_swept(folder: Path, state: str) -> None:
    """Store the value of :func:`read_swept`."""
    publish_bytes(folder / SWEPT, f"{state}\n".encode())
