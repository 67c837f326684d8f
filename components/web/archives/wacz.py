"""The WARC files inside a WACZ: a ZIP file with WARCs, as they are or compressed, under ``archive/``.

What cannot be read of one file is a named fault of that file. Format: https://specs.webrecorder.net/wacz/1.1.1. Not in scope:
its indexes and page lists; the records (``records``).
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO, Any

from components.core.errors import HearsightError
from components.web.archives.expansion import FREE_MEMBER, RATIO

FOLDER = "archive/"
DIRECTORY_LIMIT = 1 << 22
"""Bytes of a ZIP file's directory: more than 30,000 files."""
_LOCAL_HEAD = 30
BROKEN = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, ValueError, OverflowError, NotImplementedError, RuntimeError,
    LookupError, OSError,
)  # fmt: skip
"""What zipfile raises over broken input, and over files with a password."""


class InnerFile:
    """One file inside, as a stream: broken bytes end it, and ``fault`` then says so."""

    def __init__(self, archive: zipfile.ZipFile, info: zipfile.ZipInfo, refused: str) -> None:
        self._archive, self._info = archive, info
        self.name = _plain(info.filename)
        self.fault = refused
        """Why it could not be read, or not to its end; '' otherwise."""
        self.scale = min(1.0, info.compress_size / info.file_size) if info.file_size else 1.0
        """Its stored bytes of one read."""
        self._handle: IO[bytes] | None = None

    def read(self, size: int, /) -> bytes:
        """As :class:`components.web.archives.opening.Stream`."""
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
    """The ZIP file while its directory is read, which zipfile holds as a whole."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self.open = file, False

    def read(self, size: int = -1) -> bytes:
        if self.open:
            return self._file.read(size)
        data = self._file.read(min(size, DIRECTORY_LIMIT + 1) if size >= 0 else DIRECTORY_LIMIT + 1)
        if len(data) > DIRECTORY_LIMIT:
            raise zipfile.BadZipFile(f"its directory has more than {DIRECTORY_LIMIT} bytes")
        return data

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def iter_inner_files(file: IO[bytes], path: str) -> Iterator[InnerFile]:
    """The files below ``archive/``, in the order in which they are stored.

    Raises:
        HearsightError: it is no ZIP file, or not a WACZ.
    """
    guarded = _Directory(file)
    try:
        archive = zipfile.ZipFile(guarded)
    except BROKEN as error:
        raise HearsightError(
            f"is a broken ZIP file ({_plain(str(error)) or type(error).__name__})", where=path, hint="fetch it again"
        ) from None
    guarded.open = True
    with archive:
        entries = sorted(archive.infolist(), key=lambda info: (info.header_offset, info.filename))
        refused = _refused(entries, archive.start_dir)
        wanted = [at for at, info in enumerate(entries) if info.filename.startswith(FOLDER) and not info.is_dir()]
        if not wanted:
            raise HearsightError(f"is a ZIP file without {FOLDER}", where=path, hint="give a WACZ, or the WARC files themselves")
        for at in wanted:
            yield InnerFile(archive, entries[at], refused[at])


def _refused(entries: list[zipfile.ZipInfo], end: int) -> list[str]:
    """Why each entry, in the order of their places, is not read; '' where it is."""
    reasons = [_one_refused(info) for info in entries]
    reached, holder = 0, -1
    for at, info in enumerate(entries):
        if info.header_offset < reached and holder >= 0:
            reasons[at] = reasons[holder] = "it overlaps another file in the ZIP file"
        over = info.header_offset + _LOCAL_HEAD + len(info.orig_filename) + info.compress_size
        if over > end:
            reasons[at] = "the ZIP file ends before it"
        if over > reached:
            reached, holder = over, at
    return reasons


def _one_refused(info: zipfile.ZipInfo) -> str:
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
    """A name or message of whoever made the file, printable and not endless."""
    return "".join(char if char.isprintable() else "\ufffd" for char in name)[:300]
