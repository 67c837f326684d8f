"""Replies of the sample's server of posts: JSON, pages, what is missing, and the headers of its rate limit."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from html import escape
from typing import Any

from components.sample import entities
from components.sample.moments import TODAY
from components.sample.sites import TYPES, Reply
from components.sample.statuses import Owner

ALLOWED = 300
"""Requests in five minutes, as the headers say."""


def as_json(content: Any, headers: Mapping[str, str] | None = None, status: int = 200) -> Reply:
    """A JSON reply."""
    body = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
    return whole(body, "application/json; charset=utf-8", headers, status)


def as_html(title: str, body: str, credit: str, owner: Owner | None = None) -> Reply:
    """A page; it asks not to be indexed where its owner does."""
    robots = '<meta name="robots" content="noindex">' if owner is not None and owner.noindex else ""
    text = (
        f'<!doctype html>\n<html lang="pt"><head><meta charset="utf-8"><title>{escape(title)}</title>{robots}</head>\n'
        f"<body><h1>{escape(title)}</h1>\n{body}\n<footer><p>{escape(credit)}</p></footer></body></html>\n"
    )
    return whole(text.encode(), TYPES[".html"])


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
        "X-RateLimit-Reset": entities.time_of(TODAY.replace(minute=5)),
    }
    return Reply(reply.status, reply.body, reply.type, {**reply.headers, **limit})
