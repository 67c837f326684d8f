"""What a source finds, without what is taken down: pages, rows and images become ledger rows with hashes alone.

Archives and tables go through here before their findings are written, so that neither a cache nor a later run holds what is
listed, although their own files still do. Those files are read again when the list changes. Not in scope: the list
(``takedown``).
"""

from __future__ import annotations

from dataclasses import replace

from components.crawl.html import Candidate
from components.crawl.naming import clean, redact
from components.crawl.sources.found import FoundPage, key_of
from components.crawl.takedown import Takedown, taken_row
from components.crawl.walk import Found


def mark_of(item: Found, taken: Takedown) -> str:
    """The hash of the entry that lists an image by its page, its address or its owner; '' when none does."""
    return taken.url(item.page_url) or taken.url(item.candidate.image_url or "") or taken.owner(item.owner)


def without_listed(page: FoundPage, taken: Takedown) -> FoundPage:
    """``page``, or of a listed one that it was there; its listed images likewise, each with the key of its record."""
    if not taken:
        return page
    if mark := taken.url(page.url):
        mask = taken.mask(page.url)
        return FoundPage(taken_row(mask, mark, kind="page"), [], mask, page.archive, page.offset)
    row = clean(page.row, taken) if page.row else None
    return replace(page, row=row, found=[_without(item, taken) for item in page.found])


def _without(item: Found, taken: Takedown) -> Found:
    if mark := mark_of(item, taken):
        blank = Candidate(image_url=None, alt="", position=item.candidate.position, source="")
        return replace(item, candidate=blank, owner="", note="", taken=f"{key_of(item)} {mark}")
    candidate = replace(item.candidate, source=redact(item.candidate.source, taken))
    return replace(item, candidate=candidate, note=redact(item.note, taken))
