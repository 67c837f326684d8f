"""Settings of ``crawl.posts``, and their checks beyond types."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any, Literal
from urllib.parse import urlsplit

from components.core.errors import HearsightError
from components.core.params import Settings
from components.web.urls import normalise

Wrong = Callable[[str, str, str], HearsightError]
_TAG = re.compile(r"\w+")
_DIGITS = re.compile(r"\d{1,30}")


class PostsSettings(Settings):
    """Where posts come from and how far they are followed."""

    provider: Literal["mastodon", "instagram", "jsonl"]
    """mastodon: a server with Mastodon's API; instagram: the Graph API; jsonl: exported posts, the files of crawl.inputs."""
    server: str
    """The API's address: https://example.social, https://graph.facebook.com/v23.0; empty for jsonl."""
    tag: str
    """The hashtag, without #."""
    variants: list[str]
    """Other hashtags that mean the same; each is searched, and each account is asked for each."""
    profiles: list[str]
    """Accounts visited besides those found: user@host, or Instagram's user names."""
    local: bool
    """For mastodon: only accounts of the server itself."""
    user: str
    """For instagram: the identifier of the Instagram account that asks; else empty."""
    window_days: float
    """How far back the tag's timeline is searched for accounts, from the time of its first answer."""
    relist_days: float
    """Days after which an account's posts are listed whole again; between, newest first until nothing is new. 0: always whole."""
    page_size: int
    """Posts asked for at a time."""
    token_variable: str
    """The environment variable that holds the token; empty: none is sent."""

    @property
    def tags(self) -> list[str]:
        """The hashtag and its variants, each once."""
        return list(dict.fromkeys([self.tag, *self.variants]))

    def token(self) -> str:
        """The token out of the environment; '' when none is to be sent.

        Raises:
            HearsightError: the variable is not set, or holds what cannot be a token.
        """
        if not self.token_variable:
            return ""
        token = os.environ.get(self.token_variable, "").strip()
        if len(token) < 8 or not token.isascii() or not token.isprintable() or " " in token:
            what = "is not set" if not token else "holds no token"  # the value itself is never told
            raise HearsightError(what, where=f"${self.token_variable}", hint="put the API's access token into it")
        return token


def sound_posts(params: Any, wrong: Wrong) -> None:
    """Check ``crawl.posts`` against its provider; raises what ``wrong`` creates."""
    posts: PostsSettings = params.posts
    for tag in posts.tags:
        if not _TAG.fullmatch(tag) or tag.isdigit():
            raise wrong("posts.tag", f"'{tag}' is not a hashtag", "give letters, digits and _, without the #")
    for name in ("window_days", "relist_days"):
        if not 0 <= getattr(posts, name) <= 100_000:
            raise wrong(f"posts.{name}", "is not between 0 and 100000", "give a number of days")
    if not 1 <= posts.page_size <= 100:
        raise wrong("posts.page_size", "is not between 1 and 100", "give 40")
    if posts.provider == "jsonl":
        _check_export(params, posts, wrong)
        return
    url = normalise(posts.server)
    if url is None or urlsplit(url).query or "access_token" in posts.server or "@" in posts.server:
        raise wrong("posts.server", f"'{posts.server}' is not the address of an API", "give it as https://host, without more")
    if params.inputs:
        raise wrong("inputs", f"is set, but provider: {posts.provider} does not read it", "empty it")
    if posts.token_variable and url.startswith("http:") and params.web == "open" and not params.proxy:
        raise wrong("posts.server", "would send the token unencrypted", "give its https address")
    if posts.provider == "instagram":
        if not _DIGITS.fullmatch(posts.user):
            raise wrong("posts.user", "names no Instagram account", "give the identifier of the account that asks, digits")
        if posts.local:
            raise wrong("posts.local", "is set, but provider: instagram does not read it", "set it to false")
        if not posts.token_variable:
            raise wrong("posts.token_variable", "is empty, and the Graph API asks for a token", "name an environment variable")
    elif posts.user:
        raise wrong("posts.user", f"is set, but provider: {posts.provider} does not read it", "empty it")


def _check_export(params: Any, posts: PostsSettings, wrong: Wrong) -> None:
    if not params.inputs:
        raise wrong("inputs", "is empty", "name at least one file for provider: jsonl")
    if params.base:
        raise wrong("base", "is set, but exported posts are not crawled again", "empty it")
    for name in ("server", "user", "profiles", "local", "token_variable"):
        if getattr(posts, name):
            raise wrong(f"posts.{name}", "is set, but provider: jsonl does not read it", "empty it")
