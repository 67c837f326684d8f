"""Read image candidates from a WAT record: the JSON in which Common Crawl describes a page's links.

A link with the path ``IMG@/src`` is one ``<img src>``. A WAT has no srcset, no lazy loading and no position among images without
``src``. Format: Envelope, Payload-Metadata, HTTP-Response-Metadata, HTML-Metadata, Links and Head (https://commoncrawl.org).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import orjson

from components.web.archives.wat_links import find_image_links
from components.web.html.language import UNKNOWN, parse_lang
from components.web.html.page import Candidate, Page
from components.web.html.pairs import asks_noindex, make_candidate
from components.web.html.resolve import Resolver
from components.web.urls import make_absolute

IMAGE = "IMG@/src"
HTML_METADATA = b'"HTML-Metadata"'
"""Occurs in every record that describes a page, near its start."""


class BadMetadata(ValueError):
    """The JSON is broken or does not have a WAT record's structure."""


def read_wat_page(block: bytes, page_url: str) -> Page | None:
    """Return the page that a WAT record describes; None when it describes no HTML page.

    Raises:
        BadMetadata: the block is not a WAT record.
    """
    if HTML_METADATA not in block:
        return None
    block = _drop_other_links(block)
    lowered = block.lower()
    try:
        response = orjson.loads(block)["Envelope"]["Payload-Metadata"].get("HTTP-Response-Metadata") or {}
        html = response.get("HTML-Metadata")
        if html is None:
            return None
        head = html.get("Head") or {}
        metas = [meta for meta in head.get("Metas") or [] if isinstance(meta, dict)]
        headers = response.get("Headers") or {}
        base = (make_absolute(_string(head["Base"]), page_url) if "Base" in head else None) or page_url
        opted_out = (b"robots" in lowered or b"hearsight" in lowered) and _noindex(metas, headers)
        language = _language(metas, headers) if b"content-language" in lowered else UNKNOWN
        return Page(_candidates(html.get("Links") or [], base), [], opted_out, language)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadMetadata(f"{type(error).__name__}: {error}"[:200]) from None


def _drop_other_links(block: bytes) -> bytes:
    """Return the record without links that are not images (most of them); unchanged when its keys are in another order.

    A quote inside a JSON string is escaped, so the searched bytes are always keys and links.
    """
    start, end = block.find(b'"Links":['), block.rfind(b"}]")
    if start < 0 or end < start or block.find(b'"Head', start, end) >= 0:
        return block
    spans = find_image_links(np.frombuffer(block, np.uint8)).tolist()
    if len(spans) != block.count(b'"IMG@/src"'):
        return block
    links = b",".join([block[first:last] for first, last in spans])
    return b"".join((block[:start], b'"Links":[', links, b"]", block[end + 2 :]))


def _candidates(links: list[dict[str, Any]], base: str) -> list[Candidate]:
    resolve = Resolver(base)
    candidates: list[Candidate] = []
    for link in links:
        if link.get("path") != IMAGE:
            continue
        alt, source = link.get("alt"), link.get("url")
        source = source.strip() if isinstance(source, str) else ""
        url = resolve(source) if source else None
        inline = url is None and source[:5].lower() == "data:"
        candidates.append(
            make_candidate(url, alt if alt is None or isinstance(alt, str) else "", len(candidates), source, inline)
        )
    return candidates


def _noindex(metas: list[dict[str, Any]], headers: dict[str, Any]) -> bool:
    directives: list[dict[str, str | None]] = [{key: _string(meta.get(key)) for key in ("name", "content")} for meta in metas]
    for name, value in headers.items():
        if name.lower() == "x-robots-tag":
            directives.append({"name": "robots", "content": _string(value).replace(":", ",")})
    return asks_noindex(directives)


def _language(metas: list[dict[str, Any]], headers: dict[str, Any]) -> str:
    """Return the language that a meta tag or header states; a WAT holds neither the ``lang`` attribute nor the text."""
    for meta in metas:
        if _string(meta.get("http-equiv")).lower() == "content-language":
            return parse_lang(_string(meta.get("content"))) or UNKNOWN
    for name, value in headers.items():
        if name.lower() == "content-language":
            return parse_lang(_string(value)) or UNKNOWN
    return UNKNOWN


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""
