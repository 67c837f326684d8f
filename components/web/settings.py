"""Settings of requests to the web: delays, timeouts, retries and limits; part of the crawl's parameters."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from components.core.params import Amount, NotNegative, Positive, PositiveAmount, Settings
from components.web.budget import Budget


class SampleWeb(Settings):
    """The demo's sample web."""

    kind: Literal["sample"] = "sample"
    """The fetched packages, served on loopback."""


class FolderWeb(Settings):
    """A folder as the web."""

    kind: Literal["folder"] = "folder"
    """The hosts below ``root``, served on loopback."""
    root: str = ""
    """The folder of <host>/ folders, relative to the project."""


class OpenWeb(Settings):
    """The web itself."""

    kind: Literal["open"] = "open"
    """The web itself; needs ``contact``."""
    proxy: str = ""
    """The HTTP proxy to go through (it then has to refuse private addresses); empty: none."""


Web = Annotated[SampleWeb | FolderWeb | OpenWeb, Field(discriminator="kind")]


class FetchSettings(Settings):
    """Settings of the fetcher."""

    per_host: Positive = 2
    """Concurrent requests to one host. Ours; raise it only for your own site."""
    connections: Positive = 16
    """Requests in flight in all. Ours."""
    delay: Amount = 1.0
    """Seconds between the starts of two requests to one host; a robots.txt may ask for more. Ours."""
    connect_timeout: PositiveAmount = 5.0
    """Seconds to get a connection. Ours."""
    timeout: PositiveAmount = 20.0
    """Seconds for one request, its body included. Ours."""
    retries: NotNegative = 2
    """Retries after a timeout, a lost connection or a 429 or 5xx response. Ours."""
    backoff: Amount = 0.5
    """Seconds before the first retry; doubled for each further one. Ours."""
    max_page_bytes: Positive = 5_000_000
    """Bytes of a page, decompressed; a larger one is dropped. Ours."""
    max_image_bytes: Positive = 20_000_000
    """Bytes of an image; a larger one is dropped. Ours."""
    min_side: NotNegative = 0
    """px of an image's smaller side; a smaller one is dropped before its body is fetched. 0: any. Ours: ``filter`` decides."""
    max_aspect: Amount = 0.0
    """An image's larger side by its smaller one; above it, it is dropped before its body is fetched. 0: any. Ours: ``filter``
    decides."""
    user_agent: str = "hearsight"
    """Product token of the crawler, matched against robots.txt groups. Ours."""
    contact: str = ""
    """A URL or mail address where the crawl's owner is reached; sent with every request."""
    allow_private: bool = False
    """Whether addresses of private networks may be asked. Ours."""
    max_retry_after: Amount = 60.0
    """Maximum Retry-After (429, 503) that is waited for, in seconds; a host asking for more is dropped. Ours;
    Mastodon's limits are renewed every 300 s."""
    budget: Budget = Budget()
    """Limits per page, image, archive record and host."""
