"""A reader of the dynamic section of ELF files: what a program or a library needs to be loaded.

Source: System V ABI, chapter 5 (dynamic linking), and the Linux Standard Base for symbol versions. Little-endian 64-bit
files only, which is what x86-64 and AArch64 use.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

MAGIC = b"\x7fELF\x02\x01"
_LOAD, _DYNAMIC = 1, 2
_NEEDED, _STRINGS, _SONAME, _VERSIONS = 1, 5, 14, 0x6FFFFFFE


@dataclass(frozen=True)
class Needs:
    """What the loader needs for one file."""

    needed: tuple[str, ...]
    """File names of libraries (DT_NEEDED)."""
    soname: str
    """The name under which others need it; empty for most programs."""
    versions: tuple[str, ...]
    """Symbol versions wanted of those libraries, such as GLIBC_2.34."""


def read_needs(path: Path) -> Needs | None:
    """Read one file's needs; None where it is no 64-bit little-endian ELF file or has no dynamic section."""
    with path.open("rb") as file:
        head = file.read(64)
        if not head.startswith(MAGIC):
            return None
        return _read(file, head)


def _read(file: BinaryIO, head: bytes) -> Needs | None:
    (table,), (size, count) = struct.unpack_from("<Q", head, 32), struct.unpack_from("<HH", head, 54)
    segments = [struct.unpack_from("<IIQQQQQ", _at(file, table, size * count), size * number) for number in range(count)]
    dynamic = next((each for each in segments if each[0] == _DYNAMIC), None)
    if dynamic is None:
        return None
    loads = [(each[3], each[2], each[5]) for each in segments if each[0] == _LOAD]

    def place(address: int) -> int:
        """The offset in the file of an address in memory."""
        return next(offset + address - start for start, offset, length in loads if start <= address < start + length)

    entries = list(struct.iter_unpack("<QQ", _at(file, dynamic[2], dynamic[5] // 16 * 16)))
    result = dict(reversed(entries))
    if _STRINGS not in result:
        return None
    strings = place(result[_STRINGS])

    def text(at: int) -> str:
        file.seek(strings + at)
        return file.read(256).split(b"\0", 1)[0].decode()

    needed = tuple(text(value) for tag, value in entries if tag == _NEEDED)
    versions: list[str] = []
    at = place(result[_VERSIONS]) if _VERSIONS in result else 0
    while at:
        _, wanted, _, first, following = struct.unpack("<HHIII", _at(file, at, 16))
        name = at + first
        for _ in range(wanted):
            _, _, _, word, step = struct.unpack("<IHHII", _at(file, name, 16))
            versions.append(text(word))
            name += step
        at = at + following if following else 0
    return Needs(needed, text(result[_SONAME]) if _SONAME in result else "", tuple(sorted(set(versions))))


def _at(file: BinaryIO, offset: int, length: int) -> bytes:
    file.seek(offset)
    return file.read(length)
