"""Requests to the sample's server of posts."""

from __future__ import annotations

import json
import re
from html import unescape

from components.sample.entities import BASE

TIMELINE = "/api/v1/timelines/tag/pracegover"


def ask(site, target, status=200):
    reply = site.answer(target.removeprefix(BASE))
    assert reply.status == status, target
    return json.loads(reply.body)


def follow(site, target, rel="next"):
    """All pages from ``target`` on, as lists of statuses."""
    pages = []
    while target:
        reply = site.answer(target.removeprefix(BASE))
        assert reply.status == 200, target
        pages.append(json.loads(reply.body))
        link = re.search(rf'<([^>]+)>; rel="{rel}"', reply.headers.get("Link", ""))
        target = link[1] if link else ""
    return pages


def text_of(content):
    """Mastodon's HTML as text."""
    content = content.replace("</p><p>", "\n\n").replace("<br />", "\n")
    return unescape(re.sub(r"<[^>]*>", "", content))
