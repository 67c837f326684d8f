"""Represent posts as Mastodon's API and pages do: Status, Account and MediaAttachment as JSON, captions as HTML.

Field names and shapes are those of Mastodon's documentation (entities Status, Account, MediaAttachment, version 4).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from datetime import datetime
from html import escape
from typing import Any

from components.core.seeded_rng import seeded_rng
from components.sample.gallery import page
from components.sample.images import size_of, suffix_of
from components.sample.sites import TYPES, Reply
from components.sample.statuses import TODAY, Owner, Plan, Post, PostImage

HOST = "posts.sample"
BASE = f"http://{HOST}"
PREVIEW = 240
"""px of a preview, square."""
EMOJI = "libras"
"""The server's own emoji, written ``:libras:``."""
_MARKS = re.compile(
    r"(?P<link>https?://[^\s<]+)|(?<![\w/)])#(?P<tag>\w*[^\W\d]\w*)|(?<![\w/])@(?P<name>[A-Za-z0-9_]+)|(?P<rest>[&<>\"'])"
)


def tags_of(text: str) -> list[str]:
    """Return the distinct hashtags of a caption in lower case."""
    return list(dict.fromkeys(found["tag"].lower() for found in _MARKS.finditer(text) if found["tag"]))


def content_of(text: str, owners: Mapping[str, Owner]) -> str:
    """Return a caption as HTML: paragraphs, breaks, and links for tags, known names and addresses."""
    marked = _MARKS.sub(lambda found: _linked(found, owners), text)
    paragraphs = [part.replace("\n", "<br />") for part in re.split(r"\n{2,}", marked) if part]
    return "".join(f"<p>{part}</p>" for part in paragraphs)


def _linked(found: re.Match[str], owners: Mapping[str, Owner]) -> str:
    if found["tag"]:
        tag = found["tag"]
        return f'<a href="{BASE}/tags/{tag.lower()}" class="mention hashtag" rel="tag">#<span>{tag}</span></a>'
    if found["name"]:
        name = found["name"]
        if name not in owners:
            return found[0]
        return (
            f'<span class="h-card" translate="no"><a href="{BASE}/@{name}" class="u-url mention">@<span>{name}</span></a></span>'
        )
    if found["link"]:
        whole = escape(found["link"])
        scheme, _, rest = whole.partition("://")
        shown = f'<span class="invisible">{scheme}://</span><span class="">{rest}</span>'
        return f'<a href="{whole}" target="_blank" rel="nofollow noopener" translate="no">{shown}</a>'
    return escape(found[0], quote=False)


def status(post: Post, plan: Plan) -> dict[str, Any]:
    """Return a post as the entity Status."""
    owner, inner = plan.owners[post.owner], plan.posts.get(post.boosts)
    text = post.caption.text
    mentioned = [found["name"] for found in _MARKS.finditer(text) if found["name"] in plan.owners]
    passed_on = status(inner, plan) if inner else None
    chance = seeded_rng(post.number, "counts")
    return {
        "id": str(post.number),
        "created_at": time_of(post.posted),
        "in_reply_to_id": None,
        "in_reply_to_account_id": None,
        "sensitive": post.sensitive,
        "spoiler_text": "imagem sensível" if post.sensitive else "",
        "visibility": post.visibility,
        "language": "pt",
        "uri": f"{BASE}/users/{owner.handle}/statuses/{post.number}" + ("/activity" if inner else ""),
        "url": address(inner or post),
        "replies_count": chance.randrange(5),
        "reblogs_count": chance.randrange(9),
        "favourites_count": chance.randrange(40),
        "edited_at": time_of(post.posted) if chance.random() < 0.03 else None,
        "content": passed_on["content"] if passed_on else content_of(text, plan.owners),
        "reblog": passed_on,
        "application": None,
        "account": account(owner, plan),
        "media_attachments": passed_on["media_attachments"] if passed_on else [attachment(image) for image in post.images],
        "mentions": [
            {"id": str(plan.owners[name].number), "username": name, "url": f"{BASE}/@{name}", "acct": name}
            for name in dict.fromkeys(mentioned)
        ],
        "tags": [{"name": tag, "url": f"{BASE}/tags/{tag}"} for tag in tags_of(text)],
        "emojis": [emoji()] if f":{EMOJI}:" in text else [],
        "card": None,
        "poll": None,
    }


def address(post: Post) -> str:
    """Return the URL of the post's page."""
    return f"{BASE}/@{post.owner}/{post.number}"


