"""Sources of candidates: a live site, web archives, the table of an existing set, or a hashtag's posts (``crawl.source``).

Each source is one small class that yields source pages with their images in a fixed order. All later steps (checking images,
fetching them, writing records) are shared. The settings and the source of each kind: ``source_kinds``.
Out of scope: what becomes of an image.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from components.stages.crawl.sources.found import SourcePage
    from components.web.answers import Answers
    from components.web.fetch import Fetcher


class Source(Protocol):
    """One way to find pages with images."""

    def pages(self, answers: Answers, live: Fetcher | None) -> Iterator[SourcePage]:
        """Yield the pages in a fixed order; with a fetcher, fetch what the snapshot lacks on the way.

        Raises:
            HearsightError: an input is missing or not what the parameters state.
            NotFetched: without a fetcher, the snapshot lacks an answer.
        """

    def fetch_images(self, urls: Collection[str], live: Fetcher) -> None:
        """Request the images; the last outcomes may arrive with later calls."""

    def describe(self) -> dict[str, Any]:
        """Return what the snapshot's ``COMPLETE`` file states about the source."""

    def digest(self, snapshot: str) -> str:
        """Return the digest of everything the records depend on: that of the snapshot and those of the files read, if any."""
