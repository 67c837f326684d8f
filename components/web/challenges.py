"""Recognise pages that ask for proof of a human in place of what was asked for, by status, headers and structure, not by words.

A page is one if its tags or scripts are those of a challenge and it has little text and few links. Marks that firewalls also put
into pages they let through, and widgets, count only where nothing else is shown. Sources: the documents of Cloudflare
(cf-mitigated), AWS WAF (x-amzn-waf-action) and Vercel (x-vercel-mitigated), and the markup of their pages and those of others.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import unescape
from pathlib import Path

FAILURE = "challenge"
"""The failure class of an answer that is a challenge."""
LONGEST = 1 << 16
"""Bytes of the longest page that is looked at; known ones have 1 to 35 kB."""
_HEADERS = {
    "cf-mitigated": ("challenge",),
    "x-amzn-waf-action": ("challenge", "captcha"),
    "x-vercel-mitigated": ("challenge",),
    "sg-captcha": ("challenge",),
}
"""Headers of challenges alone, with their values. The next ones come with passed pages too, unless the status refuses."""
_REFUSING = ("x-datadome", "x-dd-b", "x-kpsdk-ct", "x-sucuri-block")
_REFUSALS = (401, 403, 405, 429, 503)
HEADERS = (*_HEADERS, *_REFUSING)

_TABLE = (Path(__file__).parent / "data" / "challenges.tsv").read_text(encoding="utf-8")
_OWN, _SHARED, _REFUSAL = (
    {
        f"{maker}: {mark}": mark.encode().split(b" + ")
        for maker, condition, mark in (line.split("\t") for line in _TABLE.splitlines())
        if condition == wanted
    }
    for wanted in ("own", "shared", "refusal")
)
"""The words of each mark, in lower case and without quotes: all must be in tags or scripts.

own: no other page has them; at most 4,000 characters (Anubis explains itself in 1,200), with whatever images and fields.
shared: pages let through have them too, in injected scripts or their address; 200 characters, nothing to see or fill in.
refusal: words of refusals that come with status 200 too; 500 characters, no script, style, image or field.
"""
_WIDGETS = (b"captcha", b"turnstile", b"__goaway_")
_ALL = [*_OWN.values(), *_SHARED.values(), *_REFUSAL.values(), *([word] for word in _WIDGETS)]
_MOST_LINKS = 8
_PIECE = re.compile(
    rb"<!--.*?(?:-->|\Z)|<(script|style|noscript|template)\b(?![^>]*/>).*?(?:</\1[^>]*>?|\Z)|<[a-z!/][^>]*>?", re.S
)
_HIDDEN = (b"<!--", b"<style", b"<template")
_QUOTING = re.compile(
    rb"<(?:a|img)\b|<script\b[^>]*\bld\+json|<meta\b(?!.*=refresh).*(?:description|keywords|policy|title)", re.S
)
"""Pieces whose attributes or text may speak of challenges."""
_WIDGET = re.compile(rb"<(?!button\b|input\b).*\bclass=(?:[^=]{0,200}\s)?(g-recaptcha|h-captcha|cf-turnstile)(?![\w-])", re.S)
_FIELD = re.compile(rb"<(?:textarea|select)\b|<input\b(?!.*\btype=(?:hidden|submit|button|image))", re.S)
_SEEN = re.compile(
    rb"<(?:img|amp-img|picture|video|audio)\b|<noscript.*<img\b[^<>]*\balt=[^\s>]|<meta\b.*=og:|<script\b[^>]*\bld\+json", re.S
)


def find_challenge(status: int, sent: Mapping[str, str], body: bytes) -> str:
    """Return what shows that an answer is a challenge; '' for any other answer.

    Args:
        sent: its headers, by lower-case name.
        body: b'' to look at the headers alone.
    """
    for name, values in _HEADERS.items():
        if name in sent and sent[name].strip().lower() in values:
            return f"{name}: {sent[name].strip().lower()}"
    if status in _REFUSALS:
        for name in _REFUSING:
            if name in sent:
                return f"{status} with {name}"
    # Cheap checks first: almost every page has more links, or none of the marks.
    if not body or len(body) > LONGEST or _has_links(body):
        return ""
    page = body.lower().translate(None, b"\"'`\\")
    if not any(words[0] in page for words in _ALL):
        return ""
    pieces = [piece[0] for piece in _PIECE.finditer(page) if not piece[0].startswith(_HIDDEN)]
    text = unescape(b" ".join(_PIECE.sub(b" ", page).split()).decode("utf-8", "replace"))
    if len(text) > 4000 or sum(piece.startswith(b"<a ") for piece in pieces) > _MOST_LINKS:
        return ""
    code = b"\n".join(piece for piece in pieces if not _QUOTING.match(piece))
    mark = _find(_OWN, code)
    if not mark and not any(map(_FIELD.match, pieces)):
        bare = not any(map(_SEEN.match, pieces))
        # An answer that refuses has no content to lose.
        if len(text) <= 1000 if status in _REFUSALS else len(text) <= 200 and bare:
            mark = _find(_SHARED, code) or next(filter(None, map(_find_widget, pieces)), "")
        if not mark and bare and len(text) <= 500 and b"<script" not in code and b"<link" not in code:
            mark = _find(_REFUSAL, page)
    return mark


def _find(marks: Mapping[str, list[bytes]], code: bytes) -> str:
    return next((mark for mark, words in marks.items() if all(word in code for word in words)), "")


def _find_widget(piece: bytes) -> str:
    """Return what a tag has of a captcha that is seen, or of a page that forwards to one."""
    if piece.startswith(b"<meta"):
        return "refresh" if b"=refresh" in piece and any(word in piece for word in _WIDGETS) else ""
    widget = None if b"size=invisible" in piece or piece.startswith((b"<script", b"<noscript")) else _WIDGET.match(piece)
    return f"class {widget[1].decode()}" if widget else ""


def _has_links(body: bytes) -> bool:
    """Return whether a page's markup has more links than a challenge; of most pages the beginning suffices."""
    at = -1
    for _ in range(_MOST_LINKS + 1):
        at = body.find(b"<a ", at + 1)
        if at < 0:
            return False
    return True
