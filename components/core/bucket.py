"""A bucket of an S3 server: documents by key, written under conditions, listed and deleted.

While the server does not answer, each operation is repeated until the patience of the settings is over; then it fails with one
line.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from email.utils import parsedate_to_datetime
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from components.core.errors import HearsightError, ObjectMissing
from components.core.storage import S3Storage

T = TypeVar("T")
READ = 1 << 20
"""Bytes read at a time."""
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 5.0
"""Seconds between two attempts: the first pause, which doubles, and the longest."""
TIMEOUT = 30.0
"""Seconds to wait for a byte of an answer."""
CONNECTIONS = 16
DELETED = 1000
"""Most documents of one request to delete."""
_BUSY = {"429", "SlowDown", "RequestTimeout", "InternalError", "ServiceUnavailable", "Throttling", "ConditionalRequestConflict"}
_MISSING = {"404", "NoSuchKey", "NotFound"}
_EXISTS = {"412", "PreconditionFailed"}
_NO_CONDITIONS = {"501", "NotImplemented"}


class Stored(NamedTuple):
    """What is stored under one key below the prefix."""

    key: str
    size: int
    """Bytes."""
    written: float
    """Seconds since 1970 by the server's clock; see :meth:`Bucket.clock`."""


class Bucket:
    """The bucket of :class:`S3Storage` settings; keys are below its prefix."""

    def __init__(self, settings: S3Storage) -> None:
        self.settings = settings
        self._clients: dict[int, Any] = {}
        self._connecting, self._waiting = threading.Lock(), 0

    def __reduce__(self) -> tuple[Any, ...]:
        return Bucket, (self.settings,)

    @property
    def _client(self) -> Any:
        """The client of this process: a forked one must not use its parent's connections."""
        with self._connecting:
            if os.getpid() not in self._clients:
                self._clients = {os.getpid(): self._connect()}
        return self._clients[os.getpid()]

    def _connect(self) -> Any:
        import boto3  # here: 0.5 s, and projects on a local disk never need it
        from botocore.config import Config

        options: dict[str, Any] = {"connect_timeout": 5, "read_timeout": TIMEOUT, "max_pool_connections": CONNECTIONS}
        if self.settings.endpoint:
            # Other servers may know neither AWS's newer checksums nor buckets in host names; digests are verified anyway.
            options |= {"request_checksum_calculation": "when_required", "response_checksum_validation": "when_required"}
            options |= {"s3": {"addressing_style": "path"}}
        try:
            session = boto3.session.Session()
            return session.client(
                "s3",
                endpoint_url=self.settings.endpoint or None,
                region_name=session.region_name or "us-east-1",
                config=Config(retries={"total_max_attempts": 1, "mode": "standard"}, **options),
            )
        except (self._errors.BotoCoreError, ValueError) as error:
            raise self.error(f"cannot be opened ({_line(error)})") from None

    @cached_property
    def _errors(self) -> Any:
        from botocore import exceptions  # here: see _connect

        return exceptions

    def create(self, key: str, data: bytes) -> bool:
        """Write a document unless there is one; return whether it was written. Of two writers the first wins."""
        # Some servers ignore the condition of `write_new`, so it is also asked for first.
        return self.size(key) is None and self.write_new(key, data)

    def write_new(self, key: str, data: bytes) -> bool:
        """As :meth:`create`, for a caller that has just seen that there is none: one request less."""

        def put() -> bool:
            try:
                self._client.put_object(**self._named(key), Body=data, IfNoneMatch="*")
            except self._errors.ClientError as error:
                if _code(error) in _EXISTS:
                    return False
                if _code(error) not in _NO_CONDITIONS:
                    raise
                self._client.put_object(**self._named(key), Body=data)
            return True

        return self._repeat(put)

    def replace(self, key: str, data: bytes) -> None:
        """Write a document over any other."""
        self._repeat(lambda: self._client.put_object(**self._named(key), Body=data))

    def upload(self, key: str, path: Path) -> None:
        """Write a file of any size, in parts, over any other document."""
        self._repeat(lambda: self._client.upload_file(str(path), self.settings.bucket, self._named(key)["Key"]))

    def read(self, key: str) -> bytes | None:
        """Return a document's bytes; None when there is none."""
        return self._repeat(lambda: self._unless_missing(lambda: b"".join(self._pieces(key))))

    def read_json(self, key: str, is_valid: Callable[[dict[str, Any]], bool], hint: str) -> dict[str, Any] | None:
        """Return a document that is a JSON object; None when there is none.

        Raises:
            ObjectMissing: it is damaged, with ``hint`` as what to do.
        """
        if (data := self.read(key)) is None:
            return None
        try:
            content = json.loads(data)
        except (ValueError, RecursionError):
            content = None
        if not isinstance(content, dict) or not is_valid(content):
            raise self.damaged(key, hint)
        return content

    def size(self, key: str) -> int | None:
        """Return the size of the document under ``key``; None when there is none."""
        return self._repeat(
            lambda: self._unless_missing(lambda: int(self._client.head_object(**self._named(key))["ContentLength"]))
        )

    def download(self, key: str, path: Path) -> str | None:
        """Write the document to ``path`` and return the sha256 of its bytes; None when there is none."""

        def get() -> str:
            digest = hashlib.sha256()
            with path.open("wb") as out:
                for piece in self._pieces(key):
                    digest.update(piece)
                    out.write(piece)
            return digest.hexdigest()

        return self._repeat(lambda: self._unless_missing(get))

    def list(self, folder: str) -> Iterator[Stored]:
        """Yield what is stored below ``folder``."""
        prefix, token = self._named(folder)["Key"].rstrip("/") + "/", ""
        cut = len(self.settings.prefix) + 1 if self.settings.prefix else 0
        while True:
            page = self._repeat(lambda: self._list_page(prefix, token))  # noqa: B023 - called at once
            for entry in page.get("Contents", []):
                yield Stored(entry["Key"][cut:], entry["Size"], entry["LastModified"].timestamp())
            token = page.get("NextContinuationToken", "")
            if not token:
                return

    def clock(self) -> float:
        """Return the server's time in seconds since 1970, rounded up: this machine's may be wrong.

        Raises:
            HearsightError: the server does not state it.
        """
        answer = self._repeat(lambda: self._list_page(self._named("")["Key"], "", MaxKeys=1))
        try:
            return parsedate_to_datetime(answer["ResponseMetadata"]["HTTPHeaders"]["date"]).timestamp() + 1
        except (KeyError, TypeError, ValueError):
            hint = "no age can be told without it: let the server, or the proxy before it, send the header Date"
            raise self.error("does not state its time", hint) from None

    def delete(self, keys: Sequence[str]) -> None:
        """Delete documents; missing ones are ignored."""
        for start in range(0, len(keys), DELETED):
            named = [{"Key": self._named(key)["Key"]} for key in keys[start : start + DELETED]]
            answer = self._repeat(
                lambda: self._client.delete_objects(Bucket=self.settings.bucket, Delete={"Objects": named, "Quiet": True})  # noqa: B023
            )
            if errors := answer.get("Errors"):
                raise self.error(f"refuses to delete {errors[0].get('Key')} ({errors[0].get('Code')})")

    def keeps_versions(self) -> bool:
        """Return whether the bucket keeps what is deleted as older versions; False where the server does not say."""
        try:
            return self._client.get_bucket_versioning(Bucket=self.settings.bucket).get("Status") in ("Enabled", "Suspended")
        except (self._errors.ClientError, self._errors.BotoCoreError):
            return False

    def require_access(self) -> None:
        """Raise HearsightError unless the bucket can be listed."""
        self._repeat(lambda: self._list_page(self._named("")["Key"], "", MaxKeys=1))

    def _named(self, key: str) -> dict[str, str]:
        prefix = self.settings.prefix
        return {"Bucket": self.settings.bucket, "Key": f"{prefix}/{key}" if prefix else key}

    def _pieces(self, key: str) -> Iterator[bytes]:
        body = self._client.get_object(**self._named(key))["Body"]
        while True:
            try:
                piece = bytes(body.read(READ))
            except OSError as error:  # of the connection; those of the disk are not to be repeated
                raise self._errors.HTTPClientError(error=error) from error
            if not piece:
                return
            yield piece

    def _list_page(self, prefix: str, token: str, **limits: int) -> dict[str, Any]:
        more = {"ContinuationToken": token} if token else {}
        page: dict[str, Any] = self._client.list_objects_v2(Bucket=self.settings.bucket, Prefix=prefix, **more, **limits)
        return page

    def _unless_missing(self, work: Callable[[], T]) -> T | None:
        try:
            return work()
        except self._errors.ClientError as error:
            if _code(error) in _MISSING:
                return None
            raise

    def _repeat(self, work: Callable[[], T]) -> T:
        """Return ``work()``, repeated while the server does not answer; raises HearsightError when it stays away or refuses."""
        from boto3.exceptions import S3UploadFailedError  # here: see _connect

        errors, pause, deadline = self._errors, FIRST_PAUSE, time.monotonic() + self.settings.patience
        with ExitStack() as waits:
            while True:
                try:
                    return work()
                except S3UploadFailedError as error:
                    cause: BaseException = error.__context__ or error
                except (errors.BotoCoreError, errors.ClientError) as error:
                    cause = error
                if isinstance(cause, errors.NoCredentialsError | errors.PartialCredentialsError):
                    raise self.error(_line(cause), "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile") from None
                if isinstance(cause, errors.ClientError) and not _is_busy(cause):
                    raise self.error(
                        f"refuses ({_line(cause)})", "check the bucket's name, its policy and the credentials"
                    ) from None
                if time.monotonic() + pause > deadline:
                    what = f"has not answered for {self.settings.patience:g} s ({_line(cause)})"
                    hint = "start the server or check the network, and run the same command again; finished work is kept"
                    raise self.error(what, hint) from None
                if pause == FIRST_PAUSE:
                    waits.enter_context(self._wait(_line(cause)))
                time.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE)

    @contextmanager
    def _wait(self, why: str) -> Iterator[None]:
        """Count a thread that waits; the first one of this process says so."""
        with self._connecting:
            self._waiting += 1
            if self._waiting == 1:
                print(f"hearsight: warning: waiting for {self.settings.url} ({why})", file=sys.stderr)
        try:
            yield
        finally:
            with self._connecting:
                self._waiting -= 1

    def damaged(self, key: str, hint: str) -> ObjectMissing:
        """Return the error for a document or object that is not what was written."""
        return ObjectMissing("is damaged in the bucket", where=f"{self.settings.url}/{key}", hint=hint)

    def error(self, what: str, hint: str = "check params.yaml: storage") -> HearsightError:
        """Return the error for a failure of the bucket."""
        return HearsightError(what, where=self.settings.url, hint=hint)


def _code(error: Any) -> str:
    return str(error.response.get("Error", {}).get("Code", ""))


def _is_busy(error: Any) -> bool:
    status = int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
    return (status >= 500 and _code(error) not in _NO_CONDITIONS) or _code(error) in _BUSY


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
