"""Find damaged results in the result caches and delete only these.

A result whose bytes do not match its checksum is deleted. From a file that SQLite cannot read, every undamaged result is copied
into a new file: it is read page by page without SQLite. Every row carries the CRC-32 of its value, so bytes that parse as a row
with the right checksum are one, wherever they are, and a damaged byte loses at most its own row. Source:
https://www.sqlite.org/fileformat2.html, sections 1.6 (b-tree pages), 2.1 (record format) and 4.1 (write-ahead log). Not in scope:
tables of another form. :func:`find_damage` changes nothing.
"""

from __future__ import annotations

import os
import sqlite3
import zlib
from collections.abc import Collection, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from components.core.errors import HearsightError
from components.core.files import disk_error, move_into_place
from components.core.graph import load_graph
from components.core.result_files import sqlite_backend
from components.execution.runner import lock_all_outputs


@dataclass(frozen=True)
class Damage:
    """The damage of one store, a cache's SQLite file."""

    store: Path
    keys: tuple[str, ...]
    """Results whose bytes do not match their checksum, sorted; empty where the file's structure is damaged."""
    problem: str

    @property
    def structural(self) -> bool:
        """Whether SQLite cannot read the file as a whole."""
        return not self.keys


def find_damage(folder: Path) -> list[Damage]:
    """Read every store in ``folder`` completely; return the damaged ones."""
    damages = (_damage_of(path) for path in sorted(folder.glob("*.sqlite")))
    return [damage for damage in damages if damage is not None]


def _damage_of(path: Path) -> Damage | None:
    try:
        with closing(sqlite3.connect(path, timeout=120)) as base:
            answer = [str(line) for (line,) in base.execute("PRAGMA quick_check(1)")]
            if answer != ["ok"]:
                return Damage(path, (), " ".join(answer))
            rows = base.execute("SELECT key, value, crc FROM results ORDER BY key")
            keys = tuple(key for key, value, crc in rows if not isinstance(value, bytes) or zlib.crc32(value) != crc)
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            raise HearsightError("is in use", where=path, hint="wait until no stage runs") from None
        return Damage(path, (), str(error))
    except sqlite3.Error as error:
        return Damage(path, (), str(error))
    return Damage(path, keys, "the bytes do not match the checksum") if keys else None


def repair(root: Path, damages: Collection[Damage], copies_of: Collection[Path] = ()) -> dict[Path, int]:
    """Delete the damaged results; return the number of results left in each store.

    Args:
        root: the project; none of its stages may run.
        damages: from :func:`find_damage`.
        copies_of: stores whose damaged file is kept as ``<name>.damaged``.

    Raises:
        HearsightError: a stage is running, or the disk is full or not writable; the store is then unchanged.
    """
    remaining = {}
    with lock_all_outputs(load_graph(root)):
        for damage in damages:
            try:
                if damage.structural:
                    remaining[damage.store] = _rebuild(damage.store, copy=damage.store in copies_of)
                else:
                    remaining[damage.store] = _delete(damage)
            except OSError as error:
                raise disk_error(error, damage.store) from error
            except sqlite3.Error as error:
                raise HearsightError(
                    f"cannot be repaired ({error})", where=damage.store, hint="free some disk space and repeat the command"
                ) from error
    return remaining


def _delete(damage: Damage) -> int:
    with closing(sqlite3.connect(damage.store, timeout=120)) as base:
        with base:
            base.executemany("DELETE FROM results WHERE key = ?", [(key,) for key in damage.keys])
        return int(base.execute("SELECT count(*) FROM results").fetchone()[0])


def _rebuild(path: Path, *, copy: bool) -> int:
    """Replace a damaged file by a new one with every undamaged result; return their number."""
    fresh = path.with_name(f".{path.name}.repaired")
    for old in (fresh, *_log_files(fresh)):
        old.unlink(missing_ok=True)
    with sqlite_backend(fresh) as backend:
        batch = []
        for row in salvage_rows(path):
            batch.append(row)
            if len(batch) == 500:
                backend.write(batch)
                batch.clear()
        backend.write(batch, durable=True)
    with closing(sqlite3.connect(fresh)) as base:
        count = int(base.execute("SELECT count(*) FROM results").fetchone()[0])
        base.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    if copy:
        kept = path.with_name(f"{path.name}.damaged")
        for source in (path, *_log_files(path)):
            if source.exists():
                target = kept.with_name(source.name.replace(path.name, kept.name))
                target.unlink(missing_ok=True)
                os.link(source, target)
    for log in _log_files(path):  # before the rename: SQLite would apply the old log to the new file
        log.unlink(missing_ok=True)
    move_into_place(fresh, path)
    fresh.with_suffix(".lock").unlink(missing_ok=True)
    return count


def _log_files(path: Path) -> tuple[Path, Path]:
    """Return a database's write-ahead log and the log's index."""
    return path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")


PAGE = 4096
"""Bytes per page: SQLite's default, which all result caches use."""
LEAF, INTERIOR = 0x0A, 0x02
_LOG_HEADER, _FRAME_HEADER = 32, 24
_LARGEST_LOCAL = (PAGE - 12) * 64 // 255 - 23
_LEAST_LOCAL = (PAGE - 12) * 32 // 255 - 23
_SMALLEST_CELL = 8
_INTEGERS = {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8, 8: 0, 9: 0}
"""Serial type of an integer or NULL → size in bytes."""

Row = tuple[str, bytes, int]


