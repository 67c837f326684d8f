"""Read sitemaps (sitemaps.org protocol 0.9) from stored answers: the pages that a site lists and when each last changed.

XML (``urlset`` and ``sitemapindex``), plain text, and either gzipped. Document types are refused, so no entities are expanded and
nothing external is fetched. A broken file gives the entries before the break.
"""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from xml.parsers import expat

from components.core.ledger import dropped
from components.core.text_encoding import decode_text, find_encoding
from components.web.answers import Answers
from components.web.robots import robots_url
from components.web.urls import host_of, make_absolute

MAX_BYTES = 50 * 1024 * 1024
"""Bytes of one sitemap, decompressed (the protocol's limit); the rest is ignored."""
MAX_URLS = 50_000
"""Addresses in one sitemap (the protocol's limit); the rest is ignored."""
MAX_FILES = 500
"""Sitemaps requested in one crawl."""


@dataclass
class Sitemap:
    """The content of one sitemap."""

    pages: dict[str, str] = field(default_factory=dict)
    """Page → its lastmod as spelled, or ''."""
    sitemaps: dict[str, str] = field(default_factory=dict)
    """Further sitemaps → lastmod."""
    problem: str = ""
    """'' or why not all of it could be read."""


def read_sitemap(data: bytes, url: str) -> Sitemap:
    """Return the content of a sitemap at ``url``; never raises, for any ``data``."""
    sitemap = Sitemap()
    if data.startswith(b"\x1f\x8b"):
        data = _decompress(data, sitemap)
    if len(data) > MAX_BYTES:
        data, sitemap.problem = data[:MAX_BYTES], f"over {MAX_BYTES} bytes"
    if decode_text(data[:1024], "replace").lstrip().startswith("<"):
        _read_xml(data, url, sitemap)
    else:
        for line in decode_text(data, "replace").splitlines():
            if line.strip().startswith(("http://", "https://")):
                _add(sitemap, sitemap.pages, line, "", url)
    if not (sitemap.pages or sitemap.sitemaps or sitemap.problem):
        sitemap.problem = "lists nothing"
    return sitemap


def _decompress(data: bytes, sitemap: Sitemap) -> bytes:
    """Decompress gzip up to the limit: a small file can expand to any size."""
    content = bytearray()
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
            while len(content) <= MAX_BYTES and (piece := stream.read1(1 << 16)):
                content += piece
    except EOFError:
        sitemap.problem = "truncated gzip"
    except (OSError, zlib.error):
        sitemap.problem = "broken gzip"
    return bytes(content)


class _StopParsing(Exception):
    """Ends parsing; the message is the sitemap's problem."""


def _read_xml(data: bytes, url: str, sitemap: Sitemap) -> None:
    # The bytes decide before the declaration, which many files have behind an empty line.
    wide = find_encoding(data) != "utf-8-sig"
    data = decode_text(data, "replace").encode() if wide else data.removeprefix(codecs.BOM_UTF8)
    parser = expat.ParserCreate("utf-8" if wide else None, " ")
    path: list[str] = []
    text: dict[str, str] = {}

    def start(name: str, _: object) -> None:
        path.append(name.rpartition(" ")[2].lower())
        if len(path) > 20:
            raise _StopParsing("nested too deep")
        if path[-1] in ("url", "sitemap"):
            text.clear()

    def characters(piece: str) -> None:
        # <url><loc> only, not an <image:loc> inside it.
        if len(path) == 3 and path[-1] in ("loc", "lastmod") and len(text.get(path[-1], "")) < 4096:
            text[path[-1]] = text.get(path[-1], "") + piece

    def end(_: str) -> None:
        kind = path.pop()
        if kind in ("url", "sitemap") and len(path) == 1 and text.get("loc"):
            _add(sitemap, sitemap.pages if kind == "url" else sitemap.sitemaps, text["loc"], text.get("lastmod", ""), url)
            if len(sitemap.pages) + len(sitemap.sitemaps) >= MAX_URLS:
                raise _StopParsing(f"over {MAX_URLS} addresses")

    def doctype(*_: object) -> None:
        raise _StopParsing("has a document type")

    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, characters
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = doctype
    try:
        parser.Parse(data.lstrip(), True)
    except _StopParsing as reason:
        sitemap.problem = str(reason)
    except (expat.ExpatError, ValueError, LookupError):
        sitemap.problem = sitemap.problem or "broken XML"


def _add(sitemap: Sitemap, entries: dict[str, str], address: str, lastmod: str, url: str) -> None:
    target = make_absolute(address.strip(), url)
    if target and host_of(target):
        entries.setdefault(target, lastmod.strip()[:40])


@dataclass
class ListedPages:
    """The pages in sitemaps."""

    pages: dict[str, str] = field(default_factory=dict)
    """Page → its lastmod as spelled, or ''."""
    rows: dict[str, dict[str, str]] = field(default_factory=dict)
    """Sitemap URL → its ledger row, for missing or broken sitemaps."""


def read_listed(answers: Answers, ensure: Callable[[Collection[str]], None], origins: Iterable[str], most: int) -> ListedPages:
    """Follow the sitemaps of every host (those in its robots.txt, else ``/sitemap.xml``) and return their pages.

    A sitemap that is missing or broken leaves a ledger row, except a missing ``/sitemap.xml`` that no robots.txt names.

    Args:
        ensure: called with the sitemaps that are read next.
        origins: a URL of each host.
        most: stop opening sitemaps at this number of pages.

    Raises:
        NotFetched: ``ensure`` did not provide an answer.
    """
    listed, named, guessed = ListedPages(), set[str](), set[str]()
    roots = sorted({robots_url(url) for url in origins})
    ensure(roots)
    for root in roots:
        lines = [target for line in answers.rules(root).sitemaps if (target := make_absolute(line, root))]
        named.update(lines)
        guessed.update([] if lines else [root.removesuffix("robots.txt") + "sitemap.xml"])
    level, seen = sorted(named | guessed), set[str]()
    while level:
        room = MAX_FILES - len(seen)
        for url in level[room:]:
            listed.rows[url] = dropped(url, "sitemap_limit", f"over {MAX_FILES}", MAX_FILES, kind="page")
        level = level[:room]
        seen.update(level)
        ensure(level)
        following: set[str] = set()
        for url in level:
            outcome = answers.outcome(url, page=True)
            if outcome.rule:
                if url in named or outcome.rule != "http_status":
                    listed.rows[url] = dropped(
                        url, outcome.rule, outcome.value, outcome.threshold, kind="page", detail="a sitemap"
                    )
                continue
            content = read_sitemap(answers.store.body(outcome.final), outcome.final)
            if content.problem and (url in named or content.pages or content.sitemaps):
                listed.rows[url] = dropped(
                    url, "not_sitemap", content.problem, "a whole sitemap", kind="page", detail="a sitemap"
                )
            for page, lastmod in content.pages.items():
                listed.pages[page] = max(listed.pages.get(page, ""), lastmod)
            named.update(content.sitemaps)
            following.update(content.sitemaps)
        if len(listed.pages) >= most:
            break
        level = sorted(following - seen)
    return listed
