"""Read image candidates from a WAT record: the JSON in which Common Crawl describes a page's links.

A link with the path ``IMG@/src`` is one ``<img src>``. A WAT has no srcset, no lazy loading and no position among images without
``src``. Format: Envelope, Payload-Metadata, HTTP-Response-Metadata, HTML-Metadata, Links and Head (https://commoncrawl.org).
"""

from __future__ import annotations

from functools import lru_cache
from itertools import count
from typing import Any

import orjson

from components.web.archives.encodings import BadRecord
from components.web.consent.statements import RSL, RSL_TYPE, Statement, parse_header_statements, parse_meta_statements
from components.web.html.context import LIMIT, Context, Repeated, index_headings, index_links, may_repeat, normalise
from components.web.html.language import UNKNOWN, parse_lang
from components.web.html.page import Candidate, Page, fold, make_candidate
from components.web.html.resolve import Resolver
from components.web.urls import make_absolute
from components.web.warc import SIGNAL_HEADERS, join_signals

IMAGE, LINK = "IMG@/src", "A@/href"
HTML_METADATA = b'"HTML-Metadata"'
"""Occurs in every record that describes a page, near its start."""
ROBOTS, TDM, LANGUAGE = "x-robots-tag", "tdm-reservation", "content-language"
"""The headers that are read."""


def read_wat_page(block: bytes, page_url: str, agent: str = "hearsight") -> Page | None:
    """Return the page that a WAT record describes, with its statements for ``agent``; None when it describes no HTML page.

    Raises:
        BadRecord: the block is not a WAT record.
    """
    if HTML_METADATA not in block:
        return None
    try:
        # The whole record: to search for the links that are images or have a text takes longer than to parse all.
        response = orjson.loads(block)["Envelope"]["Payload-Metadata"].get("HTTP-Response-Metadata") or {}
        html = response.get("HTML-Metadata")
        if html is None:
            return None
        head = html.get("Head") or {}
        metas = [meta for meta in head.get("Metas") or [] if isinstance(meta, dict)]
        headers = _headers(response.get("Headers") or {})
        base = (make_absolute(_string(head["Base"]), page_url) if "Base" in head else None) or page_url
        candidates = _candidates(html.get("Links") or [], base)
        _attach_context(candidates, html.get("Links") or [], _string(head.get("Title")), metas)
        statements = _statements(metas, headers, agent) + _licences(head.get("Link") or [], base)
        return Page(candidates, [], _language(metas, headers), tuple(statements))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadRecord("bad_metadata", f"{type(error).__name__}: {error}"[:200]) from None


def _candidates(links: list[dict[str, Any]], base: str) -> list[Candidate]:
    images = [link for link in links if link.get("path") == IMAGE]
    if not images:
        return []
    sources = [source.strip() if isinstance(source := link.get("url"), str) else "" for link in images]
    alts = [alt if alt is None or isinstance(alt, str) else "" for alt in (link.get("alt") for link in images)]
    urls = Resolver(base).resolve_all(sources)
    return [make_candidate(*each) for each in zip(urls, alts, count(), sources, strict=False)]


def _attach_context(candidates: list[Candidate], links: list[dict[str, Any]], title: str, metas: list[dict[str, Any]]) -> None:
    """Set the context of candidates as far as a WAT has it: title, texts of links, and how often an alt-text occurs."""
    described = [(each, normalise(each.alt)) for each in candidates if each.alt]
    if not described:
        return
    counts: dict[str, int] = {}
    for _, words in described:
        counts[words] = counts.get(words, 0) + 1
    stated = [("title", title), *(("og:title", _string(meta.get("content"))) for meta in metas if _is_title(meta))]
    titles = [Repeated(fold(text), kind) for kind, text in stated if text and len(text) <= LIMIT]
    headings = index_headings([each for each in titles if may_repeat(counts, each.text)])
    texts = [link["text"] for link in links if "text" in link and link.get("path") == LINK]
    found_links = index_links([text for text in texts if isinstance(text, str) and len(text) <= LIMIT])
    contexts = {}
    for words, number in counts.items():
        heading, link = headings.find(words), found_links.find(words)
        if heading is None and link is None:
            contexts[words] = _count_alone(number)
        else:
            contexts[words] = Context(
                heading=heading.text if heading else None,
                heading_kind=heading.kind if heading else None,
                link_text=fold(link) if link else None,
                site_count=number,
            )
    for candidate, words in described:
        candidate.context = contexts[words]


@lru_cache(maxsize=1024)
def _count_alone(site_count: int) -> Context:
    """Return the context of an alt-text that repeats nothing, as most do; equal ones are one object."""
    return Context(site_count=site_count)


def _is_title(meta: dict[str, Any]) -> bool:
    return "property" in meta and _string(meta["property"]).lower() == "og:title"


def _statements(metas: list[dict[str, Any]], headers: dict[str, str], agent: str) -> list[Statement]:
    """Return what headers and meta tags state for ``agent`` about being collected."""
    robots, tdm = headers.get(ROBOTS, ""), headers.get(TDM, "")
    statements = parse_header_statements(robots, tdm, join_signals(headers))
    named = ((_string(meta.get("name")), _string(meta.get("content"))) for meta in metas)
    return statements + parse_meta_statements(named, agent) if metas else statements


def _licences(links: list[dict[str, Any]], base: str) -> list[Statement]:
    """Return the licences of RSL that a page's ``<link>`` name."""
    named = [
        _string(link.get("url")) for link in links if isinstance(link, dict) and RSL_TYPE in _string(link.get("type")).lower()
    ]
    return [Statement(RSL, "link rel=license", make_absolute(address, base) or "no address") for address in named]


def _language(metas: list[dict[str, Any]], headers: dict[str, str]) -> str:
    """Return the language that a meta tag or header states; a WAT holds neither the ``lang`` attribute nor the text."""
    for meta in metas:
        if "http-equiv" in meta and _string(meta["http-equiv"]).lower() == LANGUAGE:
            return parse_lang(_string(meta.get("content"))) or UNKNOWN
    return parse_lang(headers.get(LANGUAGE)) or UNKNOWN


def _headers(headers: dict[str, Any]) -> dict[str, str]:
    """Return the headers that are read, one line per value.

    Writers of WAT keep repeated headers as a list, or under names of different case.
    """
    kept: dict[str, list[str]] = {}
    for name, value in headers.items():
        if (name := name.lower()) in (ROBOTS, TDM, LANGUAGE, *SIGNAL_HEADERS):
            kept.setdefault(name, []).extend(_string(item) for item in (value if isinstance(value, list) else [value]))
    return {name: (", " if name in SIGNAL_HEADERS else "\n").join(values) for name, values in kept.items()}


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""
