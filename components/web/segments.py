"""Read and write the files of a fetch store: WARC segments, and the index ``index.jsonl`` with one line per answer.

A segment is a series of gzip members with one record each. A record is indexed only after its segment was synced, so a killed
writer leaves at most complete records without an index line and one incomplete record; :func:`recover` indexes or removes them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import IO

from components.core.digests import sha256_bytes
from components.core.errors import HearsightError
from components.core.files import disk_error, fsync_folder
from components.web.gzip_record import decompress_member
from components.web.warc import Entry, read_member, scan_segment, split_record

SEGMENT_BYTES = 256 * 1024 * 1024
"""A segment above this size is closed."""
SYNC_EVERY = 64
"""Records that share one fsync."""


class Segments:
    """The segments and the index of one snapshot, open for appending; ``last``: the segment to continue, '' for none."""

    def __init__(self, folder: Path, last: str) -> None:
        self._folder = folder
        self._pending: list[Entry] = []
        self._broken = False
        self._index = (folder / "index.jsonl").open("ab", buffering=0)
        self._segment: IO[bytes] | None = (folder / last).open("ab", buffering=0) if last else None

    def add(self, entry: Entry, record: bytes) -> Entry:
        """Append one record and return its entry with its position. It is durable after the next :meth:`sync`.

        Raises:
            HearsightError: the disk is full; no more records are accepted, and earlier ones stay valid.
        """
        if self._broken:
            raise not_writable_error(self._folder)
        try:
            if self._segment is None or self._segment.tell() > SEGMENT_BYTES:
                self._segment = self._next()
            offset, name = self._segment.tell(), Path(self._segment.name).name
            write_all(self._segment, record)
        except OSError as error:
            self._broken = True
            raise disk_error(error, self._folder) from error
        placed = replace(entry, segment=name, offset=offset, length=len(record))
        self._pending.append(placed)
        return placed

    def _next(self) -> IO[bytes]:
        self.sync()
        number = 0
        if self._segment is not None:
            number = int(Path(self._segment.name).name[8:13]) + 1
            self._segment.close()
        segment = (self._folder / f"segment-{number:05d}.warc.gz").open("ab", buffering=0)
        fsync_folder(self._folder)
        return segment

    @property
    def due(self) -> bool:
        """Whether enough records are pending for a sync."""
        return len(self._pending) >= SYNC_EVERY

    def sync(self) -> None:
        """Make all added records durable: the segment first, then the index that names them."""
        if not self._pending or self._broken or self._segment is None:
            return
        try:
            os.fsync(self._segment.fileno())
            write_all(self._index, b"".join(index_line(entry) for entry in self._pending))
            os.fsync(self._index.fileno())
        except OSError as error:
            self._broken = True
            raise disk_error(error, self._folder) from error
        self._pending.clear()

    def close(self) -> None:
        """Sync and close the files."""
        try:
            self.sync()
        finally:
            self._index.close()
            if self._segment is not None:
                self._segment.close()


def index_line(entry: Entry) -> bytes:
    """Return one line of the index."""
    return json.dumps(vars(entry), sort_keys=True).encode() + b"\n"


def read_index(folder: Path, sizes: Mapping[str, int], most: int | None = None) -> tuple[list[Entry], bool]:
    """Return the index's entries whose records exist, and whether every line was valid.

    ``sizes``: segment → its size in bytes; ``most``: maximum lines read, None for all.
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


def recover(folder: Path, sizes: Mapping[str, int], ends: Mapping[str, int], *, complete: bool) -> list[Entry]:
    """Truncate each segment after its last complete record; return the complete records that the index lacked, in order.

    Args:
        sizes: segment → its size in bytes.
        ends: segment → end of its last indexed record.
        complete: whether records after the indexed ones are removed, as in a complete snapshot.
    """
    recovered: list[Entry] = []
    for name, end in ends.items():
        entries, valid_end = scan_segment(folder / name, end) if end < sizes[name] and not complete else ([], end)
        recovered += entries
        if valid_end < sizes[name]:
            with (folder / name).open("r+b") as handle:
                handle.truncate(valid_end)
                os.fsync(handle.fileno())
    return recovered


def read_body(segment: Path | IO[bytes], offset: int, length: int, sha256: str) -> bytes | None:
    """Return the body of the answer at a position; None when the record is incomplete or the body has another digest."""
    try:
        with segment.open("rb") if isinstance(segment, Path) else nullcontext(segment) as handle:
            handle.seek(offset)
            body = split_record(decompress_member(handle.read(length)))[2]
    except (ValueError, FileNotFoundError):
        return None
    return body if sha256_bytes(body) == sha256 else None


def damaged_error(subject: str, where: Path) -> HearsightError:
    """Return the error for a record whose bytes changed after they were stored."""
    return HearsightError(f"{subject} is damaged", where=where, hint="remove the snapshot's folder and crawl again")


def not_writable_error(folder: Path) -> HearsightError:
    """Return the error for a store that is not open for writing."""
    return HearsightError("is not open for writing", where=folder, hint="run the crawl stage again")


def write_all(handle: IO[bytes], data: bytes) -> None:
    """Write all of ``data`` to an unbuffered file: the system may accept a part, and reports a full disk at the next write."""
    view = memoryview(data)
    while view:
        view = view[handle.write(view) :]
