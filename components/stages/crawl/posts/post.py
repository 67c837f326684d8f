"""A post and an account, whatever server they come from, and the rules that drop a post for what it says of itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from components.stages.crawl.posts.fields import MAX_CAPTION
from components.stages.crawl.posts.text import match_hashtag

PRIVATE, GONE, NOINDEX = "account_private", "account_gone", "account_noindex"
WITHDRAWING = (PRIVATE, GONE, NOINDEX, "no_consent")
"""Rules of accounts that take their posts with them."""


@dataclass(frozen=True)
class Media:
    """One attachment."""

    identifier: str
    """At its source, where it has one there: addresses may change while it does not."""
    kind: str
    """image | video | other."""
    url: str
    """As spelled; '' for none."""
    alt: str = ""
    """Its own description, where the server keeps one."""


@dataclass(frozen=True)
class Post:
    """One post of one account."""

    identifier: str
    url: str
    """Its web address as spelled."""
    caption: str
    posted: str
    """ISO 8601, UTC."""
    language: str = "un"
    media: tuple[Media, ...] = ()
    collected: str = ""
    """When a snapshot first held it; set by the survey."""
    rule: str = ""
    """Why it is dropped; '' for a good one."""
    value: str = ""
    threshold: str = ""

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Post:
        """A post that ``dataclasses.asdict`` wrote."""
        return cls(**{**plain, "media": tuple(Media(**one) for one in plain["media"])})


@dataclass(frozen=True)
class Account:
    """One account as its server tells of it."""

    name: str
    """As records name the owner: user@host, or a user name."""
    handle: str = ""
    """What the server's API knows it by; '' where it has to be looked up."""
    url: str = ""
    """Its web address."""
    rule: str = ""
    """Why its posts cannot be had; '' when they may be asked for."""
    value: str = ""
    threshold: str = ""
    consents: bool = False
    """It says of itself that its posts may be found by others: a yes, where only a yes counts."""


@dataclass
class Page:
    """One page of an account's posts, newest first; or why it could not be had."""

    posts: list[Post] = field(default_factory=list)
    url: str = ""
    fetched: str = ""
    """When it was answered, ISO 8601, UTC."""
    rule: str = ""
    value: str = ""
    threshold: str = ""


def apply_rules(post: Post, tags: Iterable[str]) -> Post:
    """``post``, with the rule that drops it for what it holds: no caption, hashtag or image."""
    if post.rule:
        return post
    said, kinds = match_hashtag(post.caption, tuple(tags)), {one.kind for one in post.media}
    if len(post.caption) > MAX_CAPTION:
        found = ("caption_too_long", f"{len(post.caption)} characters", f"{MAX_CAPTION} characters")
    elif not post.caption:
        found = ("empty_caption", "0 characters", "a caption")
    elif said != "word":
        found = ("hashtag_inside_word" if said else "no_hashtag", said or "not in the caption", "the hashtag as a word")
    elif "image" in kinds:
        return post
    elif "video" in kinds:
        found = ("video_post", f"{len(post.media)} attachments", "an image")
    else:
        found = ("no_image", f"{len(post.media)} attachments", "an image")
    return replace(post, rule=found[0], value=found[1], threshold=found[2])
