"""Where an image was found, as the ledger tells it: at a length that a page cannot choose."""

from __future__ import annotations

from components.stages.crawl.sources.found import SourcePage
from components.web.html.page import Candidate
from components.web.urls import host_of

LONGEST_SHOWN = 2048
"""Characters of an address that is told whole. A part of one could neither be searched for nor be found when it is taken down."""
CUT = 300
"""Characters kept of what a page says in the place of an address."""


def where_of(page: SourcePage, candidate: Candidate) -> str:
    """The address of an image, its page, and the place in an archive or table."""
    address, place = candidate.image_url, page.place
    if len(place) > LONGEST_SHOWN:
        place = (place.replace(page.url, _shown(page.url)) if page.url else place)[: LONGEST_SHOWN + CUT]
    return f"{_shown(address) if address else candidate.source[:CUT]} {place}".strip()


def _shown(address: str) -> str:
    """An address; of one too long, its host."""
    if len(address) <= LONGEST_SHOWN:
        return address
    return f"{address.partition(':')[0][:8]}://{host_of(address)[:CUT]}/… ({len(address)} characters)"
