"""Where candidates come from: a live site, web archives, the table of an existing set, or a hashtag's posts (``crawl.source``).

Each source is one small class that tells, in a fixed order, the pages it found with their images; everything after that
(judging, fetching images, writing records) is the same for all of them. Not in scope: what becomes of an image.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from components.stages.crawl.sources.found import SourcePage

if TYPE_CHECKING:
    from components.execution.stage import Stage
    from components.web.answers import Answers
    from components.web.fetch import Fetcher
    from components.web.takedown_list import Takedown

__all__ = ["Source", "SourcePage", "create_source"]


class Source(Protocol):
    """One way to find pages."""

    def pages(self, answers: Answers, live: Fetcher | None) -> Iterator[SourcePage]:
        """The pages found, in a fixed order; with a fetcher, what the snapshot lacks of them is fetched on the way.

        Raises:
            HearsightError: an input is missing, or is not what the parameters say it is.
            NotFetched: without a fetcher, the snapshot lacks an answer.
        """

    def fetch_images(self, urls: Collection[str], live: Fetcher) -> None:
        """Have the snapshot filled with the outcome of each image; the last ones may come with later calls."""

    def describe(self) -> dict[str, Any]:
        """What the snapshot's ``COMPLETE`` says of the source."""

    def digest(self, snapshot: str) -> str:
        """The digest of all that the records are made of: the snapshot's, and that of the files read, if any."""


def create_source(stage: Stage, params: Any, home: Path, snapshot: Path, taken: Takedown) -> Source:
    """The source that ``crawl.source`` names, over the snapshot in that folder, without what is taken down."""
    if params.source == "archives":
        from components.stages.crawl.sources.archives import ArchivesSource

        return ArchivesSource(stage, params, home, snapshot, taken)
    if params.source == "table":
        from components.stages.crawl.sources.table import TableSource

        return TableSource(stage, params, home, snapshot, taken)
    if params.source == "posts" and params.posts.provider == "jsonl":
        from components.stages.crawl.posts.exported import ExportedSource

        return ExportedSource(stage, params, home, snapshot, taken)
    if params.source == "posts":
        from components.stages.crawl.sources.posts import PostsSource

        return PostsSource(stage, params, taken)
    from components.stages.crawl.sources.site import SiteSource

    return SiteSource(params)