def account(owner: Owner, plan: Plan) -> dict[str, Any]:
    """Return an owner as the entity Account."""
    shown = [post for post in plan.of(owner.handle) if post.visibility in ("public", "unlisted")]
    image = f"{BASE}/avatars/{owner.handle}.png"
    chance = seeded_rng(owner.handle, "counts")
    return {
        "id": str(owner.number),
        "username": owner.handle,
        "acct": owner.handle,
        "display_name": owner.name,
        "locked": owner.locked,
        "bot": False,
        "discoverable": not owner.noindex,
        "indexable": not owner.noindex,
        "group": False,
        "created_at": time_of(owner.created),
        "note": f"<p>{escape(owner.note, quote=False)}</p>",
        "url": f"{BASE}/@{owner.handle}",
        "uri": f"{BASE}/users/{owner.handle}",
        "avatar": image,
        "avatar_static": image,
        "header": image,
        "header_static": image,
        "followers_count": chance.randrange(5000),
        "following_count": chance.randrange(300),
        "statuses_count": len(shown),
        "last_status_at": shown[0].posted.date().isoformat() if shown else None,
        "hide_collections": None,
        "noindex": owner.noindex,
        "emojis": [],
        "roles": [],
        "fields": [],
    }


def attachment(image: PostImage) -> dict[str, Any]:
    """Return an image as the entity MediaAttachment."""
    width, height = size_of(image.material, image.change)
    meta = {"original": _measures(width, height), "small": _measures(PREVIEW, PREVIEW)}
    return {
        "id": str(image.number),
        "type": image.kind,
        "url": f"{BASE}{media_path(image)}",
        "preview_url": f"{BASE}/media/{image.number}/small.png",
        "remote_url": None,
        "preview_remote_url": None,
        "text_url": None,
        "meta": {} if image.kind == "audio" else meta,
        "description": image.description,
        "blurhash": None,
    }


def media_path(image: PostImage) -> str:
    """Return the path of an image's file on the server."""
    suffixes = {"video": ".mp4", "gifv": ".gif", "audio": image.material.speech.suffix if image.material.speech else ".ogg"}
    suffix = suffixes.get(image.kind) or suffix_of(image.change, str(image.number))
    return f"/media/{image.number}/original{suffix}"


def emoji() -> dict[str, Any]:
    """Return the server's emoji as the entity CustomEmoji."""
    url = f"{BASE}/emoji/{EMOJI}.png"
    return {"shortcode": EMOJI, "url": url, "static_url": url, "visible_in_picker": True}


def time_of(when: datetime) -> str:
    return when.strftime("%Y-%m-%dT%H:%M:%S.") + f"{when.microsecond // 1000:03d}Z"


def _measures(width: int, height: int) -> dict[str, Any]:
    return {"width": width, "height": height, "size": f"{width}x{height}", "aspect": width / height}


ALLOWED = 300
"""Requests in five minutes, as the headers say."""


def as_json(content: Any, headers: Mapping[str, str] | None = None, status: int = 200) -> Reply:
    body = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
    return whole(body, "application/json; charset=utf-8", headers, status)


def as_html(title: str, body: str, credit: str, owner: Owner | None = None) -> Reply:
    """Return an HTML page, with a noindex tag if ``owner`` has opted out of indexing."""
    robots = '<meta name="robots" content="noindex">' if owner is not None and owner.noindex else ""
    return whole(page(title, body, credit, robots, "pt"), TYPES[".html"])


def whole(body: bytes, kind: str, headers: Mapping[str, str] | None = None, status: int = 200) -> Reply:
    """A reply with an ETag of its content."""
    return Reply(status, body, kind, {"ETag": f'"{hashlib.sha256(body).hexdigest()[:32]}"', **(headers or {})})


def missing(api: bool, owner: Owner | None = None) -> Reply:
    """A reply of 404, or of 410 for an account that is gone."""
    status = 410 if owner is not None and owner.gone else 404
    if api:
        return as_json({"error": "Gone" if status == 410 else "Record not found"}, None, status)
    return Reply(status, b"<!doctype html><title>Not here</title><p>There is no such page here.")


def limited(reply: Reply) -> Reply:
    """``reply`` with the headers of a rate limit."""
    limit = {
        "X-RateLimit-Limit": str(ALLOWED),
        "X-RateLimit-Remaining": str(ALLOWED - 1),
        "X-RateLimit-Reset": time_of(TODAY.replace(minute=5)),
    }
    return Reply(reply.status, reply.body, reply.type, {**reply.headers, **limit})
