"""How the web is asked: politeness, patience and limits. They are part of the crawl's parameters."""

from __future__ import annotations

from components.core.params import Settings
from components.web.budget import Budget


class FetchSettings(Settings):
    """What the fetcher goes by."""

    per_host: int
    """Requests in flight to one host."""
    connections: int
    """Requests in flight in all."""
    delay: float
    """Seconds between the starts of two requests to one host; a robots.txt may ask for more."""
    connect_timeout: float
    """Seconds to get a connection."""
    timeout: float
    """Seconds for one request, its body included."""
    retries: int
    """How often a timeout, a lost connection or a 429/5xx answer is asked about again."""
    backoff: float
    """Seconds before the first retry; doubled for each further one."""
    max_page_bytes: int
    """Bytes of a page, decompressed; a larger one is dropped."""
    max_image_bytes: int
    """Bytes of an image; a larger one is dropped."""
    min_side: int
    """px of an image's smaller side; a smaller one is dropped before its body is fetched. 0: any."""
    max_aspect: float
    """An image's larger side by its smaller one; above it, it is dropped before its body is fetched. 0: any."""
    user_agent: str
    """The robot's product token, which robots.txt rules go by."""
    contact: str
    """A URL or mail address where the crawl's owner is reached; sent with every request."""
    allow_private: bool
    """Whether addresses of private networks may be asked."""
    max_retry_after: float
    """Seconds a host that answers 429 or 503 is waited for at its own word; one that asks for more is left alone."""
    budget: Budget = Budget()
    """What one page, image, archive record or host may cost."""
