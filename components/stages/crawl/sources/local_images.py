"""Images of a folder: those that the rows of a table or the posts of an export name as files.

An image is named by a ``file:`` address below the folder, independent of the folder's location. File names in a set are
untrusted: nothing outside the folder is read.
"""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Collection
from pathlib import Path, PurePosixPath
from urllib.parse import quote, unquote

from components.core.errors import HearsightError
from components.stages.crawl.sources.inputs import FileSource
from components.web.fetch import Fetcher
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
        if not path.is_file():  # a folder, or a named pipe
            raise FileNotFoundError
        # Non-blocking, so that what has become a pipe meanwhile cannot block the crawl.
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except (OSError, ValueError, RuntimeError):
        return Entry(url, 0, "missing_file", f"{name[:200]} is no file that can be read"), b""
    with os.fdopen(handle, "rb") as file:
        if (size := os.fstat(file.fileno()).st_size) > limit:
            return Entry(url, 0, "too_large", f"{size} bytes"), b""
        return Entry(url, 200, type="application/octet-stream"), file.read(limit)


def name_below(folder: str, file: str, name: str) -> str:
    """Return an image's name in ``folder`` for the name that ``file`` has for it, relative to its own folder.

    A file outside the folder gives names with ``..``, which are not read.
    """
    below = PurePosixPath(os.path.relpath(PurePosixPath(file).parent, folder))
    return str(below / name) if name else ""


class ImageFolderSource(FileSource):
    """A source whose files may name images as files of a folder."""

    @property
    @abstractmethod
    def beside(self) -> bool:
        """Whether images lie beside the files that name them: names are relative to the file's own folder."""

    @property
    def image_folder(self) -> str:
        """The folder of the images, relative to the project; '' if no image is a file.

        Raises:
            HearsightError: it is the folder of the inputs, and they have no common folder.
        """
        if self.source.image_folder or not self.beside:
            return str(self.source.image_folder)
        try:
            return os.path.commonpath([PurePosixPath(item.name).parent for item in self._inputs]) or "."
        except ValueError:
            raise HearsightError(
                "names some files by relative and others by absolute paths",
                where="crawl.source.inputs",
                hint="name all in one way, or set crawl.source.image_folder",
            ) from None

    def fetch_images(self, urls: Collection[str], live: Fetcher) -> None:
        """Add images of the folder to the snapshot and request the others from any host.

        Raises:
            HearsightError: the folder has none of the images, or an image is on the open web and there is no contact.
        """
        local = {url for url in urls if url.startswith(SCHEME)}
        others = [url for url in urls if url not in local]
        if local:
            folder = self.home / self.image_folder
            if self.beside and not any_file_exists(local, folder):
                first = unquote(min(local).removeprefix(SCHEME))
                raise HearsightError(
                    f"has none of the {len(local)} images that the {self.source.kind} names, the first being '{first[:200]}'",
                    where=folder,
                    hint="correct the paths, which are relative to this folder, or set crawl.source.image_folder to another",
                )
            store_files(local, folder, live.store, self.params.max_image_bytes)
        if others:
            self.params.require_contact("crawl")
        super().fetch_images(others, live)
