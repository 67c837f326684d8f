"""Read the WARC files inside a WACZ: a ZIP file with WARC files under ``archive/``, compressed or not, or with other WACZ files.

A WACZ that was packed again may have a folder above ``archive/``, backslashes in its names, and hidden files. A file that cannot
be read is reported as a fault of that file. Indexes and page lists are not used. Format:
https://specs.webrecorder.net/wacz/1.1.1, https://specs.webrecorder.net/multi-wacz/.
"""

from __future__ import annotations

import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO, Any

from components.core.errors import HearsightError
from components.web.archives.members import FREE_MEMBER, RATIO

ZIP = (b"PK\x03\x04", b"PK\x05\x06")
"""First bytes of a ZIP file."""
FOLDER, PACKAGE, WACZ = "archive/", "datapackage.json", ".wacz"
DIRECTORY_LIMIT = 1 << 22
"""Maximum bytes of a ZIP directory: more than 30,000 files."""
_LOCAL_HEAD = 30
BROKEN = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, ValueError, OverflowError, NotImplementedError, RuntimeError,
    LookupError, OSError,
)  # fmt: skip
"""Exceptions of zipfile for broken input and for files with a password."""


class InnerFile:
    """One file inside the WACZ as a stream; broken bytes end it and set ``fault``."""

    def __init__(self, archive: zipfile.ZipFile, info: zipfile.ZipInfo, refused: str) -> None:
        self._archive, self._info = archive, info
        self.name = _plain(_name(info))
        self.fault = refused
        """Why the file could not be read, or not to its end; '' otherwise."""
        self.scale = min(1.0, info.compress_size / info.file_size) if info.file_size else 1.0
        """Stored bytes per byte read."""
        self._handle: IO[bytes] | None = None

    def read(self, size: int, /) -> bytes:
        if self.fault:
            return b""
        try:
            if self._handle is None:
                self._handle = self._archive.open(self._info)
            return self._handle.read(size)
        except BROKEN as error:
            self.fault = f"the file in the ZIP file is broken ({_plain(str(error)) or type(error).__name__})"
            return b""


class _Directory:
    """The ZIP file, with a size limit while zipfile reads its directory into memory."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self.is_open = file, False

    def read(self, size: int = -1) -> bytes:
        if self.is_open:
            return self._file.read(size)
        data = self._file.read(min(size, DIRECTORY_LIMIT + 1) if size >= 0 else DIRECTORY_LIMIT + 1)
        if len(data) > DIRECTORY_LIMIT:
            raise zipfile.BadZipFile(f"its directory has more than {DIRECTORY_LIMIT} bytes")
        return data

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def iter_inner_files(file: IO[bytes], path: str) -> Iterator[InnerFile]:
    """Yield the files under ``archive/``, and the WACZ files, in stored order.

    Raises:
        HearsightError: the file is not a ZIP file, or not a WACZ.
    """
    guarded = _Directory(file)
    try:
        archive = zipfile.ZipFile(guarded)
    except BROKEN as error:
        raise HearsightError(
            f"is a broken ZIP file ({_plain(str(error)) or type(error).__name__})", where=path, hint="download it again"
        ) from None
    guarded.is_open = True
    with archive:
        entries = sorted(archive.infolist(), key=lambda info: (info.header_offset, info.filename))
        refused = _find_refusals(entries, archive.start_dir)
        warc_indices = _find_warcs([_name(info) for info in entries])
        if not warc_indices:
            raise HearsightError(f"is a ZIP file without {FOLDER}", where=path, hint="give a WACZ, or the WARC files themselves")
        for index in warc_indices:
            yield InnerFile(archive, entries[index], refused[index])


def _name(info: zipfile.ZipInfo) -> str:
    return info.filename.replace("\\", "/")


def _find_warcs(names: list[str]) -> list[int]:
    """Return the indices of the files that may hold pages: below ``archive/`` beside a package's description, or a WACZ."""
    shown = [("" if re.search(r"(?:^|/)(?:\.[^/]+$|__MACOSX/)", name) else name) for name in names]
    packages = [name for name in shown if name.rpartition("/")[2] == PACKAGE]
    below = tuple(name.removesuffix(PACKAGE) + FOLDER for name in packages)

    def is_inside(name: str) -> bool:
        return name.startswith(below) if below else f"/{FOLDER}" in f"/{name}"

    return [
        index
        for index, name in enumerate(shown)
        if name and not name.endswith("/") and (is_inside(name) or name.lower().endswith(WACZ))
    ]


def _find_refusals(entries: list[zipfile.ZipInfo], end: int) -> list[str]:
    """Return for each entry, in stored order, why it is not read; '' when it is."""
    reasons = [_refuse_entry(info) for info in entries]
    furthest_end, furthest = 0, -1
    for index, info in enumerate(entries):
        if info.header_offset < furthest_end and furthest >= 0:
            reasons[index] = reasons[furthest] = "it overlaps another file in the ZIP file"
        entry_end = info.header_offset + _LOCAL_HEAD + len(info.orig_filename) + info.compress_size
        if entry_end > end:
            reasons[index] = "the ZIP file ends before it"
        if entry_end > furthest_end:
            furthest_end, furthest = entry_end, index
    return reasons


def _refuse_entry(info: zipfile.ZipInfo) -> str:
    if info.flag_bits & 1:
        return "it has a password"
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return f"the compression method {info.compress_type} is not read"
    if info.header_offset < 0:
        return "it begins before the ZIP file"
    if info.file_size > max(FREE_MEMBER, RATIO * info.compress_size):
        return f"{info.file_size} bytes out of {info.compress_size}: a bomb"
    return ""


def _plain(name: str) -> str:
    """Return a foreign name or message in printable characters, at most 300."""
    return "".join(char if char.isprintable() else "\ufffd" for char in name)[:300]
