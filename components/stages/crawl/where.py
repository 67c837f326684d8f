"""Location of an image as ledger rows state it, with a length limit that page content cannot exceed."""

from __future__ import annotations

from components.stages.crawl.sources.found import SourcePage
from components.web.html.page import Candidate
from components.web.urls import host_of

MAX_SHOWN_ADDRESS = 2048
"""Characters of an address that is shown in full. A truncated one could neither be searched for nor matched by a takedown."""
MAX_SHOWN_TEXT = 300
"""Characters kept of page text that stands in place of an address."""


def describe_location(page: SourcePage, candidate: Candidate) -> str:
    """Return the image address followed by its page and its position in an archive or table."""
    address, location = candidate.image_url, page.location
    if len(location) > MAX_SHOWN_ADDRESS:
        location = (location.replace(page.url, _shorten(page.url)) if page.url else location)[
            : MAX_SHOWN_ADDRESS + MAX_SHOWN_TEXT
        ]
    return f"{_shorten(address) if address else candidate.source[:MAX_SHOWN_TEXT]} {location}".strip()


def _shorten(address: str) -> str:
    """Return the address; scheme, host and length of one over ``MAX_SHOWN_ADDRESS``."""
    if len(address) <= MAX_SHOWN_ADDRESS:
        return address
    return f"{address.partition(':')[0][:8]}://{host_of(address)[:MAX_SHOWN_TEXT]}/… ({len(address)} characters)"
