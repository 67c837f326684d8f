"""Table source: the rows of an existing image–caption set, each one image with its caption and no page.

The images are on the web (``url`` columns) or in a folder (``crawl.source.image_folder``, or the folder of the tables). A row
that does not fit its layout is a ledger row with its rule.

An image is named by a ``file:`` address below the folder, independent of the folder's location. File names in a set are
untrusted: nothing outside the folder is read.
"""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote, unquote

from components.core.errors import HearsightError
from components.core.ledger import dropped
from components.execution.stage import Job, Task
from components.stages.crawl.sources.inputs import FileSource, input_path, write_found
from components.stages.crawl.sources.layouts import Row, layout_named
from components.stages.crawl.sources.layouts.quotes import UNCLEAR_QUOTES
from components.stages.crawl.sources.source_pages import SourcePage, record_key
from components.web.answers import Answers
from components.web.fetch import Fetcher
from components.web.html.page import Candidate, fold
from components.web.store import FetchStore
from components.web.urls import LONGEST, normalise
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


log = logging.getLogger(__name__)


class TableSource(FileSource):
    """See :class:`components.stages.crawl.sources.source_pages.Source`."""

    layout_settings = ("layout", "image_folder", "language")
    _warned = False

    def settings(self) -> dict[str, Any]:
        more = {"languages": self.source.languages, "quotes": self.source.quotes}
        return super().settings() | {name: value for name, value in more.items() if value not in ([], "auto")}

    def read(self, jobs: list[Job]) -> list[Path]:
        source = self.source
        layout = layout_named(source.layout)
        beside = layout.relative_to_table or (layout.folder_optional and not source.image_folder)
        options = {name: getattr(source, name) for name in ("layout", "language", "languages", "quotes")}
        return self.run_jobs(read_table_job, jobs, folder=self._image_folder(), beside=beside, **options)

    def pages(self, answers: Answers, live: Fetcher | None) -> Iterator[SourcePage]:
        """Yield the rows of the tables; warn of those whose quotation marks are unclear."""
        unclear = 0
        for page in super().pages(answers, live):
            unclear += bool(page.row and page.row["rule"] == UNCLEAR_QUOTES)
            yield page
        if unclear and not self._warned:
            self._warned = True
            log.warning(
                "crawl: %s rows have unclear quotation marks and are left out: set crawl.source.quotes to spreadsheet or none",
                f"{unclear:,}",
            )

    def fetch_images(self, urls: Collection[str], live: Fetcher) -> None:
        """Add images of the folder to the snapshot and request the others from any host."""
        local = {url for url in urls if url.startswith(SCHEME)}
        if local:
            folder = self.home / self._image_folder()
            if layout_named(self.source.layout).folder_optional and not any_file_exists(local, folder):
                first = unquote(min(local).removeprefix(SCHEME))
                raise HearsightError(
                    f"has none of the {len(local)} images that the table names, the first being '{first[:200]}'",
                    where=folder,
                    hint="correct the paths, which are relative to this folder, or set crawl.source.image_folder to another",
                )
            store_files(local, folder, live.store, self.params.max_image_bytes)
        super().fetch_images([url for url in urls if url not in local], live)

    def _image_folder(self) -> str:
        """Return the folder that image names are relative to, relative to the project; '' for images on the web.

        Raises:
            HearsightError: it is the folder of the tables, and they have no common folder.
        """
        if self.source.image_folder or not layout_named(self.source.layout).folder_optional:
            return str(self.source.image_folder)
        try:
            return os.path.commonpath([PurePosixPath(item.name).parent for item in self._inputs]) or "."
        except ValueError:
            raise HearsightError(
                "names some tables by relative and others by absolute paths",
                where="crawl.source.inputs",
                hint="name all in one way, or set crawl.source.image_folder",
            ) from None


def read_table_job(spec: dict[str, str], task: Task, folder: Path) -> None:
    """Job: write the rows of one table as source pages."""
    layout = layout_named(task.params["layout"], quotes=task.params["quotes"])
    folder_of_images, languages = task.params["folder"], task.params["languages"]
    rows = layout.rows(Path(input_path(spec, task)), spec["name"])
    first = [*islice(rows, 1)]
    if not first and not layout.has_languages:  # a stamp may have no caption
        raise HearsightError("holds no rows", where=spec["name"], hint="bring the whole file, or name another as input")
    rows = chain(first, rows)
    if layout.has_languages:
        rows = (row for row in rows if row.rule or row.language in languages)
    if task.params["beside"]:
        # A table outside the image folder yields names with "..", which ``local`` rejects.
        below = PurePosixPath(os.path.relpath(PurePosixPath(spec["name"]).parent, folder_of_images))
        rows = (replace(row, file=str(below / row.file)) if row.file else row for row in rows)
    options: dict[str, Any] = {"local": bool(folder_of_images), "language": task.params["language"]}
    write_found(folder, task, (row_to_page(row, spec["name"], **options) for row in rows))


def row_to_page(row: Row, table: str, *, local: bool, language: str) -> SourcePage:
    """Return a table row as a source page without URL; its table and row number identify it."""
    common: dict[str, Any] = {"archive": table, "offset": row.number}
    if row.rule:
        key = record_key(f"{table}:{row.number}", 0, "", "")
        return SourcePage(dropped(key, row.rule, fold(row.value), row.threshold, detail=f"in {table} at {row.number}"), **common)
    spelled = row.file if local else row.url
    url = file_url(row.file) if local else normalise(row.url)
    candidate = Candidate(image_url=url, alt=fold(row.caption), position=0, source=fold(spelled)[:200])
    cuts = {"owner": 200, "post": 200, "posted": 40, "note": 200}
    post: dict[str, Any] = {name: fold(getattr(row, name))[:cut] for name, cut in cuts.items()}
    return SourcePage(None, [candidate], language=row.language or language, **post, **common)
