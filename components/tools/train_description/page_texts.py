"""Texts of pages that describe no image: titles, headings, the texts of links and buttons."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from selectolax.lexbor import LexborHTMLParser

from components.core.errors import HearsightError
from components.web.archives.any_input import ARCHIVE, decompress_head
from components.web.archives.encodings import MAGIC, BadRecord, decode_body
from components.web.archives.opening import PeekedStream, open_archive, read_fully
from components.web.archives.records import read_records
from components.web.archives.responses import parse_response
from components.web.budget import Budget
from components.web.html.page import cut_deep_nesting, decode, fold

SELECTORS = {
    "title": "title, meta[property='og:title']",
    "heading": "h1, h2, h3, h4, h5, h6",
    "button": "button, [role=button], input[type=submit], input[type=button]",
    "link": "a",
}
"""Kind of text → the elements that hold it; a text of several kinds counts as the first."""
MIN_WORDS, MAX_WORDS = 2, 60
_BUDGET = Budget()


def read_page_texts(path: str) -> Iterator[tuple[str, str, str]]:
    """Yield site, kind and text of each text of the pages of an HTML file (plain or gzip) or a WARC, each text once a page.

    Raises:
        HearsightError: the file cannot be read.
    """
    try:
        with open_archive(path) as opened:
            stream = PeekedStream(opened)
            for site, html, charset in _pages(stream, path):
                yield from ((site, kind, text) for text, kind in _texts(decode(html, charset)).items())
    except OSError as error:
        raise HearsightError(f"cannot be read ({error.strerror})", where=path, hint="give HTML or WARC files") from None


def _pages(stream: PeekedStream, path: str) -> Iterator[tuple[str, bytes, str | None]]:
    """Yield site, bytes and stated charset of each page; parts of an archive that cannot be read are left out."""
    if not ARCHIVE.match(decompress_head(stream.head)):
        data = read_fully(stream, _BUDGET.record_bytes)
        yield path, decode_body(data, b"gzip" if data.startswith(MAGIC) else b"", _BUDGET.record_bytes), None
        return
    for record in read_records(stream, _BUDGET.record_bytes):
        if record.fault or record.type != b"response" or not record.block.startswith(b"HTTP/"):
            continue
        try:
            response = parse_response(record.block)
            if response.html and 200 <= response.status < 300:
                yield urlsplit(record.url).hostname or path, response.body(_BUDGET.record_bytes), response.charset
        except BadRecord:
            continue


def _texts(html: str) -> dict[str, str]:
    """Return the texts of a page and their kinds."""
    tree = LexborHTMLParser(cut_deep_nesting(html))
    found: dict[str, str] = {}
    for kind, selector in SELECTORS.items():
        for node in tree.css(selector):
            attribute = "content" if node.tag == "meta" else "value" if node.tag == "input" else ""
            text = fold((node.attributes.get(attribute) if attribute else node.text()) or "")
            if MIN_WORDS <= len(text.split()) <= MAX_WORDS:
                found.setdefault(text, kind)
    return found
