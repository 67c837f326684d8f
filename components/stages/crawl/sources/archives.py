"""Web archives: the pages of WARC, WAT and WACZ files, in the order of the files and of the records in them.

The first capture of a page counts; another one is a ledger row. A part of an archive that cannot be read is a ledger row
with its class, and the rest is read. Not in scope: reading the files (``components.web.archives``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from components.core.ledger import dropped, kept
from components.execution.stage import Job, Task
from components.stages.crawl.sources.files import INPUT_SETTINGS, PAGES_FILE, STEP, FileSource, input_path
from components.stages.crawl.sources.found import SourcePage, write_pages
from components.stages.crawl.sources.taken import redact_page
from components.web.answers import Answers
from components.web.archives import ArchivePage, read_archive
from components.web.budget import Budget
from components.web.fetch import Fetcher
from components.web.takedown_list import Takedown
from components.web.urls import normalise

BUDGET = ("record_bytes", "page_seconds", "page_memory", "page_images")
"""The settings of the budget that decide what is found in an archive: others do not make it read anew."""


class ArchivesSource(FileSource):
    """See :class:`components.stages.crawl.sources.Source`."""

    def settings(self) -> dict[str, Any]:
        """The archives named, and the draw among them."""
        return {"source": "archives", **{name: getattr(self.params, name) for name in INPUT_SETTINGS}}

    def read(self, jobs: list[Job]) -> list[Path]:
        """One job an archive."""
        budget = {name: getattr(self.params.budget, name) for name in BUDGET}
        return self.stage.jobs(read_archive_job, jobs, step=STEP, params={"takedown": self.taken.plain(), "budget": budget})

    def pages(self, answers: Answers, live: Fetcher | None) -> Iterator[SourcePage]:
        """Every record that is a page, each page once; memory: 16 bytes and the set's overhead a page."""
        seen: set[bytes] = set()

        def fresh(key: str) -> bool:
            digest = hashlib.blake2b(key.encode(), digest_size=16).digest()
            known = digest in seen
            seen.add(digest)
            return not known

        for page in super().pages(answers, live):
            key = page.row["key"] if page.row else page.url
            if fresh(key):
                yield page
                continue
            # One gzip member may hold several records: then their places are the same, and a number tells them apart.
            place, number = f"{page.archive}:{page.offset}", 1
            other = place
            while not fresh(other):
                number += 1
                other = f"{place}+{number}"
            if page.row and page.url and page.row["key"] == page.url:
                first = "the first by archive and offset"
                yield SourcePage(dropped(other, "duplicate_page", key, first, kind="page", detail=f"{key} in {place}"))
            else:
                yield replace(page, row={**(page.row or {}), "key": other})


def read_archive_job(spec: dict[str, str], task: Task, folder: Path) -> None:
    """A job: the pages of one archive."""
    name = spec["name"]
    taken = Takedown.of(task.params["takedown"])
    budget = Budget(**task.params["budget"])
    archive = read_archive(input_path(spec, task), limit=budget.record_bytes, budget=budget)
    pages = (archive_to_page(found, name) for found in archive)
    write_pages(folder / PAGES_FILE, (redact_page(page, taken) for page in pages))


def archive_to_page(found: ArchivePage, archive: str) -> SourcePage:
    """A page of an archive with its ledger row, under the archive's name in the records, and that of the file in a WACZ."""
    archive = f"{archive}/{found.inner}" if found.inner else archive
    place = f"{archive}:{found.offset}"
    common: dict[str, Any] = {"archive": archive, "offset": found.offset}
    where = f"in {archive} at {found.offset}"
    if found.failure:
        about = " ".join(part for part in (_fold(found.url), where, _fold(found.detail)) if part)
        row = dropped(
            place, found.failure, _fold(found.detail)[:120] or found.failure, "a whole record", kind="page", detail=about
        )
        return SourcePage(row, **common)
    url = normalise(found.url)
    if url is None:
        return SourcePage(dropped(place, "unusable_url", _fold(found.url), "http or https", kind="page", detail=where), **common)
    if found.noindex:
        row = dropped(url, "noindex", "robots meta tag or header", "none", kind="page", detail=where)
        return SourcePage(row, url=url, **common)
    row = kept(url, kind="page", detail=f"{len(found.candidates)} images, {where}")
    return SourcePage(row, found.candidates, url, found.language, **common)


def _fold(text: str) -> str:
    """Text of a broken record, fit for a ledger."""
    return " ".join(text.encode("utf-8", "replace").decode().split())[:300]
