"""Sitemaps (sitemaps.org protocol 0.9): the pages a site lists itself, and when each last changed.

XML (``urlset`` and ``sitemapindex``), plain text, and either gzipped. The parser knows no document types, so there are
no entities to expand and nothing outside to fetch; what is broken gives what stood before the break. Not in scope:
which sitemaps are asked for (``walk``).
"""

from __future__ import annotations

import gzip
import io
import zlib
from dataclasses import dataclass, field
from xml.parsers import expat

from components.web.urls import host_of, make_absolute

MAX_BYTES = 50 * 1024 * 1024
"""Of one sitemap, unpacked (the protocol's own limit); the rest is ignored."""
MAX_URLS = 50_000
"""In one sitemap (the protocol's own limit); the rest is ignored."""
MAX_FILES = 500
"""Sitemaps asked for in one crawl."""


@dataclass
class Sitemap:
    """What one sitemap lists."""

    pages: dict[str, str] = field(default_factory=dict)
    """Page → its lastmod as spelled, or ''."""
    sitemaps: dict[str, str] = field(default_factory=dict)
    """Further sitemaps → lastmod."""
    problem: str = ""
    """'' or why not all of it, or nothing, could be read."""


def read_sitemap(data: bytes, url: str) -> Sitemap:
    """What the body of a sitemap at ``url`` lists; never raises, whatever ``data`` holds."""
    found = Sitemap()
    if data.startswith(b"\x1f\x8b"):
        data = _unpacked(data, found)
    if len(data) > MAX_BYTES:
        data, found.problem = data[:MAX_BYTES], f"over {MAX_BYTES} bytes"
    if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        _read_xml(data, url, found)
    else:
        _read_text(data, url, found)
    if not (found.pages or found.sitemaps or found.problem):
        found.problem = "lists nothing"
    return found


def _unpacked(data: bytes, found: Sitemap) -> bytes:
    """gzip members, to the limit and no further: a small file can unpack to anything."""
    content = bytearray()
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
            while len(content) <= MAX_BYTES and (piece := stream.read1(1 << 16)):
                content += piece
    except EOFError:
        found.problem = "truncated gzip"
    except (OSError, zlib.error):
        found.problem = "broken gzip"
    return bytes(content)


def _read_text(data: bytes, url: str, found: Sitemap) -> None:
    for line in data.decode("utf-8-sig", "replace").splitlines():
        if line.strip().startswith(("http://", "https://")):
            _take(found, found.pages, line, "", url)


class _Enough(Exception):
    """Reading ends here."""


def _read_xml(data: bytes, url: str, found: Sitemap) -> None:
    parser = expat.ParserCreate(namespace_separator=" ")
    path: list[str] = []
    text: dict[str, str] = {}

    def start(name: str, _: object) -> None:
        path.append(name.rpartition(" ")[2].lower())
        if len(path) > 20:
            raise _Enough("nested too deep")
        if path[-1] in ("url", "sitemap"):
            text.clear()

    def said(piece: str) -> None:
        # Only <url><loc>, not <image:loc> inside it.
        if len(path) == 3 and path[-1] in ("loc", "lastmod") and len(text.get(path[-1], "")) < 4096:
            text[path[-1]] = text.get(path[-1], "") + piece

    def end(_: str) -> None:
        kind = path.pop()
        if kind in ("url", "sitemap") and len(path) == 1 and text.get("loc"):
            _take(found, found.pages if kind == "url" else found.sitemaps, text["loc"], text.get("lastmod", ""), url)
            if len(found.pages) + len(found.sitemaps) >= MAX_URLS:
                raise _Enough(f"over {MAX_URLS} addresses")

    def doctype(*_: object) -> None:
        raise _Enough("has a document type")

    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, said
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = doctype
    try:
        parser.Parse(data, True)
    except _Enough as why:
        found.problem = str(why)
    except (expat.ExpatError, ValueError, LookupError):
        found.problem = found.problem or "broken XML"


def _take(found: Sitemap, into: dict[str, str], address: str, lastmod: str, url: str) -> None:
    target = make_absolute(address.strip(), url)
    if target and host_of(target):
        into.setdefault(target, lastmod.strip()[:40])
