"""Images of a set in a local folder, added to the snapshot like fetched answers.

An image is named by a ``file:`` address below the folder, independent of the folder's location. File names in a set are
untrusted: nothing outside the folder is read.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection
from pathlib import Path, PurePosixPath
from urllib.parse import quote, unquote

from components.core.errors import HearsightError
from components.web.store import FetchStore
from components.web.urls import LONGEST
from components.web.warc import Entry

SCHEME = "file:"


def file_url(name: str) -> str | None:
    """Return the address of a file in the image folder, e.g. ``file:train2017/000000000009.jpg``.

    None for an empty name and for an address longer than ``urls.LONGEST``.
    """
    url = SCHEME + quote(name.strip().encode("utf-8", "replace"), safe="/-._~")
    return url if len(SCHEME) < len(url) <= LONGEST else None


def any_file_exists(urls: Collection[str], folder: Path) -> bool:
    """Return whether the folder holds a file of one of these names; links are not resolved."""
    # os.path.isfile answers False where Path.is_file raises: for a name that is too long.
    return any(os.path.isfile(folder / unquote(url.removeprefix(SCHEME))) for url in urls)  # noqa: PTH113


def store_files(urls: Collection[str], folder: Path, store: FetchStore, limit: int) -> None:
    """Add the files of these addresses that the snapshot lacks; one that cannot be read is stored as a failure.

    Failures: ``outside_folder`` (``..``, an absolute name, a link that leads out), ``missing_file``, ``too_large``.

    Raises:
        HearsightError: the folder does not exist, or the disk is full.
    """
    if not folder.is_dir():
        raise HearsightError("is no folder", where=folder, hint="fix crawl.source.image_folder, or bring the images")
    home = folder.resolve()
    for url in sorted(urls):
        if url not in store:
            entry, body = _read(url, home, limit)
            store.add(entry, body, [("Content-Type", "application/octet-stream")], "OK")
    store.sync()


def _read(url: str, home: Path, limit: int) -> tuple[Entry, bytes]:
    name = unquote(url.removeprefix(SCHEME))
    parts = PurePosixPath(name).parts
    if not parts or "\0" in name or name.startswith("/") or ".." in parts:
        return Entry(url, 0, "outside_folder", name[:200].replace("\0", "\\0")), b""
    try:
        path = (home / name).resolve()
        if not path.is_relative_to(home):
            return Entry(url, 0, "outside_folder", f"{name[:200]} leads out of the folder"), b""
        # Non-blocking, so that a named pipe in the folder cannot block the crawl.
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except (OSError, ValueError, RuntimeError):
        return Entry(url, 0, "missing_file", f"{name[:200]} is no file that can be read"), b""
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            return Entry(url, 0, "missing_file", "not a file"), b""
        if status.st_size > limit:
            return Entry(url, 0, "too_large", f"{status.st_size} bytes"), b""
        return Entry(url, 200, type="application/octet-stream"), file.read(limit)