def salvage_rows(path: Path) -> Iterator[Row]:
    """Yield (key, value, CRC-32 of the value) of every undamaged row of ``path`` and its write-ahead log; rows may repeat.

    Raises:
        OSError: the file cannot be read.
    """
    data = path.read_bytes()
    main = {at // PAGE + 1: data[at : at + PAGE].ljust(PAGE, b"\0") for at in range(0, len(data), PAGE)}
    logged = _logged(path.with_name(f"{path.name}-wal"))
    # The log's pages are newer; the file's own are the fallback when the log is damaged.
    for pages in ({**main, **logged}, main) if logged else (main,):
        yield from _rows(pages)


def _logged(path: Path) -> dict[int, bytes]:
    """Return the newest version of each page in a write-ahead log, by page number."""
    try:
        log = path.read_bytes()
    except FileNotFoundError:
        return {}
    step = _FRAME_HEADER + PAGE
    frames = [log[at : at + step] for at in range(_LOG_HEADER, len(log) - step + 1, step)]
    # Frames of an earlier log have other salts than the header.
    current = [frame for frame in frames if frame[8:16] == log[16:24]] or frames
    return {int.from_bytes(frame[:4], "big"): frame[_FRAME_HEADER:] for frame in current}


def _rows(pages: dict[int, bytes]) -> Iterator[Row]:
    used: set[int] = set()
    """Overflow pages of undamaged rows, which hold no rows of their own."""
    suspect: list[bytes] = []
    for page in pages.values():
        cells, has_header = _cells(page)
        rows = [row for at in cells if (row := _row(page, at, pages, used)) is not None]
        yield from rows
        if not has_header or len(rows) < len(cells):
            suspect.append(page)
    overflow = {id(pages[number]) for number in used if number in pages}
    for page in suspect:
        if id(page) not in overflow:
            # A damaged header or cell: try every offset.
            rows_anywhere = (_row(page, at, pages, set()) for at in range(PAGE - _SMALLEST_CELL))
            yield from (row for row in rows_anywhere if row is not None)


def _cells(page: bytes) -> tuple[list[int], bool]:
    """Return the offsets of rows in the page's header, and whether the header is that of a page of rows."""
    if page[0] not in (LEAF, INTERIOR):
        return [], False
    start, skip = (8, 0) if page[0] == LEAF else (12, 4)
    count = min(int.from_bytes(page[3:5], "big"), (PAGE - start) // 2)
    offsets = [int.from_bytes(page[at : at + 2], "big") + skip for at in range(start, start + 2 * count, 2)]
    return [offset for offset in offsets if offset < PAGE - 1], True


def _row(page: bytes, at: int, pages: dict[int, bytes], used: set[int]) -> Row | None:
    """Return the row that begins at ``at``; None if there is none with a right checksum. Adds its other pages to ``used``."""
    size, at = _varint(page, at)
    if not _SMALLEST_CELL < size <= PAGE * len(pages):
        return None
    local = size
    if size > _LARGEST_LOCAL:
        rest = _LEAST_LOCAL + (size - _LEAST_LOCAL) % (PAGE - 4)
        local = rest if rest <= _LARGEST_LOCAL else _LEAST_LOCAL
    record = page[at : at + local]
    if len(record) < local or not _is_plausible(record, size):
        return None
    chain: list[int] = []
    if local < size:
        parts, number, remaining = [record], int.from_bytes(page[at + local : at + local + 4], "big"), size - local
        while remaining > 0:
            if number not in pages or number in chain:
                return None
            chain.append(number)
            parts.append(pages[number][4 : 4 + min(remaining, PAGE - 4)])
            remaining -= PAGE - 4
            number = int.from_bytes(pages[number][:4], "big")
        record = b"".join(parts)
    row = _decoded(record)
    if row is not None:
        used.update(chain)
    return row


def _types(record: bytes) -> tuple[int, list[int]]:
    """Return the length of a record's header and its serial types."""
    length, at = _varint(record, 0)
    kinds: list[int] = []
    while at < min(length, len(record)) and len(kinds) < 4:
        kind, at = _varint(record, at)
        kinds.append(kind)
    return length, kinds


def _is_plausible(record: bytes, size: int) -> bool:
    """Return whether a record (or its beginning) has a text, a blob and an integer with ``size`` bytes in total."""
    length, kinds = _types(record)
    if len(kinds) != 3 or kinds[0] < 13 or not kinds[0] % 2 or kinds[1] < 12 or kinds[1] % 2 or kinds[2] not in _INTEGERS:
        return False
    return length + (kinds[0] - 13) // 2 + (kinds[1] - 12) // 2 + _INTEGERS[kinds[2]] == size


def _decoded(record: bytes) -> Row | None:
    length, (text, blob, integer) = _types(record)
    middle = length + (text - 13) // 2
    end = middle + (blob - 12) // 2
    value = record[middle:end]
    crc = {8: 0, 9: 1}.get(integer, int.from_bytes(record[end : end + _INTEGERS[integer]], "big", signed=True))
    try:
        key = record[length:middle].decode()
    except UnicodeDecodeError:
        return None
    return (key, value, crc) if key and zlib.crc32(value) == crc else None


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return SQLite's variable-length integer at ``at`` and the next field's offset; (0, length) at the end of the data."""
    value = 0
    for offset in range(at, min(at + 9, len(data))):
        if offset == at + 8:
            return value << 8 | data[offset], offset + 1
        value = value << 7 | data[offset] & 0x7F
        if data[offset] < 0x80:
            return value, offset + 1
    return 0, len(data)
