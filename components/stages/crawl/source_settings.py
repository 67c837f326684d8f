"""The settings of ``crawl.source``: one class for each kind of source."""

from __future__ import annotations

import os
import re
from typing import Annotated, Any, ClassVar, Literal
from urllib.parse import urlsplit

from pydantic import Field

from components.core.errors import HearsightError
from components.core.params import NotNegative, Positive, Settings
from components.stages.crawl.sources.layouts import Quotes, layout_named
from components.web.urls import normalise


class SourceSettings(Settings):
    """What every kind of source states about itself; each has a setting ``kind`` with one value."""

    takes_base: ClassVar[bool] = False
    """Whether it is crawled again, on top of the snapshot ``crawl.base``."""
    holds_times: ClassVar[bool] = False
    """Whether its records hold times of requests, which the digests of snapshots do not cover."""

    @property
    def is_local(self) -> bool:
        """Whether no web server is asked, for pages or images."""
        return False

    @property
    def first_urls(self) -> list[str]:
        """What is asked first, as the settings give it."""
        return []

    def check_within(self, params: Any, where: str) -> None:
        """Raise HearsightError for the first value that does not fit all parameters of crawl; ``where`` names their block."""


def wrong_setting(where: str, name: str, what: str, hint: str) -> HearsightError:
    """Return the error for the setting ``name`` of a source."""
    return HearsightError(what, where=f"{where}.{name}", hint=hint)


class Site(SourceSettings):
    """Live pages, breadth-first from the seeds."""

    takes_base: ClassVar[bool] = True

    kind: Literal["site"] = "site"
    """Live pages."""
    seeds: list[str] = []
    """The pages to begin with; at least one."""
    hosts: list[str] = []
    """The hosts whose pages are crawled; images may come from anywhere."""
    depth: NotNegative = 8
    """Links followed from a seed. Ours."""
    max_pages: Positive = 10_000
    """Pages asked for in all. Ours; CC §3 has "billions of webpages"."""
    sitemaps: bool = True
    """Whether pages in the hosts' sitemaps are start pages too, besides the seeds. Ours."""

    def check(self, where: str) -> None:
        """Require a seed."""
        if not self.seeds:
            raise wrong_setting(where, "seeds", "is empty", "name at least one page")

    @property
    def first_urls(self) -> list[str]:
        """The seeds."""
        return self.seeds


class Files(SourceSettings):
    """What every source that reads files shares."""

    inputs: list[str] = []
    """Files, globs, path lists (.paths, .paths.gz), s3:// addresses; relative to the project; at least one."""
    input_prefix: str = ""
    """For path lists: prefix of relative paths (s3://commoncrawl); empty: the list's bucket, or the project's root."""
    sample: NotNegative = 0
    """How many of the inputs to draw without replacement; 0: all. Ours."""
    sample_seed: int = 0
    """The seed of that draw. Ours."""

    def check(self, where: str) -> None:
        """Require an input."""
        if not self.inputs:
            raise wrong_setting(where, "inputs", "is empty", "name at least one file")


class Archives(Files):
    """WARC, WAT and WACZ files."""

    kind: Literal["archives"] = "archives"
    """Web archives."""


class Table(Files):
    """The files of an existing set of images and captions."""

    kind: Literal["table"] = "table"
    """The table of an existing set."""
    layout: str = ""
    """Name of the files' layout: docs/cli.md#table-layouts."""
    image_folder: str = ""
    """The folder of the images, relative to the project; empty for the table's own folder, or where rows have addresses."""
    language: str = ""
    """The language of the captions, ISO 639-1, where the layout's rows do not tell theirs; else empty."""
    languages: list[str] = []
    """Languages to keep, for layouts whose rows state a language (stamps); else empty."""
    quotes: Quotes = "auto"
    """Whose the quotation marks around cells are: a spreadsheet's (undone), the captions' (none), or as each file shows. Ours."""

    @property
    def is_local(self) -> bool:
        """Whether the images are files."""
        return bool(self.image_folder) or layout_named(self.layout).folder_optional

    def check(self, where: str) -> None:
        """Require an input, and what the layout needs."""
        super().check(where)
        layout = layout_named(self.layout, f"{where}.layout")
        if layout.has_languages != bool(self.languages):
            what = "is empty, but its rows have languages" if layout.has_languages else "is set, but its rows have no language"
            raise wrong_setting(where, "languages", f"{what} (layout: {self.layout})", "name those to take, or leave it out")
        if layout.has_languages:
            if self.language:
                raise wrong_setting(where, "language", "is set, and source.languages as well", "leave it out")
        elif len(self.language) != 2 or not self.language.isalpha() or not self.language.isascii():
            hint = "give the captions' language as ISO 639-1, e.g. en"
            raise wrong_setting(where, "language", f"'{self.language}' is no language", hint)
        if self.image_folder and not layout.has_files:
            raise wrong_setting(where, "image_folder", f"is set, but layout: {self.layout} names images by address", "empty it")
        if not self.image_folder and not layout.has_urls and not layout.folder_optional:
            what = f"is empty, and layout: {self.layout} names images by file"
            raise wrong_setting(where, "image_folder", what, "name the folder of the images")


