"""Settings of the application: the project, who may connect, and where ratings are stored."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from tempfile import NamedTemporaryFile

from components.core.errors import HearsightError
from components.core.files import disk_error

PORT = 8010
LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "::1")
SECRET = "HEARSIGHT_APP_SECRET"  # pragma: allowlist secret
"""Environment variable with the key that signs sessions and links; without it, a file of random bytes in ``.hearsight/app``."""
LEAST_SECRET = 32
"""Characters of a usable key."""


@dataclass(frozen=True)
class AppSettings:
    """Settings of one running application."""

    root: Path
    """The project."""
    secret: str
    """Signs sessions and links. Never printed or stored elsewhere."""
    database: str
    """SQLAlchemy URL of the ratings' database."""
    hosts: tuple[str, ...] = LOOPBACK_HOSTS
    """Accepted values of the Host header, without port."""
    address: str = "127.0.0.1"
    """Where it listens."""
    https: bool = False
    """Whether browsers reach the application by HTTPS, through a proxy; cookies are then sent by HTTPS only."""
    links: dict[str, str] = field(default_factory=dict)
    """Name → address of other servers that the start page links: mlflow, prefect."""

    @property
    def local(self) -> bool:
        """Whether only this machine can connect, so that everybody who does is the owner.

        The Host header alone shows nothing: a stranger can send ``localhost``, and a proxy may rewrite it.
        """
        return not self.https and all(_is_loopback(host) for host in (self.address, *self.hosts))


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _write_secret(path: Path) -> None:
    """Write a new key that nobody else could read for a moment, unless another process was faster."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with NamedTemporaryFile(dir=path.parent) as file:  # readable by its owner only
            file.write(secrets.token_urlsafe(48).encode())
            file.flush()
            os.fsync(file.fileno())
            with suppress(FileExistsError):
                os.link(file.name, path)
    except OSError as error:
        raise disk_error(error, path) from error


def read_secret(root: Path) -> str:
    """Return the signing key, and write it to a file that only the owner can read if there is none.

    Raises:
        HearsightError: the key is too short to be safe.
    """
    path = root / ".hearsight" / "app" / "secret"
    where: str | Path = SECRET
    secret = os.environ.get(SECRET, "")
    if not secret:
        where = path
        if not path.exists():
            _write_secret(path)
        secret = path.read_text(encoding="utf-8").strip()
    if len(secret) < LEAST_SECRET:
        hint = f"use at least {LEAST_SECRET} random characters, or delete it: a new one is made"
        raise HearsightError("is too short to sign sessions", where=where, hint=hint)
    return secret
