"""The shard cache: results of steps, keyed by the digest of everything they depend on.

An entry is a folder that appears by a rename, so it is complete or absent. Its files are verified on every use; a damaged entry
is computed again. A killed run loses the shards in flight only, and a changed parameter recomputes only what depends on it.
With storage in S3 an entry is also in the bucket, as ``cache/<step>/<key>.json`` with its files as objects, so that other
machines find it. Of two writers of one entry the first wins; equal keys have equal bytes.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from components.core.digests import canonical_json, digest_value, is_digest, sha256_file
from components.core.errors import HearsightError, ObjectMissing
from components.core.files import publish_folder
from components.core.machine import process_exists

if TYPE_CHECKING:
    from components.core.object_store import ObjectStore

ENTRY = "entry.json"
SHARED = "cache"
"""Folder of the entries below the bucket's prefix."""
STALE_AFTER = 7 * 24 * 3600.0
"""Seconds after which an unfinished entry of another machine, whose processes are not visible here, is removed."""


@cache
def machine_id() -> str:
    """Return a short id of this machine's process numbers: one for each container and boot."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text() + str(Path("/proc/self/ns/pid").stat().st_ino)
    except OSError:
        boot = ""
    return digest_value([platform.node(), boot])[:8]


def shared_key(entry: Path) -> str:
    """Return the key in the bucket of the entry in the folder ``entry``."""
    return f"{SHARED}/{entry.parent.name}/{entry.name}.json"


def read_shared(store: ObjectStore, key: str) -> dict[str, str] | None:
    """Return file → digest of an entry in the bucket; None when there is none. Raises ObjectMissing: it is damaged."""
    return store.bucket.read_json(key, _lists_files, "delete it: the result is computed again")


def _lists_files(content: dict[str, Any]) -> bool:
    paths = [PurePosixPath(name) for name in content]
    inside = all(not path.is_absolute() and path.parts and ".." not in path.parts for path in paths)
    return bool(paths) and inside and all(map(is_digest, content.values()))


def _age(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return 0.0


class ShardCache:
    """Content-keyed entries under ``folder``, and in ``store`` with storage in S3."""

    def __init__(self, folder: Path, store: ObjectStore | None = None) -> None:
        self.folder, self.store = folder, store

    def get(self, step: str, key: object, fill: Callable[[Path], None]) -> tuple[Path, bool]:
        """Return the entry of ``key``; ``fill(folder)`` computes it when it is missing.

        Args:
            step: the step's name; a folder of the cache.
            key: JSON value of everything that the result depends on.
            fill: writes the entry's files into the given folder.

        Returns:
            The entry's folder, and whether it was cached.

        Raises:
            HearsightError: the disk is full or not writable; no entry is left behind.
        """
        final = self._entry(step, key)
        if self._is_complete(final):
            self._share(final)
            return final, True
        if self._receive(final):
            return final, True

        def fill_and_list(folder: Path) -> None:
            fill(folder)
            files = {str(p.relative_to(folder)): sha256_file(p) for p in sorted(folder.rglob("*")) if p.is_file()}
            (folder / ENTRY).write_text(canonical_json(files))

        # Equal keys have equal bytes, so an entry that another run has published meanwhile is kept.
        publish_folder(final, fill_and_list, lambda _: self._is_complete(final), temporary=self._temporary(final))
        self._share(final)
        return final, False

    def local(self, folder: Path) -> Path:
        """Return this machine's copy of an entry that a worker of any machine returned as ``folder``."""
        final = self.folder / folder.parent.name / folder.name
        if final != folder and not self._is_complete(final) and not self._receive(final):
            raise HearsightError("is not in the bucket", where=str(final), hint="run the same command again")
        return final

    def _share(self, final: Path) -> None:
        """Write an entry of this machine to the bucket unless it is there."""
        if (store := self.store) is not None and store.bucket.size(shared_key(final)) is None:
            files = json.loads((final / ENTRY).read_text())
            store.put_files((final / name, digest) for name, digest in files.items())
            store.bucket.write_new(shared_key(final), canonical_json(files).encode())

    def _receive(self, final: Path) -> bool:
        """Fetch an entry from the bucket; return whether it is there and whole."""
        if (store := self.store) is None:
            return False
        try:
            if (files := read_shared(store, shared_key(final))) is None:
                return False

            def fetch(folder: Path) -> None:
                store.fetch_all([(digest, folder / name) for name, digest in sorted(files.items())])
                (folder / ENTRY).write_text(canonical_json(files))

            publish_folder(final, fetch, lambda _: self._is_complete(final), temporary=self._temporary(final))
        except ObjectMissing:
            # Computed again. The entry goes, so that the new one is stored with all its files.
            store.bucket.delete([shared_key(final)])
            return False
        return True

    @staticmethod
    def _temporary(final: Path) -> Path:
        return final.with_name(f"{final.name}.tmp-{machine_id()}-{os.getpid()}")

    def find(self, step: str, key: object) -> Path | None:
        """Return the entry's folder; None when it is missing or damaged."""
        final = self._entry(step, key)
        return final if self._is_complete(final) else None

    def _entry(self, step: str, key: object) -> Path:
        return self.folder / step / digest_value(key)[:32]

    def sweep(self) -> None:
        """Remove unfinished entries of killed processes of this machine, and old ones of other machines."""
        for path in self.folder.glob("*/*.tmp-*"):
            machine, _, pid = path.name.rpartition(".tmp-")[2].rpartition("-")
            local = machine in (machine_id(), "") and pid.isdigit()
            abandoned = not process_exists(int(pid)) if local else _age(path) > STALE_AFTER
            if abandoned:
                shutil.rmtree(path, ignore_errors=True)

    @staticmethod
    def _is_complete(folder: Path) -> bool:
        try:
            files = json.loads((folder / ENTRY).read_text())
            return all(sha256_file(folder / name) == digest for name, digest in files.items())
        except (OSError, ValueError, AttributeError):
            return False