_TAG = re.compile(r"\w+")
_DIGITS = re.compile(r"\d{1,30}")
MOST_DAYS = 100_000
"""Days that date arithmetic allows."""


class Hashtag(SourceSettings):
    """What every source of posts shares."""

    takes_base: ClassVar[bool] = True
    holds_times: ClassVar[bool] = True

    kind: Literal["posts"] = "posts"
    """The posts of a hashtag."""
    tag: str = "pracegover"
    """The hashtag, without #. PCV §4.1: pracegover."""
    variants: list[str] = []
    """Equivalent hashtags; timelines and accounts are searched for each of them."""

    @property
    def tags(self) -> list[str]:
        """The hashtag and its variants, each once."""
        return list(dict.fromkeys([self.tag, *self.variants]))

    def check(self, where: str) -> None:
        """Require hashtags."""
        super().check(where)
        for tag in self.tags:
            if not _TAG.fullmatch(tag) or tag.isdigit():
                raise wrong_setting(where, "tag", f"'{tag}' is not a hashtag", "give letters, digits and _, without the #")


class PostsSettings(Hashtag):
    """What every API of posts shares: where it is and how far accounts are followed."""

    server: str = ""
    """The API's address: https://example.social, https://graph.facebook.com/v23.0; has to be given."""
    accounts: list[str] = []
    """Accounts visited besides those found: user@host, or Instagram's user names."""
    window_days: Annotated[float, Field(ge=0, le=MOST_DAYS)] = 7.0
    """How far back the tag's timeline is searched for accounts, from the time of its first answer. PCV §4.1: 7."""
    relist_days: Annotated[float, Field(ge=0, le=MOST_DAYS)] = 0.0
    """Days after which all posts of an account are listed again; before that, only new ones. 0: always all.
    Ours."""
    page_size: int = 40
    """Posts asked for at a time. Ours: what Mastodon gives at most."""
    max_pages: Positive = 1000
    """Pages of one timeline or of one account's listing. Ours."""
    token_variable: str = ""
    """The environment variable that holds the token, never the token itself; empty: none is sent."""

    @property
    def first_urls(self) -> list[str]:
        """The API."""
        return [self.server]

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

    def check(self, where: str) -> None:
        """Require hashtags and the address of an API."""
        super().check(where)
        if not 1 <= self.page_size <= 100:
            raise wrong_setting(where, "page_size", "is not between 1 and 100", "give 40")
        url = normalise(self.server)
        if url is None or urlsplit(url).query or "access_token" in self.server or "@" in self.server:
            what = f"'{self.server}' is not the address of an API"
            raise wrong_setting(where, "server", what, "give it as https://host, without more")

    def check_within(self, params: Any, where: str) -> None:
        """Require that a token is sent encrypted only."""
        unencrypted = (normalise(self.server) or "").startswith("http:")
        if self.token_variable and unencrypted and params.web.kind == "open" and not params.web.proxy:
            what = "would send the token unencrypted"
            raise wrong_setting(where, "source.server", what, "give its https address")


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
    """Identifier of the Instagram account whose token is used; required."""

    def check(self, where: str) -> None:
        """Require what every API needs, the account that asks, and a token."""
        super().check(where)
        if not _DIGITS.fullmatch(self.user):
            hint = "give the identifier of the account that asks, digits"
            raise wrong_setting(where, "user", "names no Instagram account", hint)
        if not self.token_variable:
            what = "is empty, and the Graph API asks for a token"
            raise wrong_setting(where, "token_variable", what, "name an environment variable")


class ExportedSettings(Hashtag, Files):
    """Files of exported posts."""

    provider: Literal["jsonl"] = "jsonl"
    """Exported posts, one a line."""
    image_folder: str = ""
    """The folder of the images that posts name as files, relative to the project; empty for the posts' own folder."""

    @property
    def is_local(self) -> bool:
        """Whether no web server is asked: so unless a post names an image by its address."""
        return True

    def check_within(self, params: Any, where: str) -> None:
        """Require that there is no base."""
        if params.base:
            raise wrong_setting(where, "base", "is set, but exported posts are not crawled again", "empty it")
