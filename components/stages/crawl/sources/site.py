"""Live site source: breadth-first from the seeds through the pages of the hosts (see ``walk``)."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from components.execution.stage import Stage
from components.stages.crawl.sources.found import Source, SourcePage
from components.stages.crawl.walk import walk
from components.web.answers import Answers
from components.web.fetch import Fetcher
from components.web.sitemaps import read_listed
from components.web.takedown_list import Takedown


class SiteSource(Source):
    """See :class:`components.stages.crawl.sources.found.Source`."""

    def __init__(self, stage: Stage, params: Any, home: Path, snapshot: Path, taken: Takedown) -> None:
        self._source = params.source

    def pages(self, answers: Answers, live: Fetcher | None) -> Iterator[SourcePage]:
        """Yield every page of the walk, sorted by address."""
        source = self._source

        def ensure(urls: Collection[str], depth: int) -> None:
            if live:
                live.ensure(urls, "page", {host.lower() for host in source.hosts}, f"pages {depth} links away")

        def ensure_listed(urls: Collection[str]) -> None:
            if live:
                live.ensure(urls, "sitemap", None, "sitemaps")

        listed = read_listed(answers, ensure_listed, source.seeds, source.max_pages) if source.sitemaps else None
        if live and listed:
            live.note_changes(listed.pages)
        pages = walk(
            answers, ensure, seeds=source.seeds, hosts=source.hosts, depth=source.depth, max_pages=source.max_pages, listed=listed
        )
        for url in sorted(pages):
            yield pages[url]

    def describe(self) -> dict[str, Any]:
        return {"seeds": sorted(self._source.seeds)}
