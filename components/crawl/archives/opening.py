"""The bytes of an archive, in order and once: from disk, standard input, S3 or an http(s) address.

Not in scope: what the bytes are.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from components.core.errors import HearsightError

S3_RESUMES = 5
"""How often a broken S3 transfer is taken up again where it broke, without a byte between."""
TIMEOUT = 60.0
"""Seconds without a byte from the network."""


class Stream(Protocol):
    """What reading an archive needs."""

    def read(self, size: int, /) -> bytes:
        """At most ``size`` bytes; none at the end."""


@contextmanager
def open_archive(path: str) -> Iterator[Stream]:
    """The bytes of ``path``: a file, ``-``, ``s3://bucket/key``, or an http(s) address.

    S3 requests are signed when the AWS environment holds credentials, and anonymous otherwise; the endpoint is
    ``AWS_ENDPOINT_URL`` when that is set.

    Raises:
        HearsightError: it is missing, or may not be read.
    """
    if path == "-":
        yield sys.stdin.buffer
    elif path.startswith("s3://"):
        yield _S3Stream(path)
    elif path.startswith(("http://", "https://")):
        with _http(path) as body:
            yield body
    else:
        try:
            with Path(path).open("rb", buffering=0) as handle:
                yield handle
        except OSError as error:
            if error.filename is None:  # not the opening: what was done meanwhile
                raise
            raise HearsightError(error.strerror or "cannot be read", where=path, mend="give the path of a file") from None


def _http(url: str) -> Any:
    import urllib.request

    request = urllib.request.Request(url, headers={"User-Agent": "hearsight pairs", "Accept": "text/html,*/*;q=0.1"})
    try:
        return urllib.request.urlopen(request, timeout=TIMEOUT)
    except (OSError, ValueError) as error:
        raise HearsightError(f"no answer ({error})", where=url, mend="look at the address in a browser") from None


class _S3Stream:
    """An S3 object from its beginning; a broken transfer goes on where it broke."""

    def __init__(self, path: str) -> None:
        import boto3
        from botocore import UNSIGNED
        from botocore.config import Config

        self._path, self._at, self._body = path, 0, None
        self._bucket, _, self._key = path.removeprefix("s3://").partition("/")
        session = boto3.session.Session()
        config = Config(connect_timeout=10, read_timeout=TIMEOUT, retries={"max_attempts": 5, "mode": "standard"})
        if session.get_credentials() is None:
            config = config.merge(Config(signature_version=UNSIGNED))
        region = session.region_name or "us-east-1"
        self._client = session.client("s3", config=config, region_name=region)
        self._etag = ""
        self._open()

    def _open(self) -> None:
        from botocore.exceptions import BotoCoreError, ClientError

        # If-Match: the bytes after a break belong to the same object as those before it.
        more = {"Range": f"bytes={self._at}-", "IfMatch": self._etag} if self._at else {}
        try:
            answer = self._client.get_object(Bucket=self._bucket, Key=self._key, **more)
        except (BotoCoreError, ClientError) as error:
            raise HearsightError(
                f"S3 gives nothing ({error})",
                where=self._path,
                mend="check the address, and the AWS credentials if it is not public",
            ) from None
        self._body, self._etag = answer["Body"], answer["ETag"]

    def read(self, size: int, /) -> bytes:
        from botocore.exceptions import BotoCoreError, HTTPClientError

        for _ in range(S3_RESUMES):
            try:
                assert self._body is not None
                data: bytes = self._body.read(size)
            except (BotoCoreError, HTTPClientError, OSError):
                self._open()
                continue
            self._at += len(data)
            return data
        raise HearsightError("the transfer breaks again and again", where=self._path, mend="try again later")
