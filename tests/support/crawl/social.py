"""A server on loopback that speaks Mastodon's public API and Instagram's Graph API as far as posts are collected by them.

It answers as an HTTP proxy for any host: ``http://social.sample`` is a Mastodon server, ``http://graph.sample/v23.0`` the Graph
API, ``http://media.sample`` their images. Paging by Link headers or cursors, rate limits, tokens, deletions, and failures on
order.
"""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

from components.core.digests import sha256_file
from components.core.stage_output import StageOutput
from tests.support.crawl.fixture_web import COLOURS, PLACES, THINGS, drawn_image
from tests.support.crawl.proxy_server import Answer, ProxyServer

SERVER, GRAPH, MEDIA = "http://social.sample", "http://graph.sample/v23.0", "http://media.sample"
SCENES = [(colour, thing, place) for colour in COLOURS for thing in THINGS for place in PLACES]


@dataclass
class Person:
    """One account of either server."""

    number: str
    name: str
    locked: bool = False
    gone: int = 0
    """Status of requests for a deleted account: 404 or 410; 0 for an existing one."""
    more: dict[str, Any] = field(default_factory=dict)
    posts: list[dict[str, Any]] = field(default_factory=list)
    """Statuses or media, newest first."""


class Social(ProxyServer):
    """Both servers behind one loopback proxy; a context manager."""

    def __init__(self) -> None:
        self.people: dict[str, Person] = {}
        self.timeline: list[dict[str, Any]] | None = None
        """The tag's timeline; None for the posts of all accounts."""
        self.orders: dict[str, list[Answer]] = {}
        """Part of an address → answers given in its place, each once, in order."""
        self.token = ""
        """Token that Authorization must contain; '' for none."""
        self.page = 3
        """Maximum statuses of a page."""
        self.link = True
        self.log: list[tuple[str, dict[str, str]]] = []
        self.lock = threading.Lock()
        self.missing: set[str] = set()
        """Paths of deleted images."""
        self.robots = "User-agent: *\nAllow: /\n"
        self.signature = "s1"
        """Signature in the Graph API's image addresses, which changes daily."""

    # -- content ---------------------------------------------------------------------------------------------------

    def person(self, name: str, **more: Any) -> Person:
        """Add an account."""
        one = Person(str(100 + len(self.people)), name, **more)
        self.people[name] = one
        return one

    def post(self, name: str, number: int, text: str = "", day: int = 10, media: int = 1, **more: Any) -> dict[str, Any]:
        """Add a status with images as the newest of an account."""
        text = text or f"<p>Bom dia!<br>#PraCegoVer uma foto de número {number}</p>"
        status = {
            "id": f"{number:08d}",
            "created_at": f"2026-11-{day:02d}T10:{number % 60:02d}:00.000Z",
            "url": f"{SERVER}/@{name}/{number:08d}",
            "uri": f"{SERVER}/users/{name}/statuses/{number:08d}",
            "visibility": "public",
            "reblog": None,
            "language": "pt",
            "content": text,
            "tags": [{"name": "pracegover"}],
            "media_attachments": [self.image(number, place) for place in range(media)],
        }
        self.people[name].posts.insert(0, status | more)
        return self.people[name].posts[0]

    def image(self, number: int, place: int = 0) -> dict[str, Any]:
        """Return an attachment."""
        return {
            "id": f"{number}{place}",
            "type": "image",
            "url": f"{MEDIA}/{number:08d}-{place}.jpg",
            "description": f"descrição {number}.{place}",
            "meta": {"original": {"width": 200, "height": 150}},
        }

    def account(self, person: Person) -> dict[str, Any]:
        """Return the server's JSON of an account."""
        name = {"id": person.number, "acct": person.name, "url": f"{SERVER}/@{person.name}"}
        return name | {"locked": person.locked, "noindex": False, "indexable": True} | person.more

    def order(self, part: str, *answers: Answer) -> None:
        """Use these answers for the next requests whose address contains ``part``."""
        self.orders.setdefault(part, []).extend(answers)

    # -- answering -------------------------------------------------------------------------------------------------

    def answer(self, url: str, headers: dict[str, str]) -> Answer:
        with self.lock:
            self.log.append((url, headers))
            for part, answers in self.orders.items():
                if part in url and answers:
                    return answers.pop(0)
        parts = urlsplit(url)
        query = {name: values[-1] for name, values in parse_qs(parts.query, keep_blank_values=True).items()}
        if parts.path == "/robots.txt":
            return Answer(200, self.robots.encode(), type="text/plain")
        if parts.netloc == "media.sample":
            return self._image(parts.path)
        if self.token and headers.get("authorization") != f"Bearer {self.token}":
            graph = {"error": {"message": "Invalid OAuth access token.", "type": "OAuthException", "code": 190}}
            return _json(graph, 400) if parts.netloc == "graph.sample" else _json({"error": "token"}, 401)
        return self._graph(parts.path, query) if parts.netloc == "graph.sample" else self._mastodon(url, parts.path, query)

    def _image(self, path: str) -> Answer:
        if path in self.missing:
            return Answer(404, b"gone", type="text/plain")
        number = int(path[1:9]) * 7 + int(path[10])
        return Answer(200, drawn_image(SCENES[number % len(SCENES)], seed=number), {"ETag": f'"{number}"'}, "image/jpeg")

    def _mastodon(self, url: str, path: str, query: dict[str, str]) -> Answer:
        steps = path.split("/")[3:]
        people = {one.number: one for one in self.people.values()}
        if steps[:2] == ["timelines", "tag"]:
            everything = [post | {"account": self.account(one)} for one in people.values() if not one.gone for post in one.posts]
            result = self.timeline if self.timeline is not None else everything
            return self._page(url, query, sorted(result, key=lambda post: post.get("id", ""), reverse=True))
        looked_up = steps[:2] == ["accounts", "lookup"]
        one = self.people.get(query.get("acct", "")) if looked_up else people.get(unquote(steps[1]))
        if one is None or one.gone:
            return _json({"error": "Record not found"}, one.gone if one else 404)
        if steps[-1] == "statuses":
            return self._page(url, query, [post | {"account": self.account(one)} for post in one.posts])
        return _json(self.account(one))

    def _page(self, url: str, query: dict[str, str], found: list[dict[str, Any]]) -> Answer:
        below = query.get("max_id")
        rest = [post for post in found if below is None or str(post.get("id", "")) < below]
        page = rest[: min(self.page, int(query.get("limit", "20")))]
        headers = {"X-RateLimit-Limit": "300", "X-RateLimit-Remaining": "299", "X-RateLimit-Reset": "2026-11-21T14:00:00Z"}
        if self.link and len(rest) > len(page):
            asked = urlencode(query | {"max_id": page[-1]["id"]})
            headers["Link"] = f'<{url.partition("?")[0]}?{asked}>; rel="next", <{url}&min_id=1>; rel="prev"'
        return Answer(200, json.dumps(page).encode(), headers)

    def _graph(self, path: str, query: dict[str, str]) -> Answer:
        step = path.removeprefix("/v23.0/")
        if step == "ig_hashtag_search":
            return _json({"data": [{"id": "17843"}]})
        if step == "17843/recent_media":
            result = [post for one in self.people.values() for post in one.posts]
            at = self.recent = 0 if "after" not in query else self.recent + 2
            more = {"paging": {"cursors": {"after": "same"}, "next": f"{GRAPH}/x?access_token={self.token}"}}
            names = ("id", "permalink", "timestamp")
            page = [{name: post[name] for name in names if name in post} for post in result[at : at + 2]]
            return _json({"data": page} | (more if page else {}))
        fields = query["fields"]
        name = fields.partition("username(")[2].partition(")")[0]
        one = self.people.get(name)
        if one is None or one.gone or one.locked:
            details = {"message": "Invalid user id", "type": "OAuthException", "code": 110, "error_subcode": 2207013}
            return _json({"error": details}, 400)
        at = int(fields.partition(".after(c")[2].partition(")")[0] or "0")
        page = [self._signed(post) for post in one.posts[at : at + self.page]]
        media: dict[str, Any] = {"data": page}
        if at + self.page < len(one.posts):
            media["paging"] = {"cursors": {"after": f"c{at + self.page}"}, "next": f"{GRAPH}/x?access_token={self.token}"}
        return _json({"business_discovery": {"username": name, "id": one.number, "media": media}, "id": "1"})

    def _signed(self, post: dict[str, Any]) -> dict[str, Any]:
        if "media_url" in post:
            return post | {"media_url": f"{post['media_url']}?oh={self.signature}"}
        return post

    def media(
        self, name: str, number: int, caption: str | None, day: int = 20, kind: str = "IMAGE", **more: Any
    ) -> dict[str, Any]:
        """Add a post of the Graph API."""
        post = {
            "id": str(17000 + number),
            "media_type": kind,
            "media_url": f"{MEDIA}/{number:08d}-0.jpg",
            "permalink": f"https://www.instagram.com/p/{number}/",
            "timestamp": f"2026-11-{day:02d}T10:{number % 60:02d}:00+0000",
        }
        if caption is not None:
            post["caption"] = caption
        self.people[name].posts.insert(0, post | more)
        return self.people[name].posts[0]

    def asked(self, matches: Callable[[str], bool] = lambda url: True) -> list[str]:
        """Return the requested addresses, robots.txt excluded."""
        return [url for url, _ in self.log if matches(url) and not url.endswith("/robots.txt")]


def _json(value: Any, status: int = 200) -> Answer:
    return Answer(status, json.dumps(value).encode())


def rows(output: StageOutput) -> list[dict[str, Any]]:
    """Return the records, ordered by post and position."""
    return sorted(output.table().to_pylist(), key=lambda row: (row["post"], row["position"]))


def rules(output: StageOutput) -> dict[str, str]:
    """Return key → rule of every dropped ledger row."""
    return {row["key"]: row["rule"] for row in output.ledger().to_pylist() if row["verdict"] == "dropped"}


def file_digests(output: StageOutput) -> dict[str, str]:
    """Return file → sha256 of the shards and media."""
    paths = sorted(path for folder in ("shards", "media") for path in (output.path / folder).iterdir())
    return {f"{path.parent.name}/{path.name}": sha256_file(path) for path in paths}


def read_all_bytes(root: Path) -> bytes:
    """Return the bytes of every file below a folder; gzip files are appended uncompressed as well."""
    content = b""
    for path in sorted(path for path in root.rglob("*") if path.is_file()):
        data = path.read_bytes()
        content += data + (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else b"")
    return content
