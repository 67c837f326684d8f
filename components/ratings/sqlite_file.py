"""The files of an SQLite database: readable by their user only, and still at their path when a transaction was committed.

SQLite writes on into a file that was replaced or removed, where nobody finds what it has written.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.engine import URL

from components.core.files import PRIVATE, keep_private
from components.ratings.faults import DatabaseError

LOG = "log"
"""Key of a connection: True where it writes ahead to a log, which some file systems do not allow."""


class SqliteFile:
    """The file of a database that is being opened; it is made if there is none.

    Args:
        path: of the database, or a link to it; its log is beside it.
    """

    def __init__(self, path: Path) -> None:
        file = Path(os.path.realpath(path))  # `Path.resolve` raises RuntimeError for a loop of links
        self.path, self.log = path, file.with_name(f"{file.name}-wal")
        try:
            os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_RDWR, PRIVATE))  # SQLite would make it readable for others
        except OSError:
            pass  # it is there, or SQLite says why not
        for private in (file, self.log, file.with_name(f"{file.name}-shm")):
            keep_private(private)
        self.opened = _identity(path)

    @classmethod
    def of(cls, url: URL) -> SqliteFile | None:
        """Return the file of a database's URL; None for one in memory, or with a URL of SQLite's own."""
        if url.get_backend_name() != "sqlite" or not url.database or url.database.startswith((":memory:", "file:")):
            return None
        return cls(Path(url.database).absolute())

    def require(self) -> None:
        """Raise DatabaseError where the path leads to another file than the one that was opened, or to none."""
        if _identity(self.path) != self.opened:
            what = "the file of the ratings' database was replaced or removed while it was open: nothing was saved"
            raise DatabaseError(what, where=self.path, hint="put it back, or start the application again")

    def require_committed(self, connection: Connection) -> None:
        """Raise DatabaseError where a transaction was committed to a file or a log that no other process finds."""
        self.require()
        if connection.info.get(LOG):
            log = _identity(self.log)
            if log is None or connection.info.setdefault("identity of the log", log) != log:
                what = "the log of the ratings' database was removed while it was open: the last answers may be lost"
                raise DatabaseError(what, where=self.log, hint="start the application again, and look at them")


def _identity(path: Path) -> tuple[Any, ...] | None:
    """Return what distinguishes a file from another one that its path leads to; None if there is none."""
    try:
        state = path.stat()
        return os.path.realpath(path), state.st_dev, state.st_ino
    except OSError:
        return None
