"""The files of stage outputs when they are kept in S3: stored when a stage ends, and fetched when they are read.

An output's folder then needs only its manifest, which DVC versions. Reading a file fetches it. The folder
may hold files of another manifest, after `dvc checkout` for example; :func:`match_manifest` removes them.
"""

from __future__ import annotations

import fcntl
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from components.core.addresses import DRAFT, output_root, parse_output_path
from components.core.digests import sha256_bytes, sha256_file
from components.core.files import publish_bytes
from components.core.manifest import NAME, Manifest, read_manifest
from components.core.storage import S3Storage, read_storage

if TYPE_CHECKING:
    from components.core.object_store import ObjectStore

STATE = Path(".hearsight")
CACHE = STATE / "objects"
"""Folder of fetched objects. A project without it has never used S3."""
LINEAGES = "lineages"
"""Folder below the bucket's prefix of the lineages of its outputs: ``<manifest's digest>/<sha256>``."""
MATCHED = STATE / "storage"
"""Folder of one file for each output: the digest of the manifest that the local files belong to."""
_opened: dict[tuple[Path, S3Storage], ObjectStore] = {}


def store_of(root: Path) -> ObjectStore | None:
    """Return the object store of the project in ``root``; None when its storage is local."""
    settings = read_storage(root)
    if not isinstance(settings, S3Storage):
        return None
    from components.core.object_store import ObjectStore  # here: projects on a local disk never need it

    key = (root, settings)
    if key not in _opened:
        _opened[key] = ObjectStore(settings, root / CACHE)
    return _opened[key]


def provide(path: Path, store: ObjectStore | None = None) -> None:
    """Fetch a file of an output if it is not on this machine, the manifest lists it and storage is S3.

    Args:
        store: of a node that does not see the project's settings; None takes the project's, here and below.
    """
    if path.exists():
        return
    for folder in list(path.parents)[:4]:
        if (folder / NAME).is_file():
            break
    else:
        return
    store = store or store_of(output_root(folder))
    if store is None:
        return
    listed = _expected(folder).get(path.relative_to(folder).as_posix())
    if listed is not None:
        store.fetch(listed[1], path)


def restore(path: Path, sha256: str, store: ObjectStore | None = None) -> bool:
    """Replace a damaged file of an output by the object; return False when storage is local."""
    store = store or store_of(output_root(path.parent.parent))
    if store is None:
        return False
    store.fetch(sha256, path)
    return True


def provide_all(folder: Path, below: str = "", store: ObjectStore | None = None) -> None:
    """Fetch all files of an output, or those whose paths begin with ``below``, as :func:`provide`."""
    manifest = read_manifest(folder)
    missing = [
        (sha256, folder / name)
        for name, (_, sha256) in manifest.expected_files().items()
        if name.startswith(below) and not (folder / name).exists()
    ]
    if missing and (store := store or store_of(output_root(folder))) is not None:
        match_manifest(folder, manifest)
        store.fetch_all(missing)


def keep_output(folder: Path, manifest: Manifest) -> None:
    """Store the files of an output that has passed its check, and its manifest, in S3; does nothing when storage is local.

    Raises:
        HearsightError: the server refuses or stays away.
    """
    if (store := store_of(output_root(folder))) is None:
        return
    store.put_files((folder / name, sha256) for name, (_, sha256) in manifest.expected_files().items())
    store.put_file(folder / NAME, manifest.digest)
    _write_matched(folder, manifest.digest)


def keep_lineage(folder: Path, digest: str, lineage: bytes) -> None:
    """Store the lineage of the output with this digest, so that a takedown finds what was made from it."""
    if (store := store_of(output_root(folder))) is not None:
        store.bucket.create(f"{LINEAGES}/{digest}/{sha256_bytes(lineage)}", lineage)


def match_manifest(folder: Path, manifest: Manifest) -> None:
    """Delete files of another manifest from an output's folder; only where storage is S3, so that they can be fetched."""
    if folder.name.endswith(DRAFT):  # nothing of it is stored yet
        return
    root = output_root(folder)
    if not (root / CACHE).is_dir() and not (root / MATCHED).is_dir():
        return
    marker = _matched_path(folder)
    if (marker.read_text() if marker.exists() else "") == manifest.digest or store_of(root) is None:
        return
    with marker.with_name(f"{marker.name}.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if marker.exists() and marker.read_text() == manifest.digest:
            return
        expected = manifest.expected_files()
        for path in [path for path in folder.rglob("*") if path.is_file() and path != folder / NAME]:
            size, sha256 = expected.get(path.relative_to(folder).as_posix(), (-1, ""))
            if path.stat().st_size != size or sha256_file(path) != sha256:
                path.unlink()
        _write_matched(folder, manifest.digest)


def forget_match(folder: Path) -> None:
    """Note that an output's folder is being written, so that what a killed run leaves there belongs to no manifest."""
    if (output_root(folder) / MATCHED).is_dir():
        _matched_path(folder).unlink(missing_ok=True)


def _expected(folder: Path) -> dict[str, tuple[int, str]]:
    state = (folder / NAME).stat()
    return _read_expected(folder, state.st_mtime_ns, state.st_ino)


@lru_cache(maxsize=16)
def _read_expected(folder: Path, changed: int, inode: int) -> dict[str, tuple[int, str]]:
    return read_manifest(folder).expected_files()


def _matched_path(folder: Path) -> Path:
    dataset, stage = parse_output_path(folder)
    path = output_root(folder) / MATCHED / f"{dataset.replace('/', '.')}.{stage}"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _write_matched(folder: Path, digest: str) -> None:
    publish_bytes(_matched_path(folder), digest.encode())
