"""Choice of the posts provider that the settings name; exported files need none."""

from __future__ import annotations

from components.stages.crawl.posts.instagram import Instagram
from components.stages.crawl.posts.mastodon import Mastodon
from components.stages.crawl.posts.provider import Provider
from components.stages.crawl.posts.settings import InstagramSettings, MastodonSettings


def create_provider(settings: MastodonSettings | InstagramSettings, max_pages: int, *, live: bool) -> Provider:
    """Create the provider that the settings name.

    Args:
        max_pages: maximum pages of one timeline or listing.
        live: whether it sends requests; only then the token is read.

    Raises:
        HearsightError: the token's variable is not set.
    """
    token = settings.token() if live else ""
    if settings.provider == "instagram":
        return Instagram(settings, max_pages, token)
    return Mastodon(settings, max_pages, token)
