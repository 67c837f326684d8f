"""Limits per page, image, archive record and host; what exceeds one is dropped by the rule named with it."""

from __future__ import annotations

from components.core.params import Positive, PositiveAmount, Settings


class Budget(Settings):
    """The limits on one item. All defaults are this project's choice; the papers state none."""

    page_seconds: PositiveAmount = 10.0
    """CPU seconds to read one page; above it the page is dropped (``page_over_budget``)."""
    page_memory: Positive = 1 << 30
    """Bytes of memory to read one page; above it the page is dropped (``page_over_budget``)."""
    page_images: Positive = 10_000
    """``<img>`` elements of one page; a page with more is dropped (``page_over_budget``)."""
    page_links: Positive = 50_000
    """Links followed from one page; further ones are ignored."""
    alt_characters: Positive = 10_000
    """Characters of one alt-text; an image with a longer one is dropped (``alt_too_long``)."""
    image_seconds: PositiveAmount = 10.0
    """CPU seconds to decode one image; above it the image is dropped (``image_over_budget``)."""
    image_memory: Positive = 1 << 30
    """Bytes of memory to decode one image; above it the image is dropped (``image_over_budget``)."""
    image_pixels: Positive = 89_000_000
    """px of one image; above it the image is dropped before it is decoded (``image_too_large``)."""
    image_side: Positive = 20_000
    """px of an image's larger side; above it the image is dropped before it is decoded (``image_too_large``)."""
    record_bytes: Positive = 1 << 24
    """Bytes of one archive record or of the page in it, decompressed; above it the record is dropped (``too_large``)."""
    crawl_delay: PositiveAmount = 60.0
    """Seconds of a robots.txt's Crawl-delay; a host that asks for more is not crawled (``crawl_delay``)."""
    host_failures: Positive = 10
    """Failures and slow answers of one host in a row; then its other URLs are dropped (``host_failing``) and may be retried."""
    slow_answer: PositiveAmount = 10.0
    """Seconds after which an answer counts as slow."""
