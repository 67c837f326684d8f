"""Merges of ``dvc.lock`` by stage entry, since a merge by lines could mix the entries of two stages. Does not import Prefect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from components.core.files import publish_bytes
from components.core.graph import LOCK_FILE, read_lock

_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


@contextmanager
def dvc_lock(root: Path) -> Iterator[None]:
    """Hold DVC's lock of the project, under which it writes dvc.lock; wait for other processes of DVC."""
    # Here: imports seconds of DVC.
    from dvc.repo import Repo

    with Repo(str(root), _wait_for_lock=True) as repo, repo.lock:
        yield


def lock_text(entries: dict[str, Any]) -> str:
    """Return the text of a dvc.lock with these entries."""
    return str(yaml.dump({"schema": "2.0", "stages": entries}, Dumper=_DUMPER, sort_keys=False, allow_unicode=True))


def take_entries(ours: str | None, theirs: str | None, addresses: Iterable[str]) -> str:
    """Return the text ``ours`` in which the entries of ``addresses`` are those of ``theirs``."""
    entries, others = read_lock(ours), read_lock(theirs)
    for address in addresses:
        entries.pop(address, None)
        if address in others:
            entries[address] = others[address]
    return lock_text(entries)


def changed_entries(base: str | None, theirs: str | None) -> list[str]:
    """Return the addresses whose entries differ between two texts."""
    old, new = read_lock(base), read_lock(theirs)
    return sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))


def take_stages(root: Path, theirs: str | None, addresses: Iterable[str]) -> None:
    """Take entries of another dvc.lock into the project's, under DVC's lock."""
    path = root / LOCK_FILE
    with dvc_lock(root):
        ours = path.read_text(encoding="utf-8") if path.is_file() else None
        merged = take_entries(ours, theirs, addresses)
        if read_lock(merged) != read_lock(ours):
            publish_bytes(path, merged.encode("utf-8"))
