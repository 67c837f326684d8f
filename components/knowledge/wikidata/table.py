"""A read-only table on disk: 64-bit keys → records, read through memory maps, built from a stream with constant memory.

Four files: sorted keys, the offset of each key's record, the records, and the start of each of 65,536 ranges of keys. A lookup
touches two or three pages, which processes share through the page cache. Keys are hashes, so they are evenly distributed and
sorted by partition. Names are not stored: among 10^8 names a collision of 64-bit hashes has probability 3 in 10^4, and a false
match of another name 5 in 10^12. Faster than SQLite. Little-endian machines only.
"""

from __future__ import annotations

import hashlib
import mmap
import re
import struct
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable
from pathlib import Path
from typing import IO

import numpy as np

from components.core.errors import HearsightError

PARTITIONS = 256
"""Files that keys are distributed to before sorting: of 10^8 names, 9 MB of memory each."""
BUCKETS = 65536
_ENTRY = struct.Struct("<QQI")
_MASK = 2**64 - 1
_MARKS = re.compile(r"\s*([^\w\s])\s*")


def name_key(name: str) -> int:
    """Return the key of a name, ignoring case, a leading "the", the form of apostrophes, and spaces beside punctuation."""
    plain = unicodedata.normalize("NFKC", name).casefold().replace("’", "'").strip()
    plain = _MARKS.sub(r"\1", plain.removeprefix("the "))
    return int.from_bytes(hashlib.blake2b(" ".join(plain.split()).encode("utf-8", "replace"), digest_size=8).digest(), "big")


def number_key(number: int) -> int:
    """Return the key of an item's number, evenly distributed."""
    return (number * 0x9E3779B97F4A7C15) & _MASK


class TableWriter:
    """Writes ``<name>.keys``, ``.offsets``, ``.records`` and ``.directory`` into a folder."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.name, self.keys, self._at = folder, name, 0, 0
        self._records = self._path("records").open("wb")
        self._parts: list[IO[bytes]] = [self._path(f"part{number}").open("wb", 32768) for number in range(PARTITIONS)]

    def add(self, keys: Iterable[int], record: bytes, rank: int = 0) -> None:
        """Add a record under several keys; among records of one key the highest rank comes first."""
        for key in keys:
            self._parts[key >> 56].write(_ENTRY.pack(key, self._at, rank))
            self.keys += 1
        self._records.write(len(record).to_bytes(2, "little") + record)
        self._at += 2 + len(record)

    def finish(self) -> None:
        """Sort the keys by partition and write the table."""
        self._records.close()
        starts = np.zeros(BUCKETS + 1, "<u8")
        with self._path("keys").open("wb") as keys, self._path("offsets").open("wb") as offsets:
            for number, part in enumerate(self._parts):
                part.close()
                path = self._path(f"part{number}")
                entries = np.fromfile(path, dtype=[("key", "<u8"), ("offset", "<u8"), ("rank", "<u4")])
                path.unlink()
                # Of equal ranks the record written first comes first, so equal dumps give equal bytes.
                entries = entries[np.lexsort((entries["offset"], -entries["rank"].astype("<i8"), entries["key"]))]
                entries["key"].tofile(keys)
                entries["offset"].tofile(offsets)
                starts[1:] += np.bincount((entries["key"] >> 48).astype("<i8"), minlength=BUCKETS).astype("<u8")
        np.cumsum(starts).astype("<u8").tofile(self._path("directory"))

    def close(self) -> None:
        """Close the files of a failed build."""
        for file in (self._records, *self._parts):
            file.close()

    def _path(self, what: str) -> Path:
        return self.folder / f"{self.name}.{what}"


class Table:
    """Reads a table of :class:`TableWriter`."""

    def __init__(self, folder: Path, name: str) -> None:
        try:
            self._keys, self._offsets, self._starts = (
                memoryview(_mapped(folder / f"{name}.{what}")).cast("Q") for what in ("keys", "offsets", "directory")
            )
            self._records = _mapped(folder / f"{name}.records")
        except (OSError, ValueError, TypeError) as error:
            raise HearsightError(
                f"the index cannot be read ({error})", where=folder / name, hint="make it again: hearsight knowledge index"
            ) from None
        if len(self._starts) != BUCKETS + 1 or not len(self._keys) == len(self._offsets) == self._starts[BUCKETS]:
            raise HearsightError("the index is damaged", where=folder / name, hint="make it again: hearsight knowledge index")

    def __len__(self) -> int:
        return len(self._keys)

    def get(self, key: int, most: int = 16) -> list[bytes]:
        """Return at most ``most`` records of a key, the highest rank first."""
        bucket = key >> 48
        end = self._starts[bucket + 1]
        position = bisect_left(self._keys, key, self._starts[bucket], end)
        records: list[bytes] = []
        while position < end and self._keys[position] == key and len(records) < most:
            offset = self._offsets[position]
            size = int.from_bytes(self._records[offset : offset + 2], "little")
            records.append(self._records[offset + 2 : offset + 2 + size])
            position += 1
        return records


def _mapped(path: Path) -> bytes | mmap.mmap:
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if path.stat().st_size else b""
