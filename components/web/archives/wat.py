"""Read image candidates from a WAT record: the JSON in which Common Crawl describes a page's links.

A link with the path ``IMG@/src`` is one ``<img src>``. A WAT has no srcset, no lazy loading and no position among images without
``src``. Format: Envelope, Payload-Metadata, HTTP-Response-Metadata, HTML-Metadata, Links and Head (https://commoncrawl.org).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import orjson
from numba import njit, types

from components.web.archives.encodings import BadRecord
from components.web.consent_policy import parse_header_statements, parse_meta_statements
from components.web.html.language import UNKNOWN, parse_lang
from components.web.html.page import Candidate, Page
from components.web.html.pairs import make_candidate
from components.web.html.resolve import Resolver
from components.web.urls import make_absolute

IMAGE = "IMG@/src"
HTML_METADATA = b'"HTML-Metadata"'
"""Occurs in every record that describes a page, near its start."""


_OPEN = np.frombuffer(b'{"path":"IMG@/src"', np.uint8)
_QUOTE, _BACKSLASH, _COMMA, _COLON, _BRACE, _CLOSE = (ord(character) for character in '"\\,:{}')


@njit(cache=True)
def _begins(data, at):  # type: ignore[no-untyped-def]
    for i in range(len(_OPEN)):  # noqa: SIM110  (faster than all() here)
        if data[at + i] != _OPEN[i]:
            return False
    return True


@njit(cache=True)
def _after_string(data, at, end):  # type: ignore[no-untyped-def]
    """Return the position after the closing quote of the JSON string whose characters start at ``at``; -1 when it has no end."""
    while at < end and data[at] != _QUOTE:
        at += 2 if data[at] == _BACKSLASH and end - at > 1 else 1
    return at + 1 if at < end else -1


# Compiled (or loaded from the cache) at import, once, before a pool of workers is forked.
@njit((types.Array(types.uint8, 1, "C", readonly=True),), cache=True)
def find_image_links(data):  # type: ignore[no-untyped-def]
    """Return the positions of links of the form ``{"path":"IMG@/src","NAME":"STRING",...}``.

    Args:
        data: uint8, the record's JSON without spaces between tokens, as it is usually written.

    Returns:
        int64 rows ``(start, end)``. Links of other forms (with a number, for example) are left out.
    """
    end = len(data)
    rows, count, at = np.empty((64, 2), np.int64), 0, 0
    while at < end - len(_OPEN):
        if data[at] != _BRACE or not _begins(data, at):
            at += 1
            continue
        start = at
        at += len(_OPEN)
        position = at
        while position >= 0 and end - position > 2 and data[position] == _COMMA and data[position + 1] == _QUOTE:
            position = _after_string(data, position + 2, end)
            if position < 0 or end - position < 2 or data[position] != _COLON or data[position + 1] != _QUOTE:
                position = -1
            else:
                position = _after_string(data, position + 2, end)
        if position < 0 or position >= end or data[position] != _CLOSE:
            continue
        if count == len(rows):
            larger = np.empty((2 * count, 2), np.int64)
            larger[:count] = rows
            rows = larger
        at = position + 1
        rows[count, 0], rows[count, 1] = start, at
        count += 1
    return rows[:count]


def read_wat_page(block: bytes, page_url: str, agent: str = "hearsight") -> Page | None:
    """Return the page that a WAT record describes, with its statements for ``agent``; None when it describes no HTML page.

    Raises:
        BadRecord: the block is not a WAT record.
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
        language = _language(metas, headers) if b"content-language" in lowered else UNKNOWN
        statements = parse_header_statements(_header(headers, "x-robots-tag"), _header(headers, "tdm-reservation"), agent)
        statements += parse_meta_statements(((_string(meta.get("name")), _string(meta.get("content"))) for meta in metas), agent)
        return Page(_candidates(html.get("Links") or [], base), [], language, tuple(statements))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadRecord("bad_metadata", f"{type(error).__name__}: {error}"[:200]) from None


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
        alt = alt if alt is None or isinstance(alt, str) else ""
        candidates.append(make_candidate(url, alt, len(candidates), source))
    return candidates


def _language(metas: list[dict[str, Any]], headers: dict[str, Any]) -> str:
    """Return the language that a meta tag or header states; a WAT holds neither the ``lang`` attribute nor the text."""
    for meta in metas:
        if _string(meta.get("http-equiv")).lower() == "content-language":
            return parse_lang(_string(meta.get("content"))) or UNKNOWN
    return parse_lang(_header(headers, "content-language")) or UNKNOWN


def _header(headers: dict[str, Any], wanted: str) -> str:
    """Return a header, one line per value: writers of WAT keep repeated headers as a list, or under names of different case."""
    values = [value for name, value in headers.items() if name.lower() == wanted]
    return "\n".join(_string(value) for item in values for value in (item if isinstance(item, list) else [item]))


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""
