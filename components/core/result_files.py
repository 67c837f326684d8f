"""The files of the result cache: one SQLite database for each annotator.

A write-ahead log works on one machine only, so a cluster's workers open the files through a server (an :data:`Opener`).
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Any, Protocol

from components.core.errors import HearsightError
from components.core.files import disk_error

PATIENCE = 120
"""Seconds a worker waits for another worker's transaction."""
MIN_FREE = 65_536
"""Free bytes below which an I/O error of SQLite means a full disk."""
REPAIR = "run `hearsight cache repair`, which removes damaged results and keeps the rest"
"""Hint of errors about damaged results."""


class CacheBackend(Protocol):
    """The open cache file of one annotator, with encoded results."""

    def read(self, keys: Sequence[str]) -> Iterable[tuple[str, bytes, int]]:
        """Return key, bytes and stored CRC-32 of the cached results among ``keys``."""

    def has(self, keys: Sequence[str]) -> Iterable[str]:
        """Return those of ``keys`` that have a result."""

    def write(self, rows: Sequence[tuple[str, bytes, int]], *, durable: bool = False) -> None:
        """Store (key, bytes, crc32) in one transaction; a ``durable`` one survives a loss of power."""


@contextmanager
def explain_errors(path: Path) -> Iterator[None]:
    """Turn errors of the file at ``path`` into HearsightError."""
    try:
        yield
    except OSError as error:
        raise disk_error(error, path) from error
    except sqlite3.Error as error:
        # SQLite reports an I/O error where the disk has no room for the log's index (32 KiB).
        if "full" in str(error) or ("I/O" in str(error) and shutil.disk_usage(path.parent).free < MIN_FREE):
            raise disk_error(OSError(errno.ENOSPC, str(error)), path) from error
        hint = "another process holds it: run the command again when that has ended" if "locked" in str(error) else REPAIR
        raise HearsightError(f"the annotation cache failed ({error})", where=path, hint=hint) from error


@contextmanager
def sqlite_backend(path: Path) -> Iterator[CacheBackend]:
    """Open the SQLite file at ``path``; creates it when it is missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(_open(path)) as connection:
        yield _SqliteBackend(connection)


Opener = Callable[[Path], AbstractContextManager[CacheBackend]]
"""Opens the cache file at a path: :func:`sqlite_backend`, or through a server."""


class _SqliteBackend:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def read(self, keys: Sequence[str]) -> Iterator[tuple[str, bytes, int]]:
        return self._select("key, value, crc", keys)

    def has(self, keys: Sequence[str]) -> Iterator[str]:
        return (key for (key,) in self._select("key", keys))

    def _select(self, columns: str, keys: Sequence[str]) -> Iterator[Any]:
        for start in range(0, len(keys), 500):
            chunk = list(keys[start : start + 500])
            marks = ",".join("?" * len(chunk))
            yield from self.connection.execute(f"SELECT {columns} FROM results WHERE key IN ({marks})", chunk)

    def write(self, rows: Sequence[tuple[str, bytes, int]], *, durable: bool = False) -> None:
        # A killed process loses nothing either way. Without a sync at each write, a loss of power loses the last results; a sync
        # took longer than synthesising speech.
        self.connection.execute(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}")
        with self.connection:
            self.connection.execute("BEGIN IMMEDIATE")
            self.connection.executemany("INSERT OR REPLACE INTO results VALUES (?, ?, ?)", rows)


def _open(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=PATIENCE)
    # Workers open a new file at the same time, and SQLite's timeout does not cover the switch to the write-ahead log.
    with path.with_suffix(".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute(
            "CREATE TABLE IF NOT EXISTS results (key TEXT PRIMARY KEY, value BLOB NOT NULL, crc INTEGER NOT NULL) WITHOUT ROWID"
        )
    return connection


class KeyLocks:
    """Locks on keys between processes in one file, so that no two pay for the same result; made by :func:`open_key_locks`.

    A lock covers one byte of the file, at an offset from the key's digest; the kernel releases it when the process dies. Two keys
    with the same byte wait for each other, which is harmless.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def acquire(self, key: str, *, wait: bool = False) -> bool:
        """Lock the key; return False when another process holds it. With ``wait``, block until it is free."""
        try:
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB), 1, _byte(key))
        except (BlockingIOError, PermissionError):
            return False
        return True

    def release(self, key: str) -> None:
        """Unlock the key."""
        fcntl.lockf(self._descriptor, fcntl.LOCK_UN, 1, _byte(key))


@contextmanager
def open_key_locks(path: Path) -> Iterator[KeyLocks]:
    """Open the lock file at ``path``; all locks are released at the end.

    A process must not open the same file twice at a time: closing one would release the locks of both.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        yield KeyLocks(descriptor)
    finally:
        os.close(descriptor)


def _byte(key: str) -> int:
    """Return the offset of the key's byte."""
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:7], "big")
