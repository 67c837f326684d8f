"""Expensive results, cached by the content they describe, the model, and the annotator's version.

A parse, a label list, an image feature or a spoken caption depends on nothing but its payload and the model, so it
outlives every change of thresholds, shards or splits. One SQLite file an annotator (write-ahead log: a killed
writer loses its open transaction and nothing else; several workers may write).
SQLite's write-ahead log holds between processes of one machine only, so on a cluster the workers ask one process
that has the files open (:func:`use_backend`). Not in scope: what is computed (``components/providers``).
"""

from __future__ import annotations

import fcntl
import io
import json
import sqlite3
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from components.core.errors import HearsightError
from components.core.files import disk_error
from components.core.key_locks import open_key_locks

PATIENCE = 120
"""Seconds a worker waits for another's transaction."""
BATCH = 64
"""Results held before they are committed: what a kill can cost. An annotator with an attribute ``held`` states its own."""

REPAIR = "run `hearsight cache repair`, which finds what is damaged and keeps the rest"
"""How to fix a damaged file of results."""


@runtime_checkable
class Annotator(Protocol):
    """Computes one expensive result from one payload, the same whatever it computed before."""

    name: str
    """What it makes, e.g. ``parse.en``."""
    version: int
    """Raised by hand whenever the code changes what it computes; a test holds it to that."""
    model: str
    """The model's name and version."""
    codec: str
    """``json``, ``array`` (numpy) or ``bytes``."""

    def compute(self, payload: Any) -> Any:
        """The result for one payload. Loads its model at the first call."""


@runtime_checkable
class BatchAnnotator(Annotator, Protocol):
    """An annotator that is quicker with several payloads at a time, and computes the same of each as alone."""

    def compute_many(self, payloads: Sequence[Any]) -> Sequence[Any]:
        """The result for each payload, in order."""


