"""``index.jsonl`` of a fetch store: one line an answer, read back with distrust after a crash. Not in scope: WARC (``warc``)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from components.web.warc import Entry, read_member


def index_line(entry: Entry) -> bytes:
    """One line of the index."""
    return json.dumps(vars(entry), sort_keys=True).encode() + b"\n"


def read_index(folder: Path, sizes: Mapping[str, int], most: int | None = None) -> tuple[list[Entry], bool]:
    """The index's entries whose records are there, and whether every line of it was good.

    Args:
        folder: the store's.
        sizes: segment → its size in bytes.
        most: lines that count; None for all.
    """
    try:
        raw = (folder / "index.jsonl").read_bytes()
    except FileNotFoundError:
        return [], True
    if most is not None:
        raw = b"".join(raw.splitlines(keepends=True)[:most])
    kept: list[Entry] = []
    whole = not raw or raw.endswith(b"\n")
    rows = raw.split(b"\n")
    for row in rows[:-1] if whole else rows:
        try:
            entry = Entry(**json.loads(row))
            if entry.offset + entry.length > sizes.get(entry.segment, -1):
                raise ValueError("beyond the segment")
        except (ValueError, TypeError, RecursionError):
            whole = False
            continue
        kept.append(entry)
    # A last line without its end of line may parse and yet be rewritten: ``whole`` says so.
    return kept, whole


def torn_entries(folder: Path, lines: Sequence[Entry]) -> set[Entry]:
    """The indexed records at the segments' ends that are not whole, which only a failing disk leaves behind."""
    torn: set[Entry] = set()
    for name in {entry.segment for entry in lines}:
        with (folder / name).open("rb") as handle:
            for entry in sorted((e for e in lines if e.segment == name), key=lambda e: -e.offset):
                handle.seek(entry.offset)
                member = read_member(handle)
                if member is not None and member[1] == entry.length:
                    break
                torn.add(entry)
    return torn
