"""What a source finds, without what is taken down: pages, rows and images become ledger rows with hashes alone.

Archives and tables go through here before their findings are written, so that neither a cache nor a later run holds what is
listed, although their own files still do. Those files are read again when the list changes. Not in scope: the list
(``takedown``).
"""

from __future__ import annotations

from dataclasses import replace

from components.core.digests import sha256_bytes
from components.stages.crawl.sources.found import SourcePage, candidate_key
from components.web.html.page import Candidate
from components.web.redaction import clean, redact
from components.web.takedown_list import Takedown, taken_row


def find_takedown_mark(page: SourcePage, candidate: Candidate, taken: Takedown) -> str:
    """The hash of the entry that lists an image by its page, its address or its owner; '' when none does."""
    return taken.url(page.url) or taken.url(candidate.image_url or "") or taken.owner(page.owner)


def hash_address(url: str | None) -> str:
    """What stands for the address of a picture that nothing but a listed page or row may have shown (see ``orphans``)."""
    return sha256_bytes((url or "").encode())


def redact_page(page: SourcePage, taken: Takedown) -> SourcePage:
    """``page``, or of a listed one that it was there; its listed images likewise, each with the key of its record."""
    if not taken:
        return page
    mark = taken.url(page.url)
    url = taken.mask(page.url) if mark else page.url
    row = taken_row(url, mark, kind="page") if mark else clean(page.row, taken) if page.row else None
    candidates = [_without(page, candidate, taken) for candidate in page.candidates]
    if all(candidate.taken for candidate in candidates):
        return replace(page, row=row, candidates=candidates, url=url, owner="", post="", posted="", collected="", note="")
    return replace(page, row=row, candidates=candidates, url=url, note=redact(page.note, taken))


def _without(page: SourcePage, candidate: Candidate, taken: Takedown) -> Candidate:
    if mark := find_takedown_mark(page, candidate, taken):
        stands_for = f"{candidate_key(page, candidate)} {mark} {hash_address(candidate.image_url)}"
        return Candidate(image_url=None, alt="", position=candidate.position, source="", taken=stands_for)
    return replace(candidate, source=redact(candidate.source, taken))
