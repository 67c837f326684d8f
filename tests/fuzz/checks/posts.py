"""Checks of posts: server answers and export files, up to ledger rows and images."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from components.core.errors import HearsightError
from tests.fuzz.checks.common import address, as_file, storable

TAGS = ["paracegover", "ParaTodosVerem"]
SETTINGS: dict[str, Any] = {
    "tag": TAGS[0],
    "variants": TAGS[1:],
    "accounts": [],
    "max_pages": 3,
    "window_days": 1000.0,
    "relist_days": 0.0,
    "page_size": 2,
    "token_variable": "",
}
ANSWERED = "2026-11-21T13:00:00Z"


def mastodon(data: bytes) -> None:
    """Check a survey in which a Mastodon server gives this answer to every request."""
    _answered("mastodon", "https://social.sample", data)


def instagram(data: bytes) -> None:
    """Check a survey in which the Graph API gives this answer to every request."""
    from components.stages.crawl.posts.instagram import GraphApi, seconds_to_reset

    _answered("instagram", "https://graph.sample/v1", data)
    sent = {"x-business-use-case-usage": data.decode("utf-8", "replace")}
    assert 0 <= seconds_to_reset(sent) < 1e8
    api = GraphApi("https://graph.sample/v1", "", robots=False)
    for url in ("https://graph.sample/v1/ig_hashtag_search?q=a", "https://graph.sample/v1/1"):
        for status in (200, 400, 403, 500):
            storable(vars(api.ruling(url, status, sent, data)))


def _answered(kind: str, server: str, data: bytes) -> None:
    from components.stages.crawl.posts.post import Account
    from components.stages.crawl.posts.provider import Reply
    from components.stages.crawl.source_settings import InstagramSettings, MastodonSettings
    from components.stages.crawl.sources.posts import create_provider

    own = SETTINGS | {"server": server}
    settings = InstagramSettings(user="1", **own) if kind == "instagram" else MastodonSettings(**own)
    provider = create_provider(settings, live=False)
    link, _, body = data.partition(b"\n") if data[:5] == b"LINK:" else (b"", b"", data)
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return
    following = link[5:].decode("utf-8", "surrogateescape") if link else None
    calls: Any = SimpleNamespace(
        get=lambda url: Reply(url, _shaped(url, value), status=200, fetched=ANSWERED, following=following)
    )
    json.loads(provider.api.reduced(f"{server}/api/v1/timelines/tag/x", body))
    hits = provider.search(calls)
    storable(hits)
    asked = (Account("user@social.sample", "12"), Account("user", "user"))
    for known in (*list(hits.accounts.values())[:3], Account("other"), *asked):
        storable(provider.account(calls, known))
    for known in asked:
        for listing in provider.listings(calls, known):
            for page in listing:
                storable(page)
                for post in page.posts:
                    _pages_of(post, known.name)


def _shaped(url: str, value: Any) -> Any:
    """The one answer as the question at ``url`` wants it, where it is a list or an object: else the rest were never reached."""
    if "/statuses?" in url or "/timelines/" in url:
        return [value] if isinstance(value, dict) else value
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return value[0].get("account", value[0])
    return value


def _pages_of(post: Any, owner: str) -> None:
    from components.stages.crawl.posts.conversion import post_to_pages
    from components.stages.crawl.posts.post import apply_rules

    _good(post_to_pages(apply_rules(post, TAGS), owner))


def _good(pages: Any) -> None:
    for page in pages:
        storable(page)
        for candidate in page.candidates:
            if candidate.image_url is not None:
                address(candidate.image_url)


def exported(data: bytes) -> None:
    """Check that each line of an export yields pages and images, or a ledger row with a rule."""
    from components.stages.crawl.posts.exported import read_export

    try:
        _good(read_export(Path(as_file(data)), "posts.jsonl", TAGS))
    except HearsightError as error:
        storable(str(error))
