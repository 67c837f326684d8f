"""Read the rows of a damaged SQLite file of results, page by page, without SQLite.

Every row carries the CRC-32 of its value, so whatever looks like a row and has the right checksum is one, wherever it lies.
A damaged byte therefore loses at most the row it is in. Source: https://www.sqlite.org/fileformat2.html, sections 1.6
(b-tree pages), 2.1 (record format) and 4.1 (write-ahead log). Not in scope: tables of another form.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path

PAGE = 4096
"""Bytes in a page, which SQLite has by default; none of our files is made with another."""
LEAF, INTERIOR = 0x0A, 0x02
_LOG_HEADER, _FRAME_HEADER = 32, 24
_LARGEST_LOCAL = (PAGE - 12) * 64 // 255 - 23
_LEAST_LOCAL = (PAGE - 12) * 32 // 255 - 23
_SMALLEST_CELL = 8
_INTEGERS = {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8, 8: 0, 9: 0}
"""Serial type of an integer (and of NULL) to its size in bytes."""

Row = tuple[str, bytes, int]


def salvaged(path: Path) -> Iterator[Row]:
    """Yield (key, value, CRC-32 of the value) of every undamaged row of ``path`` and its write-ahead log; some may come twice.

    Raises:
        OSError: the file cannot be read.
    """
    whole = path.read_bytes()
    main = {at // PAGE + 1: whole[at : at + PAGE].ljust(PAGE, b"\0") for at in range(0, len(whole), PAGE)}
    logged = _logged(path.with_name(f"{path.name}-wal"))
    # The log's pages are newer; the file's own still hold rows when the log is damaged.
    for pages in ({**main, **logged}, main) if logged else (main,):
        yield from _rows(pages)


def _logged(path: Path) -> dict[int, bytes]:
    """The pages in a write-ahead log, the last of each number."""
    try:
        log = path.read_bytes()
    except FileNotFoundError:
        return {}
    step = _FRAME_HEADER + PAGE
    frames = [log[at : at + step] for at in range(_LOG_HEADER, len(log) - step + 1, step)]
    # Frames of an earlier log have other salts, which the header no longer names.
    current = [frame for frame in frames if frame[8:16] == log[16:24]] or frames
    return {int.from_bytes(frame[:4], "big"): frame[_FRAME_HEADER:] for frame in current}


def _rows(pages: dict[int, bytes]) -> Iterator[Row]:
    used: set[int] = set()
    """Pages that an undamaged row continues on, which hold no rows of their own."""
    unclear: list[bytes] = []
    for page in pages.values():
        cells, clean = _cells(page)
        found = [row for at in cells if (row := _row(page, at, pages, used)) is not None]
        yield from found
        if not clean or len(found) < len(cells):
            unclear.append(page)
    overflow = {id(pages[number]) for number in used if number in pages}
    for page in unclear:
        if id(page) not in overflow:
            yield from _anywhere(page, pages)


def _cells(page: bytes) -> tuple[list[int], bool]:
    """Where the page's header says that rows begin, and whether it is the header of a page of rows."""
    if page[0] not in (LEAF, INTERIOR):
        return [], False
    start, skip = (8, 0) if page[0] == LEAF else (12, 4)
    count = min(int.from_bytes(page[3:5], "big"), (PAGE - start) // 2)
    places = [int.from_bytes(page[at : at + 2], "big") + skip for at in range(start, start + 2 * count, 2)]
    return [place for place in places if place < PAGE - 1], True


def _anywhere(page: bytes, pages: dict[int, bytes]) -> Iterator[Row]:
    """Rows of a page whose header or cells are damaged: every place in it is tried."""
    for at in range(PAGE - _SMALLEST_CELL):
        if (row := _row(page, at, pages, set())) is not None:
            yield row


def _row(page: bytes, at: int, pages: dict[int, bytes], used: set[int]) -> Row | None:
    """The row that begins at ``at``, if one does and its value has its checksum; adds its other pages to ``used``."""
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
        parts, following, left = [record], int.from_bytes(page[at + local : at + local + 4], "big"), size - local
        while left > 0:
            if following not in pages or following in chain:
                return None
            chain.append(following)
            parts.append(pages[following][4 : 4 + min(left, PAGE - 4)])
            left -= PAGE - 4
            following = int.from_bytes(pages[following][:4], "big")
        record = b"".join(parts)
    row = _decoded(record)
    if row is not None:
        used.update(chain)
    return row


def _types(record: bytes) -> tuple[int, list[int]]:
    """The length of a record's header, and the serial types in it."""
    length, at = _varint(record, 0)
    kinds: list[int] = []
    while at < min(length, len(record)) and len(kinds) < 4:
        kind, at = _varint(record, at)
        kinds.append(kind)
    return length, kinds


def _is_plausible(record: bytes, size: int) -> bool:
    """Whether a record, or its beginning, is of a text, a blob and an integer of ``size`` bytes together."""
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
    """SQLite's integer of variable length at ``at``, and where the next field begins; 0 at the end of the data."""
    value = 0
    for place in range(at, min(at + 9, len(data))):
        if place == at + 8:
            return value << 8 | data[place], place + 1
        value = value << 7 | data[place] & 0x7F
        if data[place] < 0x80:
            return value, place + 1
    return 0, len(data)
