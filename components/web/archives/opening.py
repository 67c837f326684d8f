"""The bytes of an archive, in order: from disk, standard input, S3 or an http(s) address; as a whole file where one is needed.

Not in scope: what the bytes are.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Protocol

from components.core.errors import HearsightError

PEEK_BYTES = 1 << 18
"""Bytes looked at to tell what an archive is."""
SPOOL_LIMIT = 1 << 33
"""Bytes of a WACZ that are copied to a temporary file: one from standard input or an http(s) address."""


class Stream(Protocol):
    """What reading an archive needs."""

    def read(self, size: int, /) -> bytes:
        """At most ``size`` bytes; none at the end."""


def read_fully(stream: Stream, size: int) -> bytes:
    """``size`` bytes, fewer only at the end: a pipe may give one at a time."""
    first = stream.read(size)
    if len(first) >= size or not first:
        return first
    held = bytearray(first)
    while len(held) < size and (more := stream.read(size - len(held))):
        held += more
    return bytes(held)


class PeekedStream:
    """A stream whose beginning was looked at already."""

    def __init__(self, stream: Stream) -> None:
        self.stream, self.head = stream, read_fully(stream, PEEK_BYTES)
        self._given = 0

    def read(self, size: int, /) -> bytes:
        if self._given >= len(self.head):
            return self.stream.read(size)
        given = self.head[self._given : self._given + size]
        self._given += len(given)
        return given


@contextmanager
def open_archive(path: str) -> Iterator[Stream]:
    """The bytes of ``path``: a file, ``-``, ``s3://bucket/key``, or an http(s) address.

    S3 requests are signed when the AWS environment holds credentials, and anonymous otherwise; the endpoint is
    ``AWS_ENDPOINT_URL`` when that is set. An http(s) address may take ``http_stream.SECONDS`` in all.

    Raises:
        HearsightError: it is missing, or may not be read.
    """
    if path == "-":
        yield sys.stdin.buffer
    elif path.startswith("s3://"):
        from components.web.archives.s3_stream import S3Stream

        yield S3Stream(path)
    elif path.startswith(("http://", "https://")):
        from components.web.archives.http_stream import HttpStream

        with HttpStream(path) as body:
            yield body
    else:
        try:
            with Path(path).open("rb", buffering=0) as handle:
                yield handle
        except (OSError, ValueError) as error:
            if not isinstance(error, OSError):
                raise HearsightError(str(error), where=ascii(path), hint="give the path of a file") from None
            if error.filename is None:  # not the opening: what was done meanwhile
                raise
            raise HearsightError(error.strerror or "cannot be read", where=path, hint="give the path of a file") from None


@contextmanager
def open_seekable(ahead: PeekedStream, path: str) -> Iterator[IO[bytes]]:
    """The same bytes as a file to seek in: a local file itself, ranges of an S3 object, or a temporary copy.

    Raises:
        HearsightError: there is no room for the copy, or it would take more than ``SPOOL_LIMIT`` bytes.
    """
    from components.web.archives.s3_stream import S3Stream, open_ranges

    stream = ahead.stream
    if isinstance(stream, S3Stream):
        yield open_ranges(stream)
        return
    if hasattr(stream, "seekable") and stream.seekable():
        yield stream  # type: ignore[misc]
        return
    with tempfile.TemporaryFile() as copy:
        size = 0
        try:
            while more := ahead.read(1 << 20):
                size += len(more)
                if size > SPOOL_LIMIT:
                    raise HearsightError(
                        f"is a WACZ of more than {SPOOL_LIMIT} bytes", where=path, hint="save it as a file and name that"
                    )
                copy.write(more)
        except OSError as error:
            what = f"cannot be copied to {tempfile.gettempdir()} ({error.strerror or error})"
            raise HearsightError(what, where=path, hint="save it as a file and name that, or set TMPDIR") from None
        yield copy
