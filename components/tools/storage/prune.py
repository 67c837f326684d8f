"""Find and delete what no kept revision needs: objects that no manifest names, and entries of the shard cache."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from components.core.errors import HearsightError, ObjectMissing
from components.core.graph import load_graph, read_lock
from components.core.manifest import NAME, Manifest, parse_manifest
from components.core.object_store import OBJECTS
from components.core.shard_cache import SHARED, read_shared
from components.core.stored_files import LINEAGES
from components.tools.storage.transfer import chosen_outputs, require_store
from components.web.stored_snapshots import named_objects

DAY = 24 * 3600.0


@dataclass
class Unused:
    """What can be deleted."""

    objects: dict[str, int] = field(default_factory=dict)
    """Digest → bytes."""
    entries: list[str] = field(default_factory=list)
    """Keys of entries of the shard cache, and of lineages of deleted outputs."""


def find_unused(root: Path, revisions: Sequence[str], days: float) -> Unused:
    """Return what neither the outputs here nor those of the git revisions need, if it is older than ``days``.

    Args:
        revisions: names of commits; without any, every branch and tag.
        days: by the server's clock.

    Raises:
        HearsightError: a revision is unknown, or its manifests are neither in DVC's cache nor in its remotes; the document of a
            snapshot is damaged; the server does not state its time.
    """
    store = require_store(root)
    recent = store.bucket.clock() - days * DAY
    here = [output.manifest for output in chosen_outputs(load_graph(root), [])]
    kept = named_objects(store)
    for manifest in [*here, *_manifests_of(root, revisions or _tips(root))]:
        kept.update(manifest.objects())
    unused = Unused()
    for entry in store.bucket.list(SHARED):
        try:
            files = set((read_shared(store, entry.key) or {}).values())
        except ObjectMissing:
            unused.entries.append(entry.key)
            continue
        if entry.written > recent:
            kept |= files
        elif not files <= kept:
            unused.entries.append(entry.key)
    for stored in store.bucket.list(OBJECTS):
        sha256 = stored.key.rpartition("/")[2]
        if sha256 not in kept and stored.written <= recent:
            unused.objects[sha256] = stored.size
    for lineage in store.bucket.list(LINEAGES):
        if lineage.key.split("/")[1] in unused.objects:
            unused.entries.append(lineage.key)
    return unused


def delete_unused(root: Path, unused: Unused) -> None:
    """Delete what :func:`find_unused` returned: entries first, so that none names a deleted object."""
    store = require_store(root)
    store.bucket.delete(unused.entries)
    store.delete(sorted(unused.objects))
    store.prune_cache()


def _tips(root: Path) -> list[str]:
    return ["HEAD", *_git(root, "for-each-ref", "--format=%(objectname)").split()]


def _manifests_of(root: Path, revisions: Iterable[str]) -> list[Manifest]:
    """Return the manifests of outputs that ``dvc.lock`` names at these revisions."""
    wanted: dict[str, str] = {}
    for revision in revisions:
        if not _git(root, "ls-tree", "--name-only", revision, "dvc.lock").strip():
            continue
        for entry in read_lock(_git(root, "show", f"{revision}:dvc.lock"), f"{revision}:dvc.lock").values():
            for out in entry.get("outs", []):
                if out["path"].endswith(f"/{NAME}") and "md5" in out:
                    wanted.setdefault(out["md5"], f"{revision}: {out['path']}")
    if not wanted:
        return []
    # Here: DVC takes a second to import.
    from components.tools.takedown.plan import open_repo
    from components.tools.takedown.versions import open_stores

    found: dict[str, bytes] = {}
    with ExitStack() as locks:
        repo: Any = open_repo(root, locks)
        for objects in open_stores(repo):
            for oid in wanted.keys() - found.keys():
                data = objects.read(oid) if objects.odb.fs.exists(objects.path(oid)) else b""
                if hashlib.md5(data, usedforsecurity=False).hexdigest() == oid:
                    found[oid] = data
    if absent := wanted.keys() - found.keys():
        where, hint = wanted[min(absent)], "run `dvc fetch --all-commits`, or `dvc push`"
        raise HearsightError("is whole in no cache and no remote of DVC", where=where, hint=hint)
    return [parse_manifest(data, Path(wanted[oid].partition(": ")[2])) for oid, data in found.items()]


def _git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=root, text=True, capture_output=True, check=False)
    if done.returncode:
        raise HearsightError(done.stderr.strip(), where=f"git {words[0]}", hint="give names of commits, branches or tags")
    return done.stdout
