"""Read two of Qt's file formats as far as the sample needs them: resource bundles (``.rcc``) and translations (``.qm``).

Sources: Qt 5's readers ``qresource.cpp`` (versions 1 to 3) and ``qtranslator.cpp``. All numbers are big-endian.
"""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

from components.core.errors import HearsightError

QM_MAGIC = bytes.fromhex("3cb86418caef9c95cd211cbf60a1bddd")
_COMPRESSED, _FOLDER, _ZSTANDARD = 1, 2, 4
_MESSAGES = 0x69
_END, _TRANSLATION, _SOURCE = 1, 3, 6
_BROKEN = (struct.error, zlib.error, UnicodeDecodeError, IndexError)


def resources(path: Path) -> dict[str, bytes]:
    """Return the files of a resource bundle: path from ``/`` → content.

    Raises:
        HearsightError: it is missing, or no bundle that can be read.
    """
    data = _read(path)
    try:
        magic, version, tree, contents, names = struct.unpack_from(">4s4I", data)
        if magic != b"qres" or version not in (1, 2, 3):
            raise HearsightError("is no Qt resource bundle of version 1 to 3", where=path, hint="run `make data`")
        size = 14 if version == 1 else 22
        found: dict[str, bytes] = {}
        waiting, seen = [(0, "")], set()
        while waiting:
            node, above = waiting.pop()
            if node in seen:  # a node that is its own parent
                raise IndexError(node)
            seen.add(node)
            offset = tree + node * size
            name, flags = struct.unpack_from(">IH", data, offset)
            here = f"{above}/{_name(data, names + name)}" if node else ""
            if flags & _FOLDER:
                count, first = struct.unpack_from(">II", data, offset + 6)
                if count > len(data):
                    raise IndexError(count)
                waiting += [(first + number, here) for number in range(count)]
            else:
                (place,) = struct.unpack_from(">I", data, offset + 10)
                found[here] = _content(data, contents + place, flags, path)
    except _BROKEN:
        raise HearsightError("is a broken Qt resource bundle", where=path, hint="remove data/packages, run `make data`") from None
    return dict(sorted(found.items()))


def _name(data: bytes, offset: int) -> str:
    (length,) = struct.unpack_from(">H", data, offset)
    return data[offset + 6 : offset + 6 + 2 * length].decode("utf-16-be")


def _content(data: bytes, offset: int, flags: int, path: Path) -> bytes:
    (length,) = struct.unpack_from(">I", data, offset)
    body = data[offset + 4 : offset + 4 + length]
    if len(body) < length:
        raise IndexError(length)
    if flags & _ZSTANDARD:
        raise HearsightError("is compressed with Zstandard", where=path, hint="use Debian 12's package, whose bundles are not")
    # qCompress puts the size of what it compressed before zlib's stream.
    return zlib.decompress(body[4:]) if flags & _COMPRESSED else body


def translations(path: Path) -> dict[str, str]:
    """Return the translations of a file: source text → translation; the first one where a text has several contexts.

    Raises:
        HearsightError: it is missing, or no file of translations that can be read.
    """
    data = _read(path)
    if not data.startswith(QM_MAGIC):
        raise HearsightError("is no Qt file of translations", where=path, hint="run `make data`")
    found: dict[str, str] = {}
    try:
        offset = len(QM_MAGIC)
        while offset < len(data):
            tag, length = struct.unpack_from(">BI", data, offset)
            offset += 5
            if tag == _MESSAGES:
                _messages(data[offset : offset + length], found)
            offset += length
    except _BROKEN:
        raise HearsightError(
            "is a broken Qt file of translations", where=path, hint="remove data/packages, run `make data`"
        ) from None
    return found


def _messages(data: bytes, found: dict[str, str]) -> None:
    """Add the source texts and translations of a messages section to ``found``."""
    offset, source, said = 0, "", ""
    while offset < len(data):
        tag = data[offset]
        offset += 1
        if tag == _END:
            if source and said:
                found.setdefault(source, said)
            source = said = ""
            continue
        (length,) = struct.unpack_from(">I", data, offset)
        offset += 4
        length = 0 if length == 0xFFFFFFFF else length  # an absent string
        part = data[offset : offset + length]
        offset += length
        if tag == _SOURCE:
            source = part.decode("utf-8")
        elif tag == _TRANSLATION and not said:
            said = part.decode("utf-16-be")


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        raise HearsightError("a file of the sample is missing", where=path, hint="run `make data`") from None
