"""Files in a bucket, named by their content: ``<prefix>/objects/<2 hex>/<sha256>``.

Equal names have equal bytes, so two writers of one object cannot disagree. Fetched objects are verified, kept in a local
folder and hard-linked from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from components.core.bucket import Bucket
from components.core.digests import sha256_file
from components.core.errors import HearsightError, ObjectMissing
from components.core.files import link_or_copy, publish
from components.core.storage import S3Storage

T = TypeVar("T")
OBJECTS = "objects"
"""Folder of the objects below the prefix."""
PART = 64 << 20
"""Bytes above which an object is sent in parts."""
AT_ONCE = 8
"""Objects in transfer at a time."""
REPAIR = "run `hearsight storage push --verify` where the file is, or delete the object and run its stage again"
"""How to repair a damaged object."""
DOWNLOADS = 3
"""Downloads of an object with a wrong digest before it counts as damaged in the bucket."""


class ObjectStore:
    """Objects in the bucket of ``settings``.

    Args:
        cache: the local folder of fetched objects.
    """

    def __init__(self, settings: S3Storage, cache: Path) -> None:
        self.settings, self.cache = settings, cache
        self.bucket = Bucket(settings)
        self._damaged: set[str] = set()

    def __reduce__(self) -> tuple[Any, ...]:
        return ObjectStore, (self.settings, self.cache)

    def put_file(self, path: Path, sha256: str) -> bool:
        """Store the file as an object unless it is there; return whether it was sent.

        Raises:
            HearsightError: the file does not have this digest, or the server refuses or stays away.
        """
        key, size = object_key(sha256), path.stat().st_size
        stored = self.bucket.size(key)
        if stored == size and sha256 not in self._damaged:
            return False
        if sha256_file(path) != sha256:
            raise HearsightError("changed while it was stored", where=path, hint="run its stage again")
        if size > PART:
            self.bucket.upload(key, path)
        elif stored is None:
            self.bucket.write_new(key, path.read_bytes())
        else:  # damaged, or cut off by a server that does not compare lengths
            self.bucket.replace(key, path.read_bytes())
        return True

    def put_files(self, files: Iterable[tuple[Path, str]]) -> int:
        """Store files (path, digest) as objects, several at a time; return the bytes sent. Raises as :meth:`put_file`."""
        unique = {sha256: path for path, sha256 in files}

        def put(item: tuple[str, Path]) -> int:
            return item[1].stat().st_size if self.put_file(item[1], item[0]) else 0

        return sum(in_threads(put, list(unique.items())))

    def fetch(self, sha256: str, path: Path) -> None:
        """Make ``path`` a hard link of the verified object; download it if this machine has not.

        Raises:
            HearsightError: the bucket has no such object or a damaged one, or the server refuses or stays away.
        """
        kept = self.copy_of(sha256)
        if not kept.is_file() or sha256_file(kept) != sha256:
            publish(kept, lambda temporary: self._download(sha256, temporary))
        link_or_copy(kept, path)

    def download(self, sha256: str, path: Path) -> None:
        """Write a copy of the object to ``path``, for a file that is changed in place. Raises as :meth:`fetch`."""
        publish(path, lambda temporary: self._download(sha256, temporary))

    def fetch_all(self, files: Sequence[tuple[str, Path]]) -> None:
        """Fetch objects (digest, path), several at a time. Raises as :meth:`fetch`."""
        first = dict(reversed(files))
        in_threads(lambda item: self.fetch(*item), list(first.items()))
        for sha256, path in files:  # equal files: downloaded once
            if path != first[sha256]:
                self.fetch(sha256, path)

    def missing(self, files: dict[str, int]) -> list[str]:
        """Return those of the objects (digest → size) that the bucket lacks or has cut off."""
        digests = sorted(files)
        sizes = in_threads(lambda sha256: self.bucket.size(object_key(sha256)), digests)
        return [sha256 for sha256, size in zip(digests, sizes, strict=True) if size != files[sha256]]

    def delete(self, digests: Sequence[str]) -> None:
        """Delete objects in the bucket and in the local folder."""
        self.bucket.delete([object_key(sha256) for sha256 in digests])
        for sha256 in digests:
            self.copy_of(sha256).unlink(missing_ok=True)

    def copy_of(self, sha256: str) -> Path:
        """Return the path of this machine's copy of an object."""
        return self.cache / sha256[:2] / sha256

    def prune_cache(self) -> int:
        """Delete fetched objects that no output and no cache entry links; return their bytes."""
        unused = [path for path in self.cache.glob("*/*") if path.stat().st_nlink == 1]
        total = sum(path.stat().st_size for path in unused)
        for path in unused:
            path.unlink(missing_ok=True)
        return total

    def _download(self, sha256: str, path: Path) -> None:
        for _ in range(DOWNLOADS):
            digest = self.bucket.download(object_key(sha256), path)
            if digest is None:
                where = f"{self.settings.url}/{object_key(sha256)}"
                hint = "run `hearsight storage push` where the file is, or run its stage again"
                raise ObjectMissing("is not in the bucket", where=where, hint=hint)
            if digest == sha256:
                return
        self._damaged.add(sha256)
        raise self.bucket.damaged(object_key(sha256), REPAIR)


def in_threads(work: Callable[[Any], T], items: Sequence[Any]) -> list[T]:
    """Return ``work`` of each item in order, computed by several threads."""
    if len(items) < 2:
        return [work(item) for item in items]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(work, items))


def object_key(sha256: str) -> str:
    """Return the key of an object below the prefix."""
    return f"{OBJECTS}/{sha256[:2]}/{sha256}"
