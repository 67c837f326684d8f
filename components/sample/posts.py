"""Serve ``posts.sample``: a server of posts that answers like Mastodon's public API without a login.

Tag timelines, accounts, their statuses, single posts, paging by ``Link``, rate-limit headers; the posts' pages and files.
The server's clock stands still at the day it shows (``statuses.TODAY``), so equal packages give equal answers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from html import escape
from pathlib import Path
from threading import Lock
from urllib.parse import parse_qs, quote, unquote, urlencode, urlsplit

from components.sample import entities
from components.sample.entities import as_html, as_json, limited, missing, whole
from components.sample.images import animation, render, thumbnail
from components.sample.material import check_packages, materials
from components.sample.plan import make_plan
from components.sample.sites import TYPES, Reply, Site
from components.sample.statuses import Owner, Plan, Post, PostImage

MOST, USUAL = 40, 20
"""Posts per page: the maximum, and the default without a ``limit`` parameter."""
CACHED = 512
"""Rendered files kept in memory; about 20 kB each."""
ROBOTS = "User-agent: *\nDisallow: /interact/\n\nUser-agent: badbot\nDisallow: /\n"
MEDIA_TYPES = TYPES | {".ogg": "audio/ogg", ".wav": "audio/wav", ".mp4": "video/mp4"}


class _Missing(Exception):
    """What a request names does not exist, or belongs to the deleted account ``owner``."""

    def __init__(self, owner: Owner | None = None) -> None:
        super().__init__(owner)
        self.owner = owner


class PostsSite(Site):
    """The host, on day 1 or 2; posts are planned at the first request.

    They are made of the packages of the project ``root``; raises HearsightError without a package.
    """

    def __init__(self, root: Path, day: int = 1) -> None:
        if day not in (1, 2):
            raise ValueError("PostsSite shows day 1 or 2")
        check_packages(root)
        self._root, self._day = root, day
        self._lock = Lock()
        self._plan: Plan | None = None
        self._file = lru_cache(CACHED)(self._make_file)
        self._routes: list[tuple[re.Pattern[str], Callable[..., Reply]]] = [
            (re.compile(pattern), action)
            for pattern, action in (
                (r"/api/v1/timelines/tag/([^/]+)", self._timeline),
                (r"/api/v1/accounts/lookup", self._lookup),
                (r"/api/v1/accounts/(\d+)", self._account),
                (r"/api/v1/accounts/(\d+)/statuses", self._statuses),
                (r"/api/v1/statuses/(\d+)", self._status),
                (r"/api/v1/custom_emojis", lambda _: as_json([entities.emoji()])),
                (r"/api/(v[12])/instance", self._instance),
                (r"/media/(\d+)/(original|small)(\.\w+)", self._media),
                (r"/avatars/(\w+)(\.png)", self._avatar),
                (r"/emoji/libras(\.png)", self._emoji),
                (r"/@(\w+)", self._account_page),
                (r"/@(\w+)/(\d+)", self._page),
                (r"/tags/([^/]+)", self._tag_page),
                (r"/robots\.txt", lambda _: whole(ROBOTS.encode(), TYPES[".txt"])),
                (r"/", self._front),
            )
        ]

    @property
    def plan(self) -> Plan:
        """All owners and posts; planned at the first use."""
        with self._lock:
            if self._plan is None:
                self._plan = make_plan(materials(self._root), self._day)
            return self._plan

    def answer(self, target: str) -> Reply:
        """Return the reply to a request for ``target`` (a path, perhaps with a query)."""
        parts = urlsplit(target)
        api = parts.path.startswith("/api/")
        query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        for pattern, action in self._routes:
            match = pattern.fullmatch(parts.path.rstrip("/") or "/")  # clients do ask for /api/v1/instance/
            if match:
                try:
                    reply = action(query, *match.groups())
                except _Missing as error:
                    reply = missing(api, error.owner)
                return limited(reply) if api else reply
        return missing(api)

    def _timeline(self, query: Mapping[str, str], tag: str) -> Reply:
        tag = unquote(tag, errors="replace").lower()
        return self._listed(self._tagged(tag), query, f"/api/v1/timelines/tag/{quote(tag)}")

    def _tagged(self, tag: str) -> list[Post]:
        """Return the public posts with a tag in lower case, newest first."""
        return [post for post in self.plan.posts.values() if post.visibility == "public" and tag in _tags(post.caption.text)]

    def _statuses(self, query: Mapping[str, str], number: str) -> Reply:
        owner = _existing(self.plan.owners_by_number.get(int(number)))
        posts: Iterable[Post] = (post for post in self.plan.of(owner.handle) if self.plan.shows(post))
        if "tagged" in query:
            posts = (post for post in posts if not post.boosts and query["tagged"].lower() in _tags(post.caption.text))
        if _true(query.get("exclude_reblogs")):
            posts = (post for post in posts if not post.boosts)
        return self._listed(posts, query, f"/api/v1/accounts/{number}/statuses")

    def _listed(self, posts: Iterable[Post], query: Mapping[str, str], path: str) -> Reply:
        """Return a page of posts, newest first, with links to the next and previous page."""
        limit = min(MOST, max(1, int(query["limit"]))) if query.get("limit", "").isdecimal() else USUAL
        bounds = {name: int(query[name]) for name in ("max_id", "since_id", "min_id") if query.get(name, "").isdecimal()}
        above = max(bounds.get("since_id", -1), bounds.get("min_id", -1))
        among = [post for post in posts if above < post.number < bounds.get("max_id", 1 << 80)]
        if _true(query.get("only_media")):
            among = [post for post in among if post.images]
        # min_id selects the posts just above it; otherwise the newest are returned.
        page = among[-limit:] if "min_id" in bounds else among[:limit]
        kept = {name: value for name, value in query.items() if name not in ("max_id", "since_id", "min_id")}
        links = []
        if len(page) == limit:
            links.append(f'<{entities.BASE}{path}?{urlencode({**kept, "max_id": page[-1].number})}>; rel="next"')
        if page:
            links.append(f'<{entities.BASE}{path}?{urlencode({**kept, "min_id": page[0].number})}>; rel="prev"')
        return as_json([entities.status(post, self.plan) for post in page], {"Link": ", ".join(links)} if links else {})

    def _lookup(self, query: Mapping[str, str]) -> Reply:
        handle = query.get("acct", "").removeprefix("@").removesuffix(f"@{entities.HOST}").lower()
        return as_json(entities.account(_existing(self.plan.owners.get(handle)), self.plan))

    def _account(self, _: Mapping[str, str], number: str) -> Reply:
        return as_json(entities.account(_existing(self.plan.owners_by_number.get(int(number))), self.plan))

    def _status(self, _: Mapping[str, str], number: str) -> Reply:
        post = self.plan.posts.get(int(number))
        if post is None or not self.plan.shows(post) or self.plan.owners[post.owner].gone:
            raise _Missing
        return as_json(entities.status(post, self.plan))

    def _instance(self, _: Mapping[str, str], version: str) -> Reply:
        about = {
            "title": "Amostra de posts",
            "version": "4.3.0 (compatible; HearsightSample 1)",
            "description": "Posts feitos de material real dos pacotes tuxpaint-stamps-default e gcompris-qt-data.",
            "languages": ["pt"],
            "rules": [],
        }
        if version == "v1":
            return as_json({**about, "uri": entities.HOST, "short_description": "", "registrations": False})
        counted = {"users": {"active_month": len(self.plan.owners)}}
        said = {"domain": entities.HOST, "usage": counted, "registrations": {"enabled": False}, "api_versions": {"mastodon": 2}}
        return as_json({**about, **said})

    def _media(self, _: Mapping[str, str], number: str, size: str, suffix: str) -> Reply:
        image, post = self.plan.images.get(int(number), (None, None))
        if image is None or post is None or image.missing or self.plan.owners[post.owner].gone:
            raise _Missing
        expected = ".png" if size == "small" else Path(entities.media_path(image)).suffix
        if suffix != expected or not self.plan.shows(post):
            raise _Missing
        return whole(self._file(image.number, size), MEDIA_TYPES[suffix])

    def _make_file(self, number: int, size: str) -> bytes:
        """Return an attachment's file, or its preview."""
        image, post = self.plan.images[number]
        if size == "small":
            return thumbnail(image.material, entities.PREVIEW)
        if image.kind == "audio" and image.material.speech is not None:
            return image.material.speech.read_bytes()
        if image.kind == "gifv":
            return animation(image.material)
        suffix = Path(entities.media_path(image)).suffix
        return render(image.material, image.change, str(image.number), suffix, f"@{post.owner}")

    def _avatar(self, _: Mapping[str, str], handle: str, suffix: str) -> Reply:
        shown = [image for post in self.plan.of(handle) for image in post.images]
        _existing(self.plan.owners.get(handle))
        if not shown:
            raise _Missing
        return whole(thumbnail(shown[-1].material, 120), TYPES[suffix])

    def _emoji(self, _: Mapping[str, str], suffix: str) -> Reply:
        return whole(thumbnail(self.plan.emoji, 64), TYPES[suffix])

    def _page(self, _: Mapping[str, str], handle: str, number: str) -> Reply:
        post = self.plan.posts.get(int(number))
        owner = _existing(self.plan.owners.get(handle))
        if post is None or post.owner != handle or post.boosts or not self.plan.shows(post):
            raise _Missing
        images = "\n".join(_figure(image) for image in post.images)
        body = f'<article lang="pt">{entities.content_of(post.caption.text, self.plan.owners)}\n{images}</article>'
        credits = "; ".join(dict.fromkeys(image.material.credit for image in post.images))
        return as_html(
            f"{owner.name} (@{handle})", f"{body}\n<p>{entities.time_of(post.posted)}</p>", f"Imagem: {credits}", owner
        )

    def _account_page(self, _: Mapping[str, str], handle: str) -> Reply:
        owner = _existing(self.plan.owners.get(handle))
        posts = [post for post in self.plan.of(handle) if self.plan.shows(post) and not post.boosts]
        return as_html(f"{owner.name} (@{handle})", f"<p>{escape(owner.note)}</p>\n{_links(posts[:MOST])}", "", owner)

    def _tag_page(self, _: Mapping[str, str], tag: str) -> Reply:
        return as_html(f"#{tag}", _links(self._tagged(tag.lower())[:MOST]), "")

    def _front(self, _: Mapping[str, str]) -> Reply:
        names = "\n".join(f'<li><a href="/@{owner.handle}">{escape(owner.name)}</a>' for owner in self.plan.owners.values())
        return as_html("Amostra de posts", f'<p><a href="/tags/pracegover">#pracegover</a></p><ul>{names}</ul>', "")


def _existing(owner: Owner | None) -> Owner:
    """Return ``owner``; raises _Missing for an unknown or deleted account."""
    if owner is None or owner.gone:
        raise _Missing(owner)
    return owner


@lru_cache(4096)
def _tags(text: str) -> frozenset[str]:
    return frozenset(entities.tags_of(text))


def _true(value: str | None) -> bool:
    return value is not None and value.lower() not in ("", "0", "false", "f", "off")


def _figure(image: PostImage) -> str:
    alt = f' alt="{escape(image.description)}"' if image.description else ""
    return f'<figure><img src="{entities.media_path(image)}"{alt}></figure>' if image.kind == "image" else ""


def _links(posts: Iterable[Post]) -> str:
    items = (f'<li><a href="{entities.address(post)}">{escape(post.caption.text[:60]) or "…"}</a>' for post in posts)
    return "<ul>" + "\n".join(items) + "</ul>"
