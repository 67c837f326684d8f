"""Read and write ``index.jsonl`` of a fetch store: one line per answer, validated when it is read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from components.web.warc import Entry, read_member


def index_line(entry: Entry) -> bytes:
    """Return one line of the index."""
    return json.dumps(vars(entry), sort_keys=True).encode() + b"\n"


def read_index(folder: Path, sizes: Mapping[str, int], most: int | None = None) -> tuple[list[Entry], bool]:
    """Return the index's entries whose records exist, and whether every line was valid.

    Args:
        folder: the store's folder.
        sizes: segment → its size in bytes.
        most: maximum lines read; None for all.
    """
    try:
        raw = (folder / "index.jsonl").read_bytes()
    except FileNotFoundError:
        return [], True
    if most is not None:
        raw = b"".join(raw.splitlines(keepends=True)[:most])
    kept: list[Entry] = []
    valid = not raw or raw.endswith(b"\n")
    rows = raw.split(b"\n")
    for row in rows[:-1] if valid else rows:
        try:
            entry = Entry(**json.loads(row))
            if entry.offset + entry.length > sizes.get(entry.segment, -1):
                raise ValueError("the record extends beyond the segment")
        except (ValueError, TypeError, RecursionError):
            valid = False
            continue
        kept.append(entry)
    # A last line without a line end may parse, but must be rewritten: ``valid`` is False.
    return kept, valid


def find_torn_entries(folder: Path, lines: Sequence[Entry]) -> set[Entry]:
    """Return the incomplete indexed records at the segments' ends, which only a failing disk leaves behind."""
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
