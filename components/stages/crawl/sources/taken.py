"""Removal of taken-down pages, rows and images from source pages: they become ledger rows that contain hashes only.

Archives and tables pass through here before their pages are stored, so neither a cache nor a later run holds what is listed,
although the input files still do. The files are read again when the list changes. Out of scope: the takedown list
(``components.web.takedown_list``).
"""

from __future__ import annotations

from dataclasses import replace

from components.core.digests import sha256_bytes
from components.stages.crawl.sources.found import SourcePage, candidate_key
from components.web.html.page import Candidate
from components.web.redaction import redact, redact_row
from components.web.takedown_list import Takedown, takedown_row


def find_takedown_mark(page: SourcePage, candidate: Candidate, taken: Takedown) -> str:
    """Return the hash of the entry that lists an image by page, address or owner; '' for none."""
    return taken.url(page.url) or taken.url(candidate.image_url or "") or taken.owner(page.owner)


def hash_address(url: str | None) -> str:
    """Return the hash that stands for the address of an image that only a listed page or row may refer to (see ``orphans``)."""
    return sha256_bytes((url or "").encode())


def redact_page(page: SourcePage, taken: Takedown) -> SourcePage:
    """Return the page with listed content replaced by hashes; each listed image keeps the key of its record."""
    if not taken:
        return page
    mark = taken.url(page.url)
    url = taken.mask(page.url) if mark else page.url
    row = takedown_row(url, mark, kind="page") if mark else redact_row(page.row, taken) if page.row else None
    candidates = [_redact_candidate(page, candidate, taken) for candidate in page.candidates]
    if all(candidate.taken for candidate in candidates):
        return replace(page, row=row, candidates=candidates, url=url, owner="", post="", posted="", collected="", note="")
    return replace(page, row=row, candidates=candidates, url=url, note=redact(page.note, taken))


def _redact_candidate(page: SourcePage, candidate: Candidate, taken: Takedown) -> Candidate:
    if mark := find_takedown_mark(page, candidate, taken):
        stands_for = f"{candidate_key(page, candidate)} {mark} {hash_address(candidate.image_url)}"
        return Candidate(image_url=None, alt="", position=candidate.position, source="", taken=stands_for)
    return replace(candidate, source=redact(candidate.source, taken))
