"""``params.yaml:storage``: where the files of stage outputs are kept, on this disk alone or also in S3."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from components.core.errors import HearsightError
from components.core.params import Amount, Settings, parse_settings, read_params_file


class StorageSettings(Settings):
    """Settings that both kinds share. ``versioned`` is read by dvc.yaml: what DVC versions of an output."""

    @classmethod
    def of(cls, block: Mapping[str, Any]) -> type[Settings]:
        """Return the class of the block's kind."""
        return S3Storage if block.get("kind") == "s3" else LocalStorage


class LocalStorage(StorageSettings):
    """``kind: local``: outputs are folders on this disk, and DVC versions the whole folder."""

    kind: Literal["local"] = "local"
    """``local`` or ``s3``. Ours."""
    versioned: Literal[""] = ""
    """Empty: DVC versions the output's folder. Ours."""


class S3Storage(StorageSettings):
    """``kind: s3``: the files of outputs are objects in a bucket, and DVC versions the manifest alone.

    Credentials come from where every AWS client finds them: environment, profile or instance role.
    """

    kind: Literal["s3"] = "s3"
    """``local`` or ``s3``. Ours."""
    url: str
    """``s3://bucket/prefix``. Ours."""
    endpoint: str = ""
    """Address of a server other than AWS, e.g. ``http://host:9000``; empty takes AWS_ENDPOINT_URL or AWS. Ours."""
    patience: Amount = 300.0
    """Seconds to wait while the server does not answer. Ours."""
    versioned: Literal["/manifest.json"] = "/manifest.json"
    """``/manifest.json``: DVC versions the manifest. Ours."""

    def check(self, where: str) -> None:
        """Raise HearsightError unless the URL names a bucket and the endpoint is an address."""
        parts = urlsplit(self.url)
        if parts.scheme != "s3" or not parts.netloc or parts.query or parts.fragment or "@" in parts.netloc:
            raise HearsightError(f"'{self.url}' names no bucket", where=f"{where}.url", hint="give s3://bucket/prefix")
        if self.endpoint:
            address = urlsplit(self.endpoint)
            if address.scheme not in ("http", "https") or not address.hostname or "@" in address.netloc:
                raise HearsightError(
                    f"'{self.endpoint}' is not an address", where=f"{where}.endpoint", hint="give e.g. https://host:9000"
                )

    @property
    def bucket(self) -> str:
        """The bucket's name."""
        return urlsplit(self.url).netloc

    @property
    def prefix(self) -> str:
        """The prefix of all keys, without slashes at its ends."""
        return urlsplit(self.url).path.strip("/")


def parse_storage(path: Path, content: Mapping[str, Any]) -> LocalStorage | S3Storage:
    """Return the storage of ``params.yaml:storage``; raises HearsightError for invalid settings."""
    settings = parse_settings(StorageSettings, content.get("storage", {}), f"{path}: storage")
    assert isinstance(settings, LocalStorage | S3Storage)
    return settings


def read_storage(root: Path) -> LocalStorage | S3Storage:
    """Return the storage of the project in ``root``; raises HearsightError for invalid settings."""
    path = root / "params.yaml"
    try:
        state = path.stat()
    except FileNotFoundError:
        return LocalStorage()
    return _read(path, state.st_mtime_ns, state.st_ino)


@lru_cache(maxsize=8)
def _read(path: Path, changed: int, inode: int) -> LocalStorage | S3Storage:
    return parse_storage(path, read_params_file(path))
