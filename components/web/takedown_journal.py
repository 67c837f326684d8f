"""``removed.jsonl`` of a fetch store: what was taken down from it, by hashes alone, and which digest became which.

Lineage tells by it which runs saw what went, and a later snapshot that its base still is the one it stands on. Not in scope: the
taking down (``erase``).
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
    """The removals of a snapshot, oldest first: ``before`` and ``after`` (its digests), ``entries`` (hashes of the list's),
    ``answers`` (how many went), ``bodies`` and ``texts`` (sha256 of what went), ``images`` (sha256 of the addresses of the
    images that pages showed which went).

    Raises:
        HearsightError: a line is not what was written.
    """
    try:
        lines = (folder / JOURNAL).read_text(encoding="utf-8").splitlines()
        notes = [json.loads(line) for line in lines if line.strip()]
        if any(not isinstance(note["before"], str) or not isinstance(note["after"], str) for note in notes):
            raise TypeError
    except FileNotFoundError:
        return []
    except (ValueError, TypeError, KeyError):
        raise HearsightError("is damaged", where=folder / JOURNAL, hint="restore it, or remove the snapshot") from None
    return notes


def append_removal(folder: Path, note: dict[str, Any]) -> None:
    """Write down one removal, before it is done: a kill then leaves a note of what the next run will do."""
    notes = [*read_removals(folder), note]
    publish_bytes(folder / JOURNAL, b"".join(json.dumps(item, sort_keys=True).encode() + b"\n" for item in notes))


def follow_digest(folder: Path, digest: str) -> set[str]:
    """``digest`` and all that a snapshot of it may have become by takedowns."""
    found = {digest}
    for note in read_removals(folder):
        if note["before"] in found:
            found.add(note["after"])
    return found


def read_swept(folder: Path) -> str:
    """For which list and digest the snapshot was last looked through for what only taken-down pages showed; '' for none."""
    try:
        return (folder / SWEPT).read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return ""


def write_swept(folder: Path, state: str) -> None:
    """Remember :func:`swept`."""
    publish_bytes(folder / SWEPT, f"{state}\n".encode())
