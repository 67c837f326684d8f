"""Code of ``engine: ray`` that runs on the nodes: the report of a node, the execution of an item, and the cache server.

Does not import Ray.
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
"""Seconds a worker waits for the cache server."""


@dataclass(frozen=True)
class NodeReport:
    """The state of a node."""

    host: str
    machine: str
    unseen: list[str]
    """Folders that it cannot read or write."""
    locks: bool
    """Whether the driver's locks reach it."""
    code: str
    packages: dict[str, str]


def local_code_digest() -> str:
    """Return the digest of the source of ``components`` in this process."""
    digest = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        digest.update(str(path.relative_to(PACKAGE)).encode() + path.read_bytes())
    return digest.hexdigest()


def local_packages() -> dict[str, str]:
    """Return the installed version of each package that Hearsight requires; ``none`` when it is not installed."""
    try:
        requirements = metadata.requires("hearsight") or []
    except metadata.PackageNotFoundError:
        return {}
    versions = {}
    for line in requirements:
        if "extra ==" in line:
            continue
        name = re.split(r"[<>=\[;!~ ]", line)[0]
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = "none"
    return versions


def report_node(probes: Mapping[str, str], writer_lock: WriterLock) -> NodeReport:
    """Return the state of this node; ``probes`` maps paths of files that the driver wrote to their content."""
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


def run_item(work: Callable[[Any], Any], item: Any, writer_lock: WriterLock, number: int, server: Any) -> bytes:
    """Run ``work(item)`` under the writer lock; return the pickled result of :func:`call_item`."""
    use_backend(partial(served_backend, server))
    outcome = call_item(partial(_run_locked, work, writer_lock, number), item)
    try:
        return pickle.dumps(outcome)
    except Exception as error:
        return pickle.dumps((False, RuntimeError(f"{outcome[1]!r} cannot be sent back ({error})")))


def _run_locked(work: Callable[[Any], Any], writer_lock: WriterLock, number: int, item: Any) -> Any:
    with writer_lock.hold_item(number):
        return work(item)


class CacheServer:
    """The process of a run that opens the result caches; an actor, on the driver's machine if possible."""

    def read(self, path: Path, keys: Sequence[str]) -> tuple[bool, Any]:
        """Return the cached results among ``keys`` in the file at ``path``, as an outcome of :func:`call_item`."""
        return call_item(partial(_read, path), keys)

    def has(self, path: Path, keys: Sequence[str]) -> tuple[bool, Any]:
        """Return those of ``keys`` that have a result, as an outcome."""
        return call_item(partial(_has, path), keys)

    def write(self, path: Path, rows: Sequence[tuple[str, bytes, int]], durable: bool) -> tuple[bool, Any]:
        """Store ``rows``; see :meth:`CacheBackend.write`. Repeating it is harmless."""
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
    """Open the cache file at ``path`` through the server."""
    yield _ServedBackend(server, path)


class _ServedBackend:
    def __init__(self, server: Any, path: Path) -> None:
        self.server, self.path = server, path

    def read(self, keys: Sequence[str]) -> Iterable[tuple[str, bytes, int]]:
        # In batches: an answer must fit into the shared memory of a node.
        for start in range(0, len(keys), BATCH):
            yield from _answer(self.server.read.remote(self.path, list(keys[start : start + BATCH])))

    def has(self, keys: Sequence[str]) -> Iterable[str]:
        yield from _answer(self.server.has.remote(self.path, list(keys)))

    def write(self, rows: Sequence[tuple[str, bytes, int]], *, durable: bool = False) -> None:
        _answer(self.server.write.remote(self.path, list(rows), durable))


def _answer(reference: Any) -> Any:
    # Not ray.get: a task that waits in it releases its core, and another task would start on it.
    succeeded, result = reference.future().result(timeout=ANSWER)
    if not succeeded:
        raise result
    return result
