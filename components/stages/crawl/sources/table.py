"""Table source: the rows of an existing image–caption set, each one image with its caption and no page.

The images are on the web (``url`` columns) or in a folder (``local_images``). A row that does not fit its layout is a ledger row
with its rule.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

from components.core.errors import HearsightError
from components.core.ledger import dropped
from components.execution.stage import Job, Task
from components.stages.crawl.sources.inputs import input_path, write_found
from components.stages.crawl.sources.layouts import Row, layout_named
from components.stages.crawl.sources.layouts.quotes import UNCLEAR_QUOTES
from components.stages.crawl.sources.local_images import ImageFolderSource, file_url, name_below
from components.stages.crawl.sources.source_pages import SourcePage, record_key
from components.web.answers import Answers
from components.web.fetch import Fetcher
from components.web.html.page import Candidate, fold
from components.web.urls import normalise

log = logging.getLogger(__name__)


class TableSource(ImageFolderSource):
    """See :class:`components.stages.crawl.sources.source_pages.Source`."""

    layout_settings = ("layout", "image_folder", "language")
    _warned = False

    @property
    def beside(self) -> bool:
        return layout_named(self.source.layout).folder_optional and not self.source.image_folder

    def settings(self) -> dict[str, Any]:
        more = {"languages": self.source.languages, "quotes": self.source.quotes}
        return super().settings() | {name: value for name, value in more.items() if value not in ([], "auto")}

    def read(self, jobs: list[Job]) -> list[Path]:
        source = self.source
        beside = layout_named(source.layout).relative_to_table or self.beside
        options = {name: getattr(source, name) for name in ("layout", "language", "languages", "quotes")}
        return self.run_jobs(read_table_job, jobs, folder=self.image_folder, beside=beside, **options)

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
        rows = (replace(row, file=name_below(folder_of_images, spec["name"], row.file)) for row in rows)
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
