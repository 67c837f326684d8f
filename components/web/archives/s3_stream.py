"""An S3 object, in order or in ranges; a broken transfer goes on where it broke."""

from __future__ import annotations

import io
from typing import IO, Any

from components.core.errors import HearsightError

RESUMES = 5
"""How often a broken transfer is taken up again where it broke, without a byte between."""
TIMEOUT = 60.0
"""Seconds without a byte from S3."""
RANGE = 1 << 22
"""Bytes of one ranged request at least, unless the object ends."""


class S3Stream:
    """An object from its beginning, or from another byte."""

    def __init__(self, path: str) -> None:
        import boto3
        from botocore import UNSIGNED
        from botocore.config import Config

        self.path, self._at, self._body = path, 0, None
        self._bucket, _, self._key = path.removeprefix("s3://").partition("/")
        session = boto3.session.Session()
        config = Config(connect_timeout=10, read_timeout=TIMEOUT, retries={"max_attempts": 5, "mode": "standard"})
        if session.get_credentials() is None:
            config = config.merge(Config(signature_version=UNSIGNED))
        region = session.region_name or "us-east-1"
        self._client = session.client("s3", config=config, region_name=region)
        self._etag = ""
        self.size = int(self._open(f"bytes={self._at}-" if self._at else "")["ContentLength"])

    def _open(self, span: str) -> dict[str, Any]:
        from botocore.exceptions import BotoCoreError, ClientError

        # If-Match: the bytes after a break belong to the same object as those before it.
        more = {"Range": span, "IfMatch": self._etag} if span else {}
        try:
            answer: dict[str, Any] = self._client.get_object(Bucket=self._bucket, Key=self._key, **more)
        except (BotoCoreError, ClientError) as error:
            raise HearsightError(
                f"S3 gives nothing ({error})",
                where=self.path,
                hint="check the address, and the AWS credentials if it is not public",
            ) from None
        self._body, self._etag = answer["Body"], answer["ETag"]
        return answer

    def read(self, size: int, /) -> bytes:
        from botocore.exceptions import BotoCoreError, HTTPClientError

        for _ in range(RESUMES):
            try:
                assert self._body is not None
                data: bytes = self._body.read(size)
            except (BotoCoreError, HTTPClientError, OSError):
                self._open(f"bytes={self._at}-" if self._at else "")
                continue
            self._at += len(data)
            return data
        raise HearsightError("the transfer breaks again and again", where=self.path, hint="try again later")

    def span(self, start: int, size: int) -> bytes:
        """The ``size`` bytes from ``start`` on, fewer at the object's end."""
        end = min(start + size, self.size)
        found = bytearray()
        for _ in range(RESUMES):
            self._at = start + len(found)
            if self._at >= end:
                break
            if self._body is not None:
                self._body.close()
            self._open(f"bytes={self._at}-{end - 1}")
            while self._at < end and (more := self.read(end - self._at)):
                found += more
        if start + len(found) < end:
            raise HearsightError("the transfer breaks again and again", where=self.path, hint="try again later")
        return bytes(found)


class _Ranges(io.RawIOBase):
    def __init__(self, stream: S3Stream) -> None:
        self._stream, self._at = stream, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._stream.size}[whence]
        if at < 0:
            raise ValueError("a position before the file's beginning")
        self._at = at
        return at

    def tell(self) -> int:
        return self._at

    def readinto(self, into: Any) -> int:
        data = self._stream.span(self._at, len(into)) if self._at < self._stream.size else b""
        into[: len(data)] = data
        self._at += len(data)
        return len(data)


def open_ranges(stream: S3Stream) -> IO[bytes]:
    """The object as a file: what is read of it is asked for in ranges, whole ``RANGE`` bytes at a time."""
    return io.BufferedReader(_Ranges(stream), buffer_size=RANGE)
