"""What a source finds, without what is taken down: pages, rows and images become ledger rows with hashes alone.

Archives and tables go through here before their findings are written, so that neither a cache nor a later run holds what is
listed, although their own files still do. Those files are read again when the list changes. Not in scope: the list
(``takedown``).
"""

from __future__ import annotations

from dataclasses import replace

from components.core.digests import sha256_bytes
from components.stages.crawl.sources.found import FoundPage, key_of
from components.stages.crawl.walk import Found
from components.web.html.page import Candidate
from components.web.redaction import clean, redact
from components.web.takedown_list import Takedown, taken_row


def mark_of(item: Found, taken: Takedown) -> str:
    """The hash of the entry that lists an image by its page, its address or its owner; '' when none does."""
    return taken.url(item.page_url) or taken.url(item.candidate.image_url or "") or taken.owner(item.owner)


def address_hash(url: str | None) -> str:
    """What stands for the address of a picture that nothing but a listed page or row may have shown (see ``orphans``)."""
    return sha256_bytes((url or "").encode())


def without_listed(page: FoundPage, taken: Takedown) -> FoundPage:
    """``page``, or of a listed one that it was there; its listed images likewise, each with the key of its record."""
    if not taken:
        return page
    found = [_without(item, taken) for item in page.found]
    if mark := taken.url(page.url):
        mask = taken.mask(page.url)
        return replace(page, row=taken_row(mask, mark, kind="page"), found=found, url=mask)
    return replace(page, row=clean(page.row, taken) if page.row else None, found=found)


def _without(item: Found, taken: Takedown) -> Found:
    if mark := mark_of(item, taken):
        blank = Candidate(image_url=None, alt="", position=item.candidate.position, source="")
        told = f"{key_of(item)} {mark} {address_hash(item.candidate.image_url)}"
        return replace(item, page_url="", candidate=blank, owner="", post="", posted="", collected="", note="", taken=told)
    candidate = replace(item.candidate, source=redact(item.candidate.source, taken))
    return replace(item, candidate=candidate, note=redact(item.note, taken))
