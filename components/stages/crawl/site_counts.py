"""Count how often an alt-text occurs on a site: what many images have belongs to the site's layout and describes none of them."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from components.stages.crawl.sources.source_pages import SourcePage
from components.web.html.context import Context, normalise
from components.web.html.page import Candidate
from components.web.urls import host_of


class SiteCounts:
    """Images by site (host) and alt-text, compared as words, over all pages of a snapshot.

    Memory: 8 bytes and a dictionary's entry for each distinct text of a site.
    """

    def __init__(self, pages: Iterable[SourcePage]) -> None:
        self._counts = Counter(
            _digest(page, candidate) for page in pages for candidate in page.candidates if candidate.context is not None
        )

    def context(self, page: SourcePage, candidate: Candidate) -> Context | None:
        """Return a candidate's context with the count of its site; None for a candidate without context."""
        if candidate.context is None:
            return None
        return replace(candidate.context, site_count=self._counts[_digest(page, candidate)])


def _digest(page: SourcePage, candidate: Candidate) -> bytes:
    return hashlib.blake2b(f"{host_of(page.url)}\n{normalise(candidate.alt)}".encode(), digest_size=8).digest()
