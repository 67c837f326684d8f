"""The data of the sample's server of posts: its calendar, owners, images, posts, and a plan of all of them on one day."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property

from components.core.seeded_rng import seeded_rng
from components.sample.captions import Caption
from components.sample.material import Material

START, TODAY = datetime(2019, 3, 1, tzinfo=UTC), datetime(2024, 6, 30, 21, tzinfo=UTC)
"""First and last moment of the server on day 1. The packages hardly date their files, so dates are drawn."""
RECENT = timedelta(days=6)
"""Most owners have a post this recent, since a tag's timeline is searched seven days back (PCV §4.1)."""
WAKING = (11, 12, 13, 14, 15, 16, 18, 20, 22, 23)
"""Hours (UTC) in which people in Brazil post."""


@dataclass(frozen=True)
class Owner:
    """An account."""

    handle: str
    name: str
    number: int
    """Its identifier, as a Mastodon server makes them: milliseconds and a serial number."""
    created: datetime
    note: str
    locked: bool = False
    noindex: bool = False
    gone: bool = False


@dataclass(frozen=True)
class PostImage:
    """An attachment: a material with a change."""

    number: int
    material: Material
    change: str = ""
    kind: str = "image"
    """As Mastodon calls it: ``image``, ``gifv``, ``video``, ``audio``."""
    missing: bool = False
    """Its file was deleted."""
    description: str | None = None


@dataclass(frozen=True)
class Post:
    """A status."""

    number: int
    owner: str
    posted: datetime
    caption: Caption
    images: tuple[PostImage, ...]
    original: int = 0
    """The post whose image this one repeats; 0 for none."""
    other_caption: bool = False
    """The image of ``original`` with a caption of its own."""
    visibility: str = "public"
    sensitive: bool = False
    boosts: int = 0
    """The post that this one only passes on; 0 for none."""


@dataclass(frozen=True)
class Plan:
    """All owners and posts of a day, newest post first."""

    owners: dict[str, Owner]
    posts: dict[int, Post]
    emoji: Material
    """What the server's emoji shows."""

    @cached_property
    def _by_owner(self) -> dict[str, list[Post]]:
        posts: dict[str, list[Post]] = {}
        for post in self.posts.values():
            posts.setdefault(post.owner, []).append(post)
        return posts

    @cached_property
    def owners_by_number(self) -> dict[int, Owner]:
        """Identifier → account."""
        return {owner.number: owner for owner in self.owners.values()}

    @cached_property
    def images(self) -> dict[int, tuple[PostImage, Post]]:
        """Identifier → attachment and its post."""
        return {image.number: (image, post) for post in self.posts.values() for image in post.images}

    def of(self, handle: str) -> list[Post]:
        """Return an owner's posts, newest first."""
        return self._by_owner.get(handle, [])

    def shows(self, post: Post) -> bool:
        """Return whether a post is visible to everybody (and, for a boost, the boosted post)."""
        if post.visibility not in ("public", "unlisted"):
            return False
        inner = self.posts.get(post.boosts)
        return not post.boosts or (inner is not None and self.shows(inner) and not self.owners[inner.owner].gone)


def number_of(when: datetime, key: str) -> int:
    """Return an identifier as Mastodon makes it, growing with time: milliseconds since 1970, then 16 bits of the key's digest."""
    serial = int.from_bytes(hashlib.sha256(key.encode()).digest()[:2], "big")
    return (int(when.timestamp() * 1000) << 16) | serial


def moment(key: str, earliest: datetime, latest: datetime, power: float) -> datetime:
    """Draw a time between the two, in waking hours if possible; a ``power`` below 1 favours late times."""
    chance = seeded_rng(key, "date")
    when = earliest + (latest - earliest) * chance.random() ** power
    waking = when.replace(hour=chance.choice(WAKING), minute=chance.randrange(60), second=chance.randrange(60))
    return (waking if earliest < waking < latest else when).replace(microsecond=chance.randrange(1000) * 1000)
