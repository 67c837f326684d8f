"""The settings of ``crawl.source``: one class for each kind of source, and the checks of posts that types alone do not make."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import Field

from components.core.errors import HearsightError
from components.core.params import Settings
from components.web.urls import normalise


class Site(Settings):
    """Live pages, breadth-first from the seeds."""

    kind: Literal["site"] = "site"
    """Live pages."""
    seeds: list[str] = []
    """The pages to begin with; at least one."""
    hosts: list[str] = []
    """The hosts whose pages are crawled; images may come from anywhere."""
    depth: int = 8
    """Links followed from a seed. Ours."""
    max_pages: int = 10_000
    """Pages asked for in all. Ours; CC §3 has "billions of webpages"."""
    sitemaps: bool = True
    """Whether the pages that the hosts' sitemaps list are begun with, besides the seeds. Ours."""


class Files(Settings):
    """What every source that reads files shares."""

    inputs: list[str] = []
    """Files, globs, path lists (.paths, .paths.gz), s3:// addresses; relative to the project; at least one."""
    input_prefix: str = ""
    """For path lists: what their relative paths are put behind (s3://commoncrawl); empty: the list's bucket, or the project."""
    sample: int = 0
    """How many of the inputs to draw without replacement; 0: all. Ours."""
    sample_seed: int = 0
    """The seed of that draw. Ours."""


class Archives(Files):
    """WARC, WAT and WACZ files."""

    kind: Literal["archives"] = "archives"
    """Web archives."""


class Table(Files):
    """The files of an existing set of images and captions."""

    kind: Literal["table"] = "table"
    """The table of an existing set."""
    layout: str = ""
    """tsv, cc3m, cc3m_labels, cc12m, coco, karpathy, flickr8k, flickr30k, pracegover, pracegover_raw, stamps: docs/sources.md."""
    image_folder: str = ""
    """The folder of the images, relative to the project, where the layout names files; else empty."""
    language: str = ""
    """The language of the captions, ISO 639-1, where the layout's rows do not tell theirs; else empty."""
    languages: list[str] = []
    """The languages that are taken, where the layout's rows tell theirs (stamps); else empty."""


Wrong = Callable[[str, str, str], HearsightError]
_TAG = re.compile(r"\w+")
_DIGITS = re.compile(r"\d{1,30}")


class Hashtag(Settings):
    """What every source of posts shares."""

    kind: Literal["posts"] = "posts"
    """The posts of a hashtag."""
    tag: str = "pracegover"
    """The hashtag, without #. PCV §4.1: pracegover."""
    variants: list[str] = []
    """Other hashtags that mean the same; each is searched, and each account is asked for each."""

    @property
    def tags(self) -> list[str]:
        """The hashtag and its variants, each once."""
        return list(dict.fromkeys([self.tag, *self.variants]))


class PostsSettings(Hashtag):
    """What every API of posts shares: where it is and how far accounts are followed."""

    server: str = ""
    """The API's address: https://example.social, https://graph.facebook.com/v23.0; has to be given."""
    profiles: list[str] = []
    """Accounts visited besides those found: user@host, or Instagram's user names."""
    window_days: float = 7.0
    """How far back the tag's timeline is searched for accounts, from the time of its first answer. PCV §4.1: 7."""
    relist_days: float = 0.0
    """Days after which an account's posts are listed whole again; between, newest first until nothing is new. 0: always whole.
    Ours."""
    page_size: int = 40
    """Posts asked for at a time. Ours: what Mastodon gives at most."""
    max_pages: int = 1000
    """Pages of one timeline or of one account's listing. Ours."""
    token_variable: str = ""
    """The environment variable that holds the token, never the token itself; empty: none is sent."""

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


class MastodonSettings(PostsSettings):
    """A server with Mastodon's API."""

    provider: Literal["mastodon"] = "mastodon"
    """A server with Mastodon's API."""
    local: bool = False
    """Only accounts of the server itself. Ours."""


class InstagramSettings(PostsSettings):
    """The Graph API."""

    provider: Literal["instagram"] = "instagram"
    """The Graph API."""
    user: str = ""
    """The identifier of the Instagram account that asks; has to be given."""


class ExportedSettings(Hashtag, Files):
    """Files of exported posts."""

    provider: Literal["jsonl"] = "jsonl"
    """Exported posts, one a line."""


Posts = Annotated[MastodonSettings | InstagramSettings | ExportedSettings, Field(discriminator="provider")]


def sound_posts(params: Any, wrong: Wrong) -> None:
    """Check ``crawl.source`` of kind posts against its provider; raises what ``wrong`` creates."""
    posts: Hashtag = params.source
    for tag in posts.tags:
        if not _TAG.fullmatch(tag) or tag.isdigit():
            raise wrong("source.tag", f"'{tag}' is not a hashtag", "give letters, digits and _, without the #")
    if not isinstance(posts, PostsSettings):
        if params.base:
            raise wrong("base", "is set, but exported posts are not crawled again", "empty it")
        return
    for name in ("window_days", "relist_days"):
        if not 0 <= getattr(posts, name) <= 100_000:
            raise wrong(f"source.{name}", "is not between 0 and 100000", "give a number of days")
    if not 1 <= posts.page_size <= 100:
        raise wrong("source.page_size", "is not between 1 and 100", "give 40")
    url = normalise(posts.server)
    if url is None or urlsplit(url).query or "access_token" in posts.server or "@" in posts.server:
        raise wrong("source.server", f"'{posts.server}' is not the address of an API", "give it as https://host, without more")
    if posts.token_variable and url.startswith("http:") and params.web.kind == "open" and not params.web.proxy:
        raise wrong("source.server", "would send the token unencrypted", "give its https address")
    if isinstance(posts, InstagramSettings):
        if not _DIGITS.fullmatch(posts.user):
            raise wrong("source.user", "names no Instagram account", "give the identifier of the account that asks, digits")
        if not posts.token_variable:
            raise wrong("source.token_variable", "is empty, and the Graph API asks for a token", "name an environment variable")
