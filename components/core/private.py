"""Files that only their owner may read: keys, tokens, and databases of ratings."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile

from components.core.files import disk_error, publish

MODE = 0o600


def write_private(path: Path, data: bytes) -> None:
    """Write a file atomically that nobody else can read, not even for a moment; errors as of :func:`publish`."""

    def write(temporary: Path) -> None:
        temporary.unlink(missing_ok=True)
        with os.fdopen(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, MODE), "wb") as file:
            file.write(data)

    publish(path, write)


def read_private(path: Path, new: Callable[[], str]) -> str:
    """Return a file's text; the first call writes ``new()``, unless another process was faster.

    Raises:
        HearsightError: it cannot be written.
    """
    if not path.exists():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with NamedTemporaryFile("w", dir=path.parent) as file:  # readable by its owner only
                file.write(new())
                file.flush()
                os.fsync(file.fileno())
                with suppress(FileExistsError):
                    os.link(file.name, path)
        except OSError as error:
            raise disk_error(error, path) from error
    keep_private(path)
    return path.read_text(encoding="utf-8", errors="replace").strip()


def keep_private(path: Path) -> None:
    """Take the rights of others from a file, if there is one and it is this user's; who reads it names other faults."""
    with suppress(OSError):
        if path.stat().st_mode & 0o777 != MODE:
            path.chmod(MODE)
