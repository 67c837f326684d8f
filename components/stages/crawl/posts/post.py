"""Posts and accounts, independent of the server, and the rules that drop a post for its own content."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from components.stages.crawl.posts.fields import MAX_CAPTION
from components.stages.crawl.posts.text import match_hashtag

PRIVATE, GONE, NOINDEX = "account_private", "account_gone", "account_noindex"
WITHDRAWING = (PRIVATE, GONE, NOINDEX, "no_consent")
"""Account rules that withdraw the account's posts."""


@dataclass(frozen=True)
class Media:
    """One attachment."""

    identifier: str
    """Identifier at its source, if any: it stays equal while addresses change."""
    kind: str
    """image | video | other."""
    url: str
    """Address as spelled; '' for none."""
    alt: str = ""
    """Its description by the author, where the server keeps one."""


@dataclass(frozen=True)
class Post:
    """One post of one account."""

    identifier: str
    url: str
    """Web address as spelled."""
    caption: str
    posted: str
    """Time of posting, ISO 8601 UTC."""
    language: str = "un"
    media: tuple[Media, ...] = ()
    collected: str = ""
    """Time at which a snapshot first held it; set by the survey."""
    rule: str = ""
    """Ledger rule that drops it; '' for a valid post."""
    value: str = ""
    threshold: str = ""

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Post:
        """Create a post from what ``dataclasses.asdict`` returned."""
        return cls(**{**plain, "media": tuple(Media(**media) for media in plain["media"])})


@dataclass(frozen=True)
class Account:
    """One account as its server describes it."""

    name: str
    """Owner name in records: user@host, or a user name."""
    handle: str = ""
    """Its identifier in the server's API; '' where it must be looked up."""
    url: str = ""
    """Web address."""
    rule: str = ""
    """Ledger rule that excludes its posts; '' when they may be collected."""
    value: str = ""
    threshold: str = ""
    consents: bool = False
    """Whether the account states that others may find its posts; counts as consent under opt-in."""


@dataclass
class Page:
    """One page of an account's posts, newest first; or the rule of its failure."""

    posts: list[Post] = field(default_factory=list)
    url: str = ""
    fetched: str = ""
    """Time of the answer, ISO 8601 UTC."""
    rule: str = ""
    value: str = ""
    threshold: str = ""


def apply_rules(post: Post, tags: Iterable[str]) -> Post:
    """Return ``post`` with the rule that drops it for its content: no caption, hashtag or image."""
    if post.rule:
        return post
    hashtag, kinds = match_hashtag(post.caption, tuple(tags)), {media.kind for media in post.media}
    if len(post.caption) > MAX_CAPTION:
        reason = ("caption_too_long", f"{len(post.caption)} characters", f"{MAX_CAPTION} characters")
    elif not post.caption:
        reason = ("empty_caption", "0 characters", "a caption")
    elif hashtag != "word":
        reason = ("hashtag_inside_word" if hashtag else "no_hashtag", hashtag or "not in the caption", "the hashtag as a word")
    elif "image" in kinds:
        return post
    elif "video" in kinds:
        reason = ("video_post", f"{len(post.media)} attachments", "an image")
    else:
        reason = ("no_image", f"{len(post.media)} attachments", "an image")
    return replace(post, rule=reason[0], value=reason[1], threshold=reason[2])
