"""What ``engine: ray`` runs on the nodes: a look at whether a node is fit, the work itself, and the annotation server.

Nothing here imports Ray before it runs on a cluster.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

from components.core.result_cache import BATCH, CacheBackend, sqlite_backend, use_backend
from components.core.shard_cache import machine_id
from components.execution.engine import call_item
from components.execution.writer_lock import WriterLock

PACKAGE = Path(__file__).resolve().parent.parent
"""The folder of ``components``."""
ANSWER = 600.0
"""Seconds a worker waits for the annotation server."""


@dataclass(frozen=True)
class NodeReport:
    """What a node sees."""

    host: str
    machine: str
    unseen: list[str]
    """Folders it cannot see, or not write."""
    locks: bool
    """Whether the driver's lock keeps it out."""
    code: str
    packages: dict[str, str]


def local_code_digest() -> str:
    """The digest of the source of ``components`` that this process runs."""
    total = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        total.update(str(path.relative_to(PACKAGE)).encode() + path.read_bytes())
    return total.hexdigest()


def local_packages() -> dict[str, str]:
    """Package → version of what Hearsight asks for, as far as it is installed here."""
    try:
        wanted = metadata.requires("hearsight") or []
    except metadata.PackageNotFoundError:
        return {}
    found = {}
    for line in wanted:
        if "extra ==" in line:
            continue
        name = re.split(r"[<>=\[;!~ ]", line)[0]
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "none"
    return found


def report_node(probes: Mapping[str, str], writer_lock: WriterLock) -> NodeReport:
    """On a node: see what it sees; ``probes`` are files the driver just wrote, with their content."""
    unseen = []
    for name, content in probes.items():
        path = Path(name)
        try:
            if path.read_text() != content or not os.access(path.parent, os.W_OK):
                unseen.append(str(path.parent))
        except OSError:
            unseen.append(str(path.parent))
    return NodeReport(
        os.uname().nodename, machine_id(), unseen, writer_lock.reaches_this_machine(), local_code_digest(), local_packages()
    )


def run_item(work: Callable[[Any], Any], item: Any, writer_lock: WriterLock, piece: int, server: Any) -> bytes:
    """On a node: ``work(item)`` inside the writer_lock; returns a pickled (good, result) pair as :func:`call_item` gives it."""
    use_backend(partial(served_backend, server))
    answer = call_item(partial(_run_locked, work, writer_lock, piece), item)
    try:
        return pickle.dumps(answer)
    except Exception as error:
        return pickle.dumps((False, RuntimeError(f"{answer[1]!r} cannot be sent back ({error})")))


def _run_locked(work: Callable[[Any], Any], writer_lock: WriterLock, piece: int, item: Any) -> Any:
    with writer_lock.hold_item(piece):
        return work(item)


class CacheServer:
    """The one process of a run that has the annotation stores open; an actor on the driver's machine."""

    def read(self, path: Path, keys: Sequence[str]) -> tuple[bool, Any]:
        """What there is of ``keys`` in the store at ``path``, as :func:`call_item` gives it."""
        return call_item(partial(_read, path), keys)

    def has(self, path: Path, keys: Sequence[str]) -> tuple[bool, Any]:
        """Those of ``keys`` that the store at ``path`` has."""
        return call_item(partial(_has, path), keys)

    def write(self, path: Path, rows: Sequence[tuple[str, bytes, int]], durable: bool) -> tuple[bool, Any]:
        """Store ``rows``, see :meth:`CacheBackend.write`; again is harmless."""
        return call_item(partial(_write, path, durable), rows)


def _read(path: Path, keys: Sequence[str]) -> list[tuple[str, bytes, int]]:
    with sqlite_backend(path) as backend:
        return list(backend.read(keys))


def _has(path: Path, keys: Sequence[str]) -> list[str]:
    with sqlite_backend(path) as backend:
        return list(backend.has(keys))


def _write(path: Path, durable: bool, rows: Sequence[tuple[str, bytes, int]]) -> None:
    with sqlite_backend(path) as backend:
        backend.write(rows, durable=durable)


@contextmanager
def served_backend(server: Any, path: Path) -> Iterator[CacheBackend]:
    """The results at ``path``, through the server."""
    yield _ServedBackend(server, path)


class _ServedBackend:
    def __init__(self, server: Any, path: Path) -> None:
        self.server, self.path = server, path

    def read(self, keys: Sequence[str]) -> Iterable[tuple[str, bytes, int]]:
        # In pieces: one answer has to fit into the shared memory of a node.
        for start in range(0, len(keys), BATCH):
            yield from _answer(self.server.read.remote(self.path, list(keys[start : start + BATCH])))

    def has(self, keys: Sequence[str]) -> Iterable[str]:
        yield from _answer(self.server.has.remote(self.path, list(keys)))

    def write(self, rows: Sequence[tuple[str, bytes, int]], *, durable: bool = False) -> None:
        _answer(self.server.write.remote(self.path, list(rows), durable))


def _answer(reference: Any) -> Any:
    # Not ray.get: a task that waits in it gives its core away meanwhile, and two would then run on one.
    good, result = reference.future().result(timeout=ANSWER)
    if not good:
        raise result
    return result
