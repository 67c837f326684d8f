"""Files that only their owner may read: keys, tokens, and databases of ratings."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from components.core.files import publish

MODE = 0o600


def write_private(path: Path, data: bytes) -> None:
    """Write a file atomically that nobody else can read, not even for a moment; errors as of :func:`publish`."""

    def write(temporary: Path) -> None:
        temporary.unlink(missing_ok=True)
        with os.fdopen(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, MODE), "wb") as file:
            file.write(data)

    publish(path, write)


def keep_private(path: Path) -> None:
    """Take the rights of others from a file, if there is one and it is this user's."""
    with suppress(FileNotFoundError, PermissionError):
        if path.stat().st_mode & 0o777 != MODE:
            path.chmod(MODE)
