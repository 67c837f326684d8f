"""Tables: the rows of an existing image–caption set, each an image with its caption, without a page.

The images are on the web (``url`` columns) or in a folder (``crawl.image_folder``, or that of the tables). A row that does
not fit its layout is a ledger row with its rule. Not in scope: reading the files (``layouts``).
"""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote

from components.core.errors import HearsightError
from components.core.ledger import dropped
from components.execution.stage import Job, Task
from components.stages.crawl.sources.files import CHOSEN_BY, FINDINGS, STEP, FileSource, path_of
from components.stages.crawl.sources.found import FoundPage, record_key, write_found
from components.stages.crawl.sources.layouts import Row, layout_named
from components.stages.crawl.sources.local import SCHEME, any_there, file_url, take_in
from components.stages.crawl.sources.taken import without_listed
from components.stages.crawl.walk import Found
from components.web.fetch import Fetcher
from components.web.html.page import Candidate, fold
from components.web.takedown_list import Takedown
from components.web.urls import normalise

READ_BY = ("layout", "image_folder", "language")


class TableSource(FileSource):
    """See :class:`components.stages.crawl.sources.Source`."""

    def settings(self) -> dict[str, Any]:
        """The tables named and how they are read."""
        told = {"languages": self.params.languages} if self.params.languages is not None else {}
        return {"source": "table", **{name: getattr(self.params, name) for name in (*CHOSEN_BY, *READ_BY)}, **told}

    def read(self, jobs: list[Job]) -> list[Path]:
        """One job a file."""
        params = self.params
        how: dict[str, Any] = {"layout": params.layout, "folder": self._image_folder(), "language": params.language}
        layout = layout_named(params.layout)
        beside = layout.beside or (layout.folder_optional and not params.image_folder)
        how |= {"beside": beside, "languages": params.languages or [], "takedown": self.taken.plain()}
        return self.stage.jobs(read_one, jobs, step=STEP, params=how)

    def fetch_images(self, urls: Collection[str], live: Fetcher) -> None:
        """Take in those of the folder, and ask for the others from any host."""
        local = {url for url in urls if url.startswith(SCHEME)}
        if local:
            folder = self.home / self._image_folder()
            if layout_named(self.params.layout).folder_optional and not any_there(local, folder):
                first = unquote(min(local).removeprefix(SCHEME))
                raise HearsightError(
                    f"has none of the {len(local)} pictures that the table names, the first being '{first[:200]}'",
                    where=folder,
                    hint="correct the paths, which are relative to this folder, or set crawl.image_folder to another",
                )
            take_in(local, folder, live.store, self.params.max_image_bytes)
        super().fetch_images([url for url in urls if url not in local], live)

    def _image_folder(self) -> str:
        """What the names of images are relative to, itself relative to the project; empty for images on the web.

        Raises:
            HearsightError: it is that of the tables, and they have no folder in common.
        """
        if self.params.image_folder or not layout_named(self.params.layout).folder_optional:
            return str(self.params.image_folder)
        try:
            return os.path.commonpath([PurePosixPath(item.name).parent for item in self._inputs]) or "."
        except ValueError:
            raise HearsightError(
                "names some tables by relative and others by absolute paths",
                where="params.yaml: crawl.inputs",
                hint="name all in one way, or set crawl.image_folder",
            ) from None


def read_one(spec: dict[str, str], task: Task, folder: Path) -> None:
    """A job: the rows of one table."""
    layout = layout_named(task.params["layout"])
    folder_of_images, languages = task.params["folder"], task.params["languages"]
    rows = layout.rows(Path(path_of(spec, task)), spec["name"])
    if layout.has_languages:
        rows = (row for row in rows if row.rule or row.language in languages)
    if task.params["beside"]:
        # A table outside of the image folder gives names with "..", which the folder refuses.
        below = PurePosixPath(os.path.relpath(PurePosixPath(spec["name"]).parent, folder_of_images))
        rows = (replace(row, file=str(below / row.file)) if row.file else row for row in rows)
    taken = Takedown.of(task.params["takedown"])
    how: dict[str, Any] = {"local": bool(folder_of_images), "language": task.params["language"]}
    pages = (page_of(row, spec["name"], **how) for row in rows)
    write_found(folder / FINDINGS, (without_listed(page, taken) for page in pages))


def page_of(row: Row, table: str, *, local: bool, language: str) -> FoundPage:
    """A row as what a source finds; the row's place stands for the page it does not have."""
    common: dict[str, Any] = {"archive": table, "offset": row.number}
    if row.rule:
        key = record_key(f"{table}:{row.number}", 0, "", "")
        return FoundPage(dropped(key, row.rule, fold(row.value), row.threshold, detail=f"in {table} at {row.number}"), **common)
    spelled = row.file if local else row.url
    url = (file_url(row.file) if row.file.strip() else None) if local else normalise(row.url)
    candidate = Candidate(image_url=url, alt=fold(row.caption), position=0, source=fold(spelled)[:200])
    post: dict[str, Any] = {"owner": fold(row.owner)[:200], "posted": fold(row.posted)[:40], "note": fold(row.note)[:200]}
    found = Found("", candidate, row.language or language, post=fold(row.post)[:200], **post, **common)
    return FoundPage(None, [found], **common)
