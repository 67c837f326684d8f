"""The shard cache: a step's result under the digest of everything it depends on.

An entry is a folder that appears whole, by a rename, or not at all; its files are verified on every use, and a
damaged entry is computed again. So a killed run loses the shards in flight and nothing else, and a changed
parameter recomputes just what depends on it.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

from components.core.digests import canonical_json, digest_value, sha256_file
from components.core.files import publish_folder

ENTRY = "entry.json"
FORGOTTEN = 7 * 24 * 3600.0
"""Seconds after which half an entry of another machine, whose processes cannot be seen from here, is nobody's."""


@cache
def machine() -> str:
    """A short name of this machine and its process numbers: one for each container and each boot."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text() + str(Path("/proc/self/ns/pid").stat().st_ino)
    except OSError:
        boot = ""
    return digest_value([platform.node(), boot])[:8]


def _age(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return 0.0


class ShardCache:
    """Content-keyed folders under ``folder``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, step: str, key: object, fill: Callable[[Path], None]) -> tuple[Path, bool]:
        """The entry of ``key``, filled by ``fill(folder)`` unless it is there.

        Args:
            step: the step's name, for people who look at the folder.
            key: JSON-able; all that the result depends on.
            fill: writes the entry's files into the folder it is given.

        Returns:
            The entry's folder, and whether it was there already.

        Raises:
            HearsightError: the disk is full or not writable; no entry is left behind.
        """
        if (there := self.known(step, key)) is not None:
            return there, True
        final = self._place(step, key)

        def fill_and_list(folder: Path) -> None:
            fill(folder)
            files = {str(p.relative_to(folder)): sha256_file(p) for p in sorted(folder.rglob("*")) if p.is_file()}
            (folder / ENTRY).write_text(canonical_json(files))

        # Equal keys have equal bytes, so what another run computed meanwhile serves.
        mark = f"{final.name}.tmp-{machine()}-{os.getpid()}"
        publish_folder(final, fill_and_list, lambda _: self._is_whole(final), temporary=final.with_name(mark))
        return final, False

    def known(self, step: str, key: object) -> Path | None:
        """The entry's folder, if it is there and whole."""
        final = self._place(step, key)
        return final if self._is_whole(final) else None

    def _place(self, step: str, key: object) -> Path:
        return self.folder / step / digest_value(key)[:32]

    def sweep(self) -> None:
        """Remove what killed processes of this machine left half written, and what any other left long ago."""
        for path in self.folder.glob("*/*.tmp-*"):
            where, _, pid = path.name.rpartition(".tmp-")[2].rpartition("-")
            ours = where in (machine(), "") and pid.isdigit()
            left = not Path(f"/proc/{pid}").exists() if ours else _age(path) > FORGOTTEN
            if left:
                shutil.rmtree(path, ignore_errors=True)

    @staticmethod
    def _is_whole(folder: Path) -> bool:
        try:
            files = json.loads((folder / ENTRY).read_text())
            return all(sha256_file(folder / name) == digest for name, digest in files.items())
        except (OSError, ValueError, AttributeError):
            return False
