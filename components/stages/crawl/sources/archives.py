"""Web archive source: pages of WARC, WAT and WACZ files, in the order of the files and of their records.

The first capture of a page is used; each further capture is a ledger row. An unreadable part of an archive is a ledger row with
its class, and reading continues.
"""

from __future__ import annotations

import hashlib
import logging
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from components.core.ledger import kept
from components.execution.stage import Job, Task
from components.stages.crawl.sources.consent import read_consent, require_consent
from components.stages.crawl.sources.inputs import FileSource, input_path, write_found
from components.stages.crawl.sources.source_pages import SourcePage, chunk_pages
from components.web.answers import Answers, NotFetched
from components.web.archives import ArchivePage, read_archive, summarize
from components.web.budget import Budget
from components.web.fetch import Fetcher
from components.web.urls import normalise

_log = logging.getLogger(__name__)
BUDGET_SETTINGS = ("record_bytes", "page_seconds", "page_memory", "page_images")
"""Budget settings that affect what is read from an archive; the others do not cause archives to be read again."""


class ArchivesSource(FileSource):
    """See :class:`components.stages.crawl.sources.source_pages.Source`."""

    of_sites = True

    def read(self, jobs: list[Job]) -> list[Path]:
        budget = {name: getattr(self.params.budget, name) for name in BUDGET_SETTINGS}
        return self.run_jobs(read_archive_job, jobs, budget=budget, agent=self.params.user_agent)

    def pages(self, answers: Answers, live: Fetcher | None) -> Iterator[SourcePage]:
        """Yield every page record; a live run only requests what the hosts of pages state, and a replay judges by it."""
        asks_hosts = answers.consent.tdmrep or answers.consent.opt_in
        for chunk in chunk_pages(read_consent(answers, page) for page in self._first_captures(answers, live)):
            if live and asks_hosts:
                live.ensure([page.url for page in chunk if page.candidates], "robots", None, "hosts of pages", wait=False)
            yield from chunk if live else (_judge(answers, page) for page in chunk)

    def _first_captures(self, answers: Answers, live: Fetcher | None) -> Iterator[SourcePage]:
        """Yield each page once, and a row for each further capture (memory: 16 bytes and the set's overhead per page)."""
        seen: set[bytes] = set()

        def add_key(key: str) -> bool:
            digest = hashlib.blake2b(key.encode(), digest_size=16).digest()
            is_known = digest in seen
            seen.add(digest)
            return not is_known

        for page in super().pages(answers, live):
            key = page.row["key"] if page.row else page.url
            if live and page.row and page.row["rule"] == "no_page":
                _log.warning("%s: %s", page.archive, page.row["value"])
            if add_key(key):
                yield page
                continue
            # Records in one gzip member share an offset; a number makes their keys unique.
            location, number = f"{page.archive}:{page.offset}", 1
            unique_key = location
            while not add_key(unique_key):
                number += 1
                unique_key = f"{location}+{number}"
            if page.row and page.url and page.row["key"] == page.url:
                reason = "the first by archive and offset"
                yield SourcePage.drop(unique_key, "duplicate_page", key, reason, f"{key} in {location}")
            else:
                yield replace(page, row={**(page.row or {}), "key": unique_key})


def _judge(answers: Answers, page: SourcePage) -> SourcePage:
    try:
        return require_consent(answers, page) if page.candidates else page
    except NotFetched:
        if answers.consent.opt_in:
            raise
        return page  # in a snapshot of a version that asked the hosts of images alone


def read_archive_job(spec: dict[str, str], task: Task, folder: Path) -> None:
    """Job: write the pages of one archive."""
    budget = Budget(**task.params["budget"])
    agent = task.params["agent"]
    write_found(folder, task, _read_pages(input_path(spec, task), spec["name"], budget, agent))


def _read_pages(path: str, archive: str, budget: Budget, agent: str) -> Iterator[SourcePage]:
    """Yield the pages of one archive, then a ledger row that counts the records without a page, or says that it has no page."""
    skipped, readable = Counter[str](), Counter[bool]()
    for record in read_archive(path, budget=budget, agent=agent, skipped=skipped):
        readable[not record.failure] += 1
        yield archive_to_page(record, archive)
    if skipped or not readable:
        rule = "not_html" if readable[True] else "no_page"
        yield SourcePage.drop(archive, rule, summarize(readable[True], skipped), "HTML", f"in {archive}", archive=archive)


def archive_to_page(record: ArchivePage, archive: str) -> SourcePage:
    """Return an archive record as a source page with its ledger row; for a WACZ the location includes the inner file."""
    archive = f"{archive}/{record.inner}" if record.inner else archive
    location = f"{archive}:{record.offset}"
    common: dict[str, Any] = {"archive": archive, "offset": record.offset}
    where = f"in {archive} at {record.offset}"
    if record.failure:
        detail = " ".join(part for part in (_fold(record.url), where, _fold(record.detail)) if part)
        value = _fold(record.detail)[:120] or record.failure
        return SourcePage.drop(location, record.failure, value, "a whole record", detail, **common)
    url = normalise(record.url)
    if url is None:
        return SourcePage.drop(location, "unusable_url", _fold(record.url), "http or https", where, **common)
    row = kept(url, kind="page", detail=f"{len(record.candidates)} images, {where}")
    return SourcePage(row, record.candidates, url, record.language, statements=record.statements, **common)


def _fold(text: str) -> str:
    """Return text of a broken record as one line of at most 300 characters."""
    return " ".join(text.encode("utf-8", "replace").decode().split())[:300]
