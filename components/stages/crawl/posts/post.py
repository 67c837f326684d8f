"""Posts and accounts, independent of the server: the rules that drop a post for its own content, and the state kept between
snapshots, a function of the base snapshots in the shard cache.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from components.core.hashtags import match_hashtag
from components.core.shards import read_table, write_table
from components.stages.crawl.posts.fields import MAX_CAPTION

PRIVATE, GONE, NOINDEX = "account_private", "account_gone", "account_noindex"
WITHDRAWING = (PRIVATE, GONE, NOINDEX, "no_consent")
"""Account rules that withdraw the account's posts."""
_SCHEMA = pa.schema([("owner", pa.string()), ("content", pa.string())])
"""Columns of a :class:`State`; a takedown finds the rows it must remove by ``owner``."""


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
    file: str = ""
    """Name in the folder of the images, of an export that has it as a file; '' for one on the web."""


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


@dataclass
class Owner:
    """One account at the end of a snapshot."""

    account: Account
    """State by its server; with the rule that excludes its posts, if any."""
    posts: list[Post] = field(default_factory=list)
    """Its tagged posts by date and identifier; empty for a withdrawn account."""
    first: dict[str, str] = field(default_factory=dict)
    """Post identifier → time at which a snapshot first held it; deleted posts are kept since they may return."""
    listed: str = ""
    """Time at which its posts were last listed completely, ISO 8601; '' for never."""
    newest: str = ""
    """Date of its newest post, tagged or not."""
    withdrawn: list[tuple[str, str]] = field(default_factory=list)
    """(kind, key) of the ledger rows of posts withdrawn with the account."""
    note: str = ""
    """Text of its listing's ledger row."""
    problem: tuple[str, str, str] = ("", "", "")
    """(rule, value, threshold) of an incomplete listing; the missing part is taken from an earlier snapshot."""


@dataclass
class State:
    """All accounts known to a snapshot."""

    owners: dict[str, Owner] = field(default_factory=dict)

    def save(self, path: Path) -> None:
        """Write one row per account, ordered by name."""
        rows = [
            {"owner": name, "content": json.dumps(asdict(owner), sort_keys=True)} for name, owner in sorted(self.owners.items())
        ]
        write_table(path, pa.Table.from_pylist(rows, schema=_SCHEMA))

    @classmethod
    def load(cls, path: Path) -> State:
        """Read a state written by :meth:`save`."""
        state = cls()
        for row in read_table(path).to_pylist():
            plain = json.loads(row["content"])
            plain["account"] = Account(**plain["account"])
            plain["posts"] = [Post.from_plain(post) for post in plain["posts"]]
            plain["withdrawn"] = [(kind, key) for kind, key in plain["withdrawn"]]
            plain["problem"] = tuple(plain["problem"])
            state.owners[row["owner"]] = Owner(**plain)
        return state


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
