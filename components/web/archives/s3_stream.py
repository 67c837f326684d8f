"""Read an S3 object in order; a broken transfer is resumed where it broke."""

from __future__ import annotations

import boto3
from botocore import UNSIGNED
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError

from components.core.errors import HearsightError

RESUMES = 5
"""Maximum consecutive attempts to resume a broken transfer without receiving a byte."""
TIMEOUT = 60.0
"""Seconds to wait for a byte from S3."""


class S3Stream:
    """An S3 object as a stream."""

    def __init__(self, path: str) -> None:
        self.path, self._position = path, 0
        self._bucket, _, self._key = path.removeprefix("s3://").partition("/")
        session = boto3.session.Session()
        config = Config(connect_timeout=10, read_timeout=TIMEOUT, retries={"max_attempts": 5, "mode": "standard"})
        if session.get_credentials() is None:
            config = config.merge(Config(signature_version=UNSIGNED))
        region = session.region_name or "us-east-1"
        self._client = session.client("s3", config=config, region_name=region)
        self._etag = ""
        self._open("")

    def _open(self, span: str) -> None:
        # If-Match: the bytes after a break must belong to the same object.
        conditions = {"Range": span, "IfMatch": self._etag} if span else {}
        try:
            response = self._client.get_object(Bucket=self._bucket, Key=self._key, **conditions)
        except (BotoCoreError, ClientError) as error:
            raise HearsightError(
                f"cannot be read from S3 ({error})",
                where=self.path,
                hint="check the address, and the AWS credentials if it is not public",
            ) from None
        self._body, self._etag = response["Body"], response["ETag"]

    def read(self, size: int, /) -> bytes:
        for _ in range(RESUMES):
            try:
                data: bytes = self._body.read(size)
            except (BotoCoreError, HTTPClientError, OSError):
                self._open(f"bytes={self._position}-" if self._position else "")
                continue
            self._position += len(data)
            return data
        raise HearsightError("the transfer broke off repeatedly", where=self.path, hint="try again later")
