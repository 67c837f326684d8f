"""Code of ``engine: ray`` that runs on the nodes: the report of a node, the execution of an item, ranks, and the result caches.

A process of the driver's machine, the cache server, opens the files of the result caches for the workers.
"""

from __future__ import annotations

import hashlib
import os
import re
import socket
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from components.core.addresses import CODE_ROOT
from components.core.errors import HearsightError
from components.core.object_store import ObjectStore
from components.core.result_cache import BATCH
from components.core.result_files import CacheBackend, sqlite_backend
from components.core.shard_cache import machine_id
from components.execution.engine import call_item, call_pickled
from components.execution.ranks import Rank, on_checkpoint
from components.execution.resources import VISIBLE, show_gpus
from components.execution.shipping import open_node, unpack
from components.execution.writer_lock import WriterLock

PACKAGE = CODE_ROOT / "components"


@dataclass(frozen=True)
class NodeReport:
    """The state of a node."""

    host: str
    machine: str
    unseen: list[str]
    """Folders that it cannot read or write; with storage in S3 the error of the bucket."""
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


def report_node(probes: Mapping[str, str], writer_lock: WriterLock, store: ObjectStore | None = None) -> NodeReport:
    """Return the state of this node; ``probes`` maps paths of files that the driver wrote to their content.

    With a ``store`` the node needs access to the bucket instead of the folders.
    """
    if store is not None:
        unseen, locks = _no_access(store), True
    else:
        unseen = [str(Path(name).parent) for name, content in probes.items() if not _is_seen(Path(name), content)]
        locks = writer_lock.reaches_this_machine()
    return NodeReport(os.uname().nodename, machine_id(), unseen, locks, local_code_digest(), local_packages())


def _no_access(store: ObjectStore) -> list[str]:
    try:
        open_node(store).bucket.require_access()
    except (HearsightError, OSError) as error:
        return [str(error)]
    return []


def _is_seen(path: Path, content: str) -> bool:
    try:
        return path.read_text() == content and os.access(path.parent, os.W_OK)
    except OSError:
        return False


def run_item(
    work: Callable[[Any], Any], item: Any, shared: WriterLock | ObjectStore, number: int, has_gpus: bool = False
) -> bytes:
    """Run ``work(item)`` under the writer lock, or on a parcel with the bucket; return the outcome of :func:`call_pickled`."""
    if not has_gpus:
        show_gpus("")  # Ray shows all GPUs to a task that asks for none
    if isinstance(shared, ObjectStore):
        store = shared
        return call_pickled(lambda parcel: work(unpack(parcel, open_node(store))), item)
    writer_lock = shared

    def locked(item: Any) -> Any:
        with writer_lock.hold_item(number):
            return work(item)

    return call_pickled(locked, item)


@dataclass(frozen=True)
class RankReport:
    """Where a rank runs."""

    node: NodeReport
    node_id: str
    gpus: str
    """Ids of the GPUs that it got; empty without."""
    port: int
    """A free port of its machine, for rank 0."""


class RankProcess:
    """The process of one rank of a group; an actor."""

    def report(self, writer_lock: WriterLock) -> RankReport:
        """Return where this process runs."""
        import ray  # here: optional and slow to import

        with socket.socket() as free:
            free.bind(("", 0))
            port = free.getsockname()[1]
        node_id = str(ray.get_runtime_context().get_node_id())
        gpus = os.environ.get(VISIBLE, "") if ray.get_gpu_ids() else ""
        return RankReport(report_node({}, writer_lock), node_id, gpus, port)

    def run(
        self,
        rank: Rank,
        gpus: str,
        address: str,
        work: Callable[[Any], Any],
        item: Any,
        writer_lock: WriterLock,
        first: int,
        server: Any,
    ) -> bytes:
        """Run ``work(item)`` as a rank; return the outcome of :func:`call_pickled`.

        Args:
            gpus: ids of the GPUs of all ranks of this node.
            address: of this node.
            first: the writer lock's item of rank 0.
        """
        rank.enter()
        if (interface := _interface_of(address)) is not None:
            os.environ.setdefault("GLOO_SOCKET_IFNAME", interface)  # gloo would take the address of the host's name
        on_checkpoint(lambda: server.note_checkpoint.remote(first))
        if gpus:
            show_gpus(gpus)
        return run_item(work, item, writer_lock, first + rank.number, has_gpus=bool(gpus))


def _interface_of(address: str) -> str | None:
    """Return the name of the network interface with this address; None if there is none."""
    import psutil  # here: only ranks need it

    return next((name for name, parts in psutil.net_if_addrs().items() if any(part.address == address for part in parts)), None)


class CacheServer:
    """The process of a run that opens the result caches and counts checkpoints; an actor, on the driver's machine if possible."""

    def __init__(self) -> None:
        self._checkpoints: Counter[int] = Counter()

    def note_checkpoint(self, number: int) -> None:
        """Count a checkpoint of the group with this number."""
        self._checkpoints[number] += 1

    def checkpoints(self, number: int) -> int:
        """Return how many checkpoints the group with this number has written in this run."""
        return self._checkpoints[number]

    def call(self, path: Path, method: str, items: Sequence[Any], **options: Any) -> tuple[bool, Any]:
        """Call a method of the :class:`CacheBackend` of the file at ``path``; return an outcome of :func:`call_item`.

        Repeating a write is harmless.
        """

        def work(items: Sequence[Any]) -> list[Any]:
            with sqlite_backend(path) as backend:
                return list(getattr(backend, method)(items, **options) or ())

        return call_item(work, items)


ANSWER = 600.0
"""Seconds a worker waits for the cache server."""


@dataclass(frozen=True)
class ServedFiles:
    """Opens cache files through the server of a run, :class:`components.execution.ray_node.CacheServer`."""

    server: Any
    folder: Path | None = None
    """The driver's folder of the files, for a node that has another one."""

    def __call__(self, path: Path) -> AbstractContextManager[CacheBackend]:
        return nullcontext(_ServedBackend(self.server, self.folder / path.name if self.folder else path))


class _ServedBackend:
    def __init__(self, server: Any, path: Path) -> None:
        self.server, self.path = server, path

    def read(self, keys: Sequence[str]) -> Iterable[tuple[str, bytes, int]]:
        # In batches: an answer must fit into the shared memory of a node.
        for start in range(0, len(keys), BATCH):
            yield from self._call("read", keys[start : start + BATCH])

    def has(self, keys: Sequence[str]) -> Iterable[str]:
        yield from self._call("has", keys)

    def write(self, rows: Sequence[tuple[str, bytes, int]], *, durable: bool = False) -> None:
        self._call("write", rows, durable=durable)

    def _call(self, method: str, items: Sequence[Any], **options: Any) -> list[Any]:
        reference = self.server.call.remote(self.path, method, list(items), **options)
        # Not ray.get: a task that waits in it releases its core, and another task would start on it.
        succeeded, result = reference.future().result(timeout=ANSWER)
        if not succeeded:
            raise result
        return list(result)
