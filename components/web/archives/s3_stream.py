"""Read an S3 object in order or in ranges; a broken transfer is resumed where it broke."""

from __future__ import annotations

import io
from typing import IO, Any

import boto3
from botocore import UNSIGNED
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError

from components.core.errors import HearsightError

RESUMES = 5
"""Maximum consecutive attempts to resume a broken transfer without receiving a byte."""
TIMEOUT = 60.0
"""Seconds to wait for a byte from S3."""
RANGE = 1 << 22
"""Minimum bytes of a ranged request, unless the object ends."""


class S3Stream:
    """An S3 object as a stream."""

    def __init__(self, path: str) -> None:
        self.path, self._position, self._body = path, 0, None
        self._bucket, _, self._key = path.removeprefix("s3://").partition("/")
        session = boto3.session.Session()
        config = Config(connect_timeout=10, read_timeout=TIMEOUT, retries={"max_attempts": 5, "mode": "standard"})
        if session.get_credentials() is None:
            config = config.merge(Config(signature_version=UNSIGNED))
        region = session.region_name or "us-east-1"
        self._client = session.client("s3", config=config, region_name=region)
        self._etag = ""
        self.size = int(self._open(f"bytes={self._position}-" if self._position else "")["ContentLength"])

    def _open(self, span: str) -> dict[str, Any]:
        # If-Match: the bytes after a break must belong to the same object.
        conditions = {"Range": span, "IfMatch": self._etag} if span else {}
        try:
            response: dict[str, Any] = self._client.get_object(Bucket=self._bucket, Key=self._key, **conditions)
        except (BotoCoreError, ClientError) as error:
            raise HearsightError(
                f"cannot be read from S3 ({error})",
                where=self.path,
                hint="check the address, and the AWS credentials if it is not public",
            ) from None
        self._body, self._etag = response["Body"], response["ETag"]
        return response

    def read(self, size: int, /) -> bytes:
        for _ in range(RESUMES):
            try:
                assert self._body is not None
                data: bytes = self._body.read(size)
            except (BotoCoreError, HTTPClientError, OSError):
                self._open(f"bytes={self._position}-" if self._position else "")
                continue
            self._position += len(data)
            return data
        raise self._broken()

    def read_range(self, start: int, size: int) -> bytes:
        """Return ``size`` bytes from ``start``, fewer at the object's end."""
        end = min(start + size, self.size)
        data = bytearray()
        for _ in range(RESUMES):
            self._position = start + len(data)
            if self._position >= end:
                break
            if self._body is not None:
                self._body.close()
            self._open(f"bytes={self._position}-{end - 1}")
            while self._position < end and (piece := self.read(end - self._position)):
                data += piece
        if start + len(data) < end:
            raise self._broken()
        return bytes(data)

    def open_ranges(self) -> IO[bytes]:
        """Return the object as a seekable file that requests ranges of at least ``RANGE`` bytes."""
        return io.BufferedReader(_Ranges(self), buffer_size=RANGE)

    def _broken(self) -> HearsightError:
        return HearsightError("the transfer broke off repeatedly", where=self.path, hint="try again later")


class _Ranges(io.RawIOBase):
    def __init__(self, stream: S3Stream) -> None:
        self._stream, self._position = stream, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        position = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._stream.size}[whence]
        if position < 0:
            raise ValueError("a position before the start of the file")
        self._position = position
        return position

    def tell(self) -> int:
        return self._position

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read_range(self._position, len(buffer)) if self._position < self._stream.size else b""
        buffer[: len(data)] = data
        self._position += len(data)
        return len(data)
