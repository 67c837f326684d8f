"""The data of the sample's server of posts: owners, pictures, posts, and a plan of all of them on one day."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from components.sample.captions import Caption
from components.sample.material import Material


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
class Picture:
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
    pictures: tuple[Picture, ...]
    original: int = 0
    """The post whose picture this one repeats; 0 for none."""
    other_caption: bool = False
    """The picture of ``original`` with a caption of its own."""
    visibility: str = "public"
    sensitive: bool = False
    boosts: int = 0
    """The post that this one only passes on; 0 for none."""


@dataclass(frozen=True)
class Plan:
    """All owners and posts of a day, newest post first."""

    owners: dict[str, Owner]
    posts: dict[int, Post]

    @cached_property
    def _by_owner(self) -> dict[str, list[Post]]:
        posts: dict[str, list[Post]] = {}
        for post in self.posts.values():
            posts.setdefault(post.owner, []).append(post)
        return posts

    def of(self, handle: str) -> list[Post]:
        """Return an owner's posts, newest first."""
        return self._by_owner.get(handle, [])
