"""Open an archive's bytes as a stream (disk, standard input, S3, http) or, where required, as a seekable file."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Protocol

from components.core.errors import HearsightError
from components.web.archives.http_stream import HttpStream

PEEK_BYTES = 1 << 18
"""Bytes read ahead to detect the archive's type."""
SPOOL_LIMIT = 1 << 33
"""Maximum bytes of a WACZ copied to a temporary file (from standard input, S3 or an http address)."""


class Stream(Protocol):
    """The interface that archive readers need."""

    def read(self, size: int, /) -> bytes:
        """Return at most ``size`` bytes; b"" at the end."""


def read_fully(stream: Stream, size: int) -> bytes:
    """Return ``size`` bytes, fewer only at the end; a pipe may return one byte per read."""
    first = stream.read(size)
    if len(first) >= size or not first:
        return first
    data = bytearray(first)
    while len(data) < size and (more := stream.read(size - len(data))):
        data += more
    return bytes(data)


class PeekedStream:
    """A stream whose first bytes were read ahead into ``head``."""

    def __init__(self, stream: Stream) -> None:
        self.stream, self.head = stream, read_fully(stream, PEEK_BYTES)
        self._returned = 0

    def read(self, size: int, /) -> bytes:
        if self._returned >= len(self.head):
            return self.stream.read(size)
        piece = self.head[self._returned : self._returned + size]
        self._returned += len(piece)
        return piece


@contextmanager
def open_archive(path: str) -> Iterator[Stream]:
    """Open ``path``: a file, ``-``, ``s3://bucket/key``, or an http(s) address.

    S3 requests are signed when the AWS environment holds credentials, and anonymous otherwise; ``AWS_ENDPOINT_URL`` sets the
    endpoint. Reading an http(s) address may take ``http_stream.SECONDS`` in all.

    Raises:
        HearsightError: the archive is missing or may not be read.
    """
    if path == "-":
        yield sys.stdin.buffer
    elif path.startswith("s3://"):
        from components.web.archives.s3_stream import S3Stream  # loads boto3: 0.5 s

        yield S3Stream(path)
    elif path.startswith(("http://", "https://")):
        with HttpStream(path) as body:
            yield body
    else:
        try:
            with Path(path).open("rb", buffering=0) as handle:
                yield handle
        except (OSError, ValueError) as error:
            if not isinstance(error, OSError):
                raise HearsightError(str(error), where=ascii(path), hint="give the path of a file") from None
            if error.filename is None:  # raised while the archive was used, not by open()
                raise
            raise HearsightError(error.strerror or "cannot be read", where=path, hint="give the path of a file") from None


@contextmanager
def open_seekable(peeked: PeekedStream, path: str) -> Iterator[IO[bytes]]:
    """Yield the same bytes as a seekable file: a local file itself, or a temporary copy.

    Raises:
        HearsightError: there is no space for the copy, or it exceeds ``SPOOL_LIMIT``.
    """
    stream = peeked.stream
    if hasattr(stream, "seekable") and stream.seekable():
        yield stream  # type: ignore[misc]
        return
    with tempfile.TemporaryFile() as copy:
        size = 0
        try:
            while more := peeked.read(1 << 20):
                size += len(more)
                if size > SPOOL_LIMIT:
                    raise HearsightError(
                        f"is a WACZ of more than {SPOOL_LIMIT} bytes", where=path, hint="save it as a file and give its path"
                    )
                copy.write(more)
        except OSError as error:
            message = f"cannot be copied to {tempfile.gettempdir()} ({error.strerror or error})"
            raise HearsightError(
                message, where=path, hint="save it as a file and give its path, or set TMPDIR to a larger disk"
            ) from None
        yield copy
