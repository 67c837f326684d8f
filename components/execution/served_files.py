"""The result caches of a Ray cluster: workers open the files through a process of the driver's machine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from components.core.result_cache import BATCH
from components.core.result_files import CacheBackend

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
