"""Settings of the application: the project, who may connect, and where ratings are stored."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass, field
from hashlib import sha256
from ipaddress import ip_address
from pathlib import Path

from components.core.errors import HearsightError
from components.core.files import read_private, write_private

LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "::1")
SECRET = "HEARSIGHT_APP_SECRET"  # pragma: allowlist secret
"""Environment variable with the key that signs sessions and links; without it, a file of random bytes in ``.hearsight/app``."""
LEAST_SECRET = 32
"""Characters of a usable key."""
TOKEN = Path(".hearsight") / "app" / "token"
"""File with the token of the application that was started last."""


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
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    """Makes its holder the owner; another one for each start."""

    @property
    def cookie(self) -> str:
        """The name of the session's cookie: browsers share cookies between all ports of a host, so it is the project's."""
        return f"hearsight-{sha256(self.secret.encode()).hexdigest()[:8]}"

    @property
    def login(self) -> str:
        """The path that logs the owner in."""
        return f"/login?token={self.token}"

    @property
    def local(self) -> bool:
        """Whether only this machine can connect; links for raters then work here only."""
        return not self.https and all(_is_loopback(host) for host in (self.address, *self.hosts))


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def read_secret(root: Path) -> str:
    """Return the signing key, and write it to a file that only the owner can read if there is none.

    Raises:
        HearsightError: the key is too short to be safe.
    """
    path = root / ".hearsight" / "app" / "secret"
    where: str | Path = SECRET
    secret = os.environ.get(SECRET, "")
    if not secret:
        where, secret = path, read_private(path, lambda: secrets.token_urlsafe(48))
    if len(secret) < LEAST_SECRET:
        hint = f"use at least {LEAST_SECRET} random characters, or delete it: a new one is made"
        raise HearsightError("is too short to sign sessions", where=where, hint=hint)
    return secret


def write_token(settings: AppSettings) -> None:
    """Write the token to a file that only the owner can read, for programs and for a link that was lost."""
    write_private(settings.root / TOKEN, f"{settings.token}\n".encode())
