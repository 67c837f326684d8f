"""Complete snapshots of the fetch store in S3: ``<prefix>/snapshots/<name>.json`` lists a snapshot's files, which are objects.

A machine that lacks a snapshot fetches it instead of crawling again. The first machine that completes a snapshot writes its
document; another one may replace it only with the same answers and more (``hearsight retry``), or after a takedown.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from components.core.digests import is_digest, sha256_file
from components.core.errors import HearsightError
from components.core.object_store import ObjectStore, object_key
from components.web.snapshot_chain import NAME as BASE
from components.web.snapshot_chain import read_bases
from components.web.takedown_journal import follow_digest

SNAPSHOTS = "snapshots"
"""Folder of the documents below the bucket's prefix."""
COMPLETE, INDEX = "COMPLETE", "index.jsonl"
FETCHING = ".fetching"
"""File of a folder whose snapshot is being fetched: what is there is no crawl of this machine."""


def fetch_snapshot(folder: Path, store: ObjectStore | None) -> None:
    """Fetch the snapshot of ``folder``, with those it builds on, if the bucket has it and this machine has not.

    Raises:
        HearsightError: this machine has an unfinished crawl of that name, or the server stays away.
    """
    if (
        store is not None
        and not (folder / COMPLETE).exists()
        and (document := read_document(store, _key(folder.name))) is not None
    ):
        if any(folder.glob("segment-*")) and not (folder / FETCHING).exists():
            hint = "remove the folder to take that one, or name another snapshot"
            raise HearsightError("was completed by another machine and is unfinished here", where=folder, hint=hint)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / FETCHING).touch()
        files = document["files"]
        for name in sorted(files, key=lambda name: (name == COMPLETE, name)):  # last, since it says that all is there
            # Copies, not links: a takedown overwrites segments in place.
            store.download(files[name]["sha256"], folder / name)
        (folder / FETCHING).unlink()
    if store is not None:
        for base in read_bases(folder) if (folder / BASE).exists() else ():
            fetch_snapshot(folder.parent / base.snapshot, store)


def keep_snapshot(folder: Path, store: ObjectStore | None) -> None:
    """Store a complete snapshot, and delete what a takedown has removed from it; does nothing when storage is local.

    Raises:
        HearsightError: the bucket has other answers under this name, or the server stays away.
    """
    if store is None or not (folder / COMPLETE).exists():
        return
    paths = sorted(path for path in folder.iterdir() if path.is_file() and path.name != "lock" and not path.name.startswith("."))
    earlier, complete = read_document(store, _key(folder.name)), sha256_file(folder / COMPLETE)
    if earlier is not None and _is_current(earlier, complete, paths):
        return
    files: dict[str, dict[str, Any]] = {path.name: {"sha256": sha256_file(path), "bytes": path.stat().st_size} for path in paths}
    document: dict[str, Any] = {"digest": json.loads((folder / COMPLETE).read_bytes())["digest"], "files": files}
    if earlier is not None and not _may_follow(folder, earlier, document, store):
        raise _conflict(folder)
    store.put_files((folder / name, entry["sha256"]) for name, entry in files.items())
    data = json.dumps(document, indent=1, sort_keys=True).encode()
    if earlier is None:
        if not store.bucket.create(_key(folder.name), data) and read_document(store, _key(folder.name)) != document:
            raise _conflict(folder)
        return
    # Before anything is replaced, since it fails where another snapshot's document is damaged.
    needed = named_objects(store, besides=folder.name) | {entry["sha256"] for entry in files.values()}
    store.bucket.replace(_key(folder.name), data)
    store.delete(sorted({entry["sha256"] for entry in earlier["files"].values()} - needed))


def named_objects(store: ObjectStore, besides: str = "") -> set[str]:
    """Return the digests of the objects that snapshots in the bucket consist of, without those of the snapshot ``besides``.

    Raises:
        ObjectMissing: a document is damaged, so that nobody knows what its snapshot needs.
    """
    keys = [_key(name) for name in stored_snapshots(store) if name != besides]
    documents = [read_document(store, key) or {"files": {}} for key in keys]
    return {entry["sha256"] for document in documents for entry in document["files"].values()}


def repair_document(folder: Path, store: ObjectStore) -> None:
    """Write the document of a complete snapshot of this machine anew, over a damaged one."""
    store.bucket.delete([_key(folder.name)])
    keep_snapshot(folder, store)


def read_document(store: ObjectStore, key: str) -> dict[str, Any] | None:
    """Return the document of a snapshot; None when there is none. Raises ObjectMissing: it is damaged."""
    hint = "run `hearsight storage push --verify` where the snapshot is, or delete the document to crawl anew"
    return store.bucket.read_json(key, _is_document, hint)


def stored_snapshots(store: ObjectStore) -> list[str]:
    """Return the names of the snapshots in the bucket."""
    return sorted(Path(one.key).stem for one in store.bucket.list(SNAPSHOTS))


def _is_current(earlier: Mapping[str, Any], complete: str, paths: list[Path]) -> bool:
    """Return whether the document lists these files: ``COMPLETE`` changes whenever another file of a snapshot does."""
    sizes = {name: entry["bytes"] for name, entry in earlier["files"].items()}
    return earlier["files"][COMPLETE]["sha256"] == complete and sizes == {path.name: path.stat().st_size for path in paths}


def _may_follow(folder: Path, earlier: Mapping[str, Any], document: Mapping[str, Any], store: ObjectStore) -> bool:
    if document["digest"] in follow_digest(folder, earlier["digest"]):
        return True
    if INDEX not in earlier["files"]:
        return False
    index = store.bucket.read(object_key(earlier["files"][INDEX]["sha256"])) or b"?"
    return (folder / INDEX).read_bytes().startswith(index)


def _key(name: str) -> str:
    return f"{SNAPSHOTS}/{name}.json"


def _is_document(content: dict[str, Any]) -> bool:
    files = content.get("files")
    return (
        is_digest(content.get("digest"))
        and isinstance(files, dict)
        and COMPLETE in files
        and all(Path(name).name == name for name in files)
        and all(
            isinstance(each, dict) and is_digest(each.get("sha256")) and type(each.get("bytes")) is int for each in files.values()
        )
    )


def _conflict(folder: Path) -> HearsightError:
    hint = "remove the folder to take the bucket's, or name another snapshot"
    return HearsightError("was completed by another machine with other answers", where=folder, hint=hint)