@runtime_checkable
class PaidAnnotator(Annotator, Protocol):
    """An annotator that asks a service over the network, several payloads at a time, and pays for each."""

    def ask_many(self, payloads: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
        """(key, result) for each (key, payload), in any order; what it yielded before it raises is owner."""


class ResultFile(Protocol):
    """What names a file of results: an :class:`Annotator`, or anything else whose results are owner by key."""

    @property
    def name(self) -> str: ...
    @property
    def version(self) -> int: ...
    @property
    def model(self) -> str: ...
    @property
    def codec(self) -> str: ...


class CacheBackend(Protocol):
    """One annotator's encoded results, opened."""

    def read(self, keys: Sequence[str]) -> Iterable[tuple[str, bytes, int]]:
        """What there is of ``keys``: key, bytes and their stored CRC-32."""

    def has(self, keys: Sequence[str]) -> Iterable[str]:
        """Those of ``keys`` that there is something of."""

    def write(self, rows: Sequence[tuple[str, bytes, int]], *, durable: bool = False) -> None:
        """Store (key, bytes, crc32) in one transaction; ``durable``: so that the machine may lose power after it."""


class ResultCache:
    """The caches of every annotator under one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.computed: dict[str, int] = {}
        """How many results each annotator really computed, by name: nothing in a warm run."""

    def annotate(self, annotator: Annotator, payloads: Mapping[str, Any | Callable[[], Any]]) -> dict[str, Any]:
        """The result for each payload, computed only where the store has none.

        Args:
            annotator: what computes.
            payloads: content digest → payload, or a function giving it (called only when it must be computed).

        Raises:
            HearsightError: the store cannot be read or written (disk full, not a database).
        """
        encode, decode = CODECS[annotator.codec]
        path = self._path(annotator)
        # What was paid for is stored at once, and to last; a kill costs no more than what is on its way.
        paid = isinstance(annotator, PaidAnnotator)
        size = 1 if paid else getattr(annotator, "held", BATCH)
        with _clear_errors(path), _open_backend(path) as backend:
            # A damaged result that costs nothing but time is computed again, and replaced; one that was paid for is not.
            found = {key: decode(blob) for key, blob in _read_verified(backend, list(payloads), path, skip=not paid)}
            missing = {key: payload for key, payload in payloads.items() if key not in found}
            if isinstance(annotator, PaidAnnotator):
                results = _request_results(
                    annotator, missing, lambda key: [decode(blob) for _, blob in _read_verified(backend, [key], path)], path
                )
            else:
                results = _compute_results(annotator, missing)
            rows: list[tuple[str, bytes, int]] = []
            try:
                for key, result in results:
                    blob = encode(result)
                    rows.append((key, blob, zlib.crc32(blob)))
                    # Decoded from what is stored, so a warm run sees exactly what the cold one saw.
                    found[key] = decode(blob)
                    if len(rows) >= size:
                        self._keep(backend, annotator, rows, durable=paid)
            finally:
                self._keep(backend, annotator, rows, durable=paid)
        return {key: found[key] for key in payloads}

    def read_existing(self, owner: ResultFile, keys: Sequence[str]) -> dict[str, Any]:
        """As :meth:`recall`, but makes no file where there is none yet."""
        return self.read(owner, keys) if self._path(owner).exists() else {}

    def read(self, owner: ResultFile, keys: Sequence[str]) -> dict[str, Any]:
        """The results that there are for ``keys``; nothing is computed. Errors as for :meth:`annotate`."""
        decode, path = CODECS[owner.codec][1], self._path(owner)
        with _clear_errors(path), _open_backend(path) as backend:
            return {key: decode(blob) for key, blob in _read_verified(backend, list(dict.fromkeys(keys)), path)}

    def find_missing(self, owner: ResultFile, keys: Sequence[str]) -> list[str]:
        """Those of ``keys`` that there is no result for, in order; no result is read. Errors as for :meth:`annotate`."""
        path, keys = self._path(owner), list(dict.fromkeys(keys))
        if not path.exists():
            return keys
        with _clear_errors(path), _open_backend(path) as backend:
            there = set(backend.has(keys))
        return [key for key in keys if key not in there]

    def write(self, owner: ResultFile, results: Mapping[str, Any]) -> None:
        """Store results that were come by elsewhere (a service's answers) in one transaction, to last."""
        encode, path = CODECS[owner.codec][0], self._path(owner)
        blobs = {key: encode(value) for key, value in results.items()}
        with _clear_errors(path), _open_backend(path) as backend:
            backend.write([(key, blob, zlib.crc32(blob)) for key, blob in blobs.items()], durable=True)

    def _path(self, owner: ResultFile) -> Path:
        return self.folder / f"{owner.name}-v{owner.version}-{_slug(owner.model)}.sqlite"

    def _keep(self, backend: CacheBackend, annotator: Annotator, rows: list[tuple[str, bytes, int]], *, durable: bool) -> None:
        full = rows[:]
        rows.clear()
        if full:
            backend.write(full, durable=durable)
            self.computed[annotator.name] = self.computed.get(annotator.name, 0) + len(full)


def _read_verified(backend: CacheBackend, keys: Sequence[str], path: Path, *, skip: bool = False) -> Iterator[tuple[str, bytes]]:
    """The results whose bytes match their checksum.

    Raises:
        HearsightError: one does not, unless ``skip`` leaves such out.
    """
    for key, blob, crc in backend.read(keys):
        if isinstance(blob, bytes) and zlib.crc32(blob) == crc:
            yield key, blob
        elif skip:
            print(f"hearsight: warning: {path}: the cached result {key} is damaged and computed again", file=sys.stderr)
        else:
            raise HearsightError(f"the cached result {key} is damaged", where=path, hint=REPAIR)


@contextmanager
def _clear_errors(path: Path) -> Iterator[None]:
    """What goes wrong with the file at ``path``, as one line a person can fix it by."""
    try:
        yield
    except OSError as error:
        raise disk_error(error, path) from error
    except sqlite3.Error as error:
        known = {"full": "free some disk space", "locked": "another process holds it: run the command again when that has ended"}
        hint = next((cure for word, cure in known.items() if word in str(error)), REPAIR)
        raise HearsightError(f"the annotation cache failed ({error})", where=path, hint=hint) from error


def _request_results(
    annotator: PaidAnnotator,
    payloads: Mapping[str, Any | Callable[[], Any]],
    stored: Callable[[str], list[Any]],
    path: Path,
) -> Iterator[tuple[str, Any]]:
    """The results of an annotator that is paid, none of them bought by two processes at once.

    ``stored`` looks a key up again: another process may have bought it since.
    """
    late: list[str] = []
    there: list[tuple[str, Any]] = []
    with open_key_locks(path.with_suffix(".claims")) as locks:

        def mine() -> Iterator[tuple[str, Any]]:
            for key, payload in payloads.items():
                if not locks.acquire(key):
                    late.append(key)
                elif results := stored(key):
                    locks.release(key)
                    there.append((key, results[0]))
                else:
                    yield key, _payload(payload)

        for key, result in annotator.ask_many(mine()):
            yield key, result
            # Whoever iterates has stored it by now.
            locks.release(key)
        yield from there
        # Nothing is claimed here any more, so two processes never wait for each other.
        for key in late:
            locks.acquire(key, wait=True)
            if results := stored(key):
                yield key, results[0]
            else:
                yield from annotator.ask_many([(key, _payload(payloads[key]))])
            locks.release(key)


def _payload(payload: Any | Callable[[], Any]) -> Any:
    return payload() if callable(payload) else payload


def _compute_results(annotator: Annotator, payloads: Mapping[str, Any | Callable[[], Any]]) -> Iterator[tuple[str, Any]]:
    """The results in order; one payload at a time is in memory unless the annotator wants them together."""
    keys = iter(payloads)
    while batch := list(islice(keys, BATCH)):
        given = (_payload(payloads[key]) for key in batch)
        if isinstance(annotator, BatchAnnotator):
            yield from zip(batch, annotator.compute_many(list(given)), strict=True)
        else:
            yield from zip(batch, map(annotator.compute, given), strict=True)


@contextmanager
def sqlite_backend(path: Path) -> Iterator[CacheBackend]:
    """The results in the SQLite file at ``path``, which is made if need be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(_open(path)) as connection:
        yield _SqliteBackend(connection)


_open_backend: Callable[[Path], AbstractContextManager[CacheBackend]] = sqlite_backend


def use_backend(opener: Callable[[Path], AbstractContextManager[CacheBackend]]) -> None:
    """Have every store of this process reach its results through ``opener`` (given the SQLite file's path)."""
    global _open_backend
    _open_backend = opener


class _SqliteBackend:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def read(self, keys: Sequence[str]) -> Iterator[tuple[str, bytes, int]]:
        for chunk in _chunks(list(keys), 500):
            marks = ",".join("?" * len(chunk))
            yield from self.connection.execute(f"SELECT key, value, crc FROM results WHERE key IN ({marks})", chunk)

    def has(self, keys: Sequence[str]) -> Iterator[str]:
        for chunk in _chunks(list(keys), 500):
            marks = ",".join("?" * len(chunk))
            yield from (key for (key,) in self.connection.execute(f"SELECT key FROM results WHERE key IN ({marks})", chunk))

    def write(self, rows: Sequence[tuple[str, bytes, int]], *, durable: bool = False) -> None:
        # A killed process loses nothing either way; a machine that loses power may lose its last results, unless the disk is
        # waited for at each, which took longer than speaking did.
        self.connection.execute(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}")
        with self.connection:
            self.connection.execute("BEGIN IMMEDIATE")
            self.connection.executemany("INSERT OR REPLACE INTO results VALUES (?, ?, ?)", rows)


def _open(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=PATIENCE)
    # Several workers open a new file at once, and the switch to the write-ahead log does not wait for SQLite's timeout.
    with path.with_suffix(".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute(
            "CREATE TABLE IF NOT EXISTS results (key TEXT PRIMARY KEY, value BLOB NOT NULL, crc INTEGER NOT NULL) WITHOUT ROWID"
        )
    return connection


def _chunks(items: list[str], size: int) -> Iterable[list[str]]:
    return (items[start : start + size] for start in range(0, len(items), size))


def _slug(text: str) -> str:
    return "".join(char if char.isalnum() or char in ".-" else "_" for char in text)


def _to_array(value: Any) -> bytes:
    import numpy as np

    buffer = io.BytesIO()
    np.save(buffer, np.asarray(value), allow_pickle=False)
    return buffer.getvalue()


def _from_array(blob: bytes) -> Any:
    import numpy as np

    return np.load(io.BytesIO(blob), allow_pickle=False)


CODECS: dict[str, tuple[Callable[[Any], bytes], Callable[[bytes], Any]]] = {
    "json": (lambda value: json.dumps(value, sort_keys=True).encode(), json.loads),
    "array": (_to_array, _from_array),
    "bytes": (bytes, bytes),
}
