"""Pages read: the images with their alt-text, and the links (row C1 of the mission).

Everything a page can hold is accepted: broken entities, unclosed tags, wrong charsets, relative and ``data:``
addresses, ``srcset`` and ``<picture>``, lazy loading. Nothing here raises and nothing here touches the network;
whether an image is worth keeping is decided elsewhere.
"""

from __future__ import annotations

import codecs
import html as entities
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from components.crawl.figures import CAPTION_LIMIT, figcaptions, figure_of
from components.crawl.language import page_language
from components.crawl.nesting import shallow
from components.crawl.urls import absolute
from components.crawl.web.manners import meta_statements

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

LAZY = ("data-src", "data-original", "data-lazy-src")
DECODABLE = ("image/jpeg", "image/png", "image/gif", "image/webp", "image/jpg")
_META_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([A-Za-z0-9_.:-]{2,40})""", re.I)
_XML_ENCODING = re.compile(rb"""^\s*<\?xml[^>]{0,100}?encoding\s*=\s*["']([A-Za-z0-9_.:-]{2,40})""", re.I)
_ENTITY = re.compile(r"&(#\d{1,7}|#x[0-9a-f]{1,6}|[a-z]{2,8}\d?);", re.I)
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]")
"""Controls, and what shows nothing: soft hyphens, zero-width spaces, marks of direction. (Joiners do: in emoji and Indic.)"""
SURROGATES = re.compile(r"[\ud800-\udfff]")
# What browsers read when a page says these (WHATWG Encoding Standard, section 4.2).
_AS_BROWSERS_DO = {"iso8859-1": "cp1252", "ascii": "cp1252", "gb2312": "gb18030", "gbk": "gb18030"}


@dataclass(frozen=True)
class Candidate:
    """One ``<img>`` of a page."""

    image_url: str | None
    """The absolute address of its largest version; None when it has none that can be fetched."""
    alt: str
    """The alt-text: entities decoded, white space folded, possibly empty."""
    position: int
    """Its order among the page's ``<img>``, from 0."""
    source: str
    """The address as the page spells it, cut to 200 characters (a ``data:`` URI is a whole picture)."""
    data_uri: bool = False
    """Its only picture is inside the page."""
    has_alt: bool = True
    """False when the attribute is missing, which is not the same as an empty one."""
    figcaption: str = ""
    """Its ``<figure>``'s ``<figcaption>``; folded, cut to ``CAPTION_LIMIT``, '' for none."""


@dataclass(frozen=True)
class Page:
    """What a crawl wants to know of a page."""

    candidates: list[Candidate]
    links: list[str]
    """Absolute addresses in document order, each once; none when the page asks not to be followed."""
    noindex: bool
    """The page asks robots, in a meta tag, to keep it or its images out of collections."""
    language: str = "un"
    """ISO 639-1, declared or guessed."""
    metas: tuple[tuple[str, str], ...] = ()
    """(name, content) of its meta tags for robots and of its text-and-data-mining reservation; see ``web.manners``."""


def decode(data: bytes, charset_hint: str | None = None) -> str:
    """A page's text: byte-order mark, then ``charset_hint`` (the HTTP header), then what the page says, then UTF-8.

    What does not decode becomes U+FFFD, except that a page of no stated charset that is not UTF-8 is read as
    Windows-1252, as browsers do.
    """
    for mark, name in ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):
        if data.startswith(mark):
            return data[len(mark) :].decode(name, "replace")
    codec = stated_codec(data, charset_hint)
    if codec:
        text = data.decode(codec, "replace")
        return text if codec == "utf-8" else SURROGATES.sub("\ufffd", text)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def stated_codec(data: bytes, charset_hint: str | None = None) -> str | None:
    """Python's name of the charset that the HTTP header, or else the page, states; None when neither names a known one."""
    codec = _codec(charset_hint)
    if codec is None:
        said = _META_CHARSET.search(data[:4096]) or _XML_ENCODING.search(data[:200])
        codec = _codec(said.group(1).decode("ascii")) if said else None
    return codec


@lru_cache(maxsize=256)
def _codec(name: str | None) -> str | None:
    try:
        found = codecs.lookup((name or "").strip("\"' \t"))
    except (LookupError, ValueError):
        return None
    # Python also registers codecs that are no charsets (rot13, zlib) and that would raise.
    if not getattr(found, "_is_text_encoding", True) or found.name in ("idna", "punycode", "undefined", "unicode_escape"):
        return None
    return _AS_BROWSERS_DO.get(found.name, found.name)


def fold(text: str) -> str:
    """Text on one line: what is left of entities escaped twice is decoded, white space folded, controls removed."""
    if "&" in text and _ENTITY.search(text):
        text = entities.unescape(text)
    return " ".join(_CONTROLS.sub("", SURROGATES.sub("\ufffd", text)).split())


def read_page(html: bytes | str, page_url: str, charset_hint: str | None = None, agent: str = "hearsight") -> Page:
    """The images, links and wishes (to all robots and to ``agent``) of one page; never raises, whatever ``html`` holds."""
    from selectolax.lexbor import LexborHTMLParser

    text = SURROGATES.sub("\ufffd", html) if isinstance(html, str) else decode(html, charset_hint)
    # A NUL ends a C string somewhere below, and the HTML standard replaces it anyway.
    tree = LexborHTMLParser(shallow(text.replace("\x00", "\ufffd")))
    base: str = page_url
    for node in tree.css("base[href]"):
        base = absolute(str(node.attributes.get("href") or ""), page_url) or page_url
        break
    metas = tuple(
        (name, node.attributes.get("content") or "")
        for node in tree.css("meta[name][content]")
        if (name := (node.attributes.get("name") or "").strip().lower()) in ("robots", "tdm-reservation", agent.lower())
    )
    wishes = {statement.word for statement in meta_statements(metas, agent)}
    said = figcaptions(tree)
    candidates = [
        _candidate(node, position, base, _figcaption(node, said) if said else "") for position, node in enumerate(tree.css("img"))
    ]
    links: dict[str, None] = {}
    if not wishes & {"nofollow", "none"}:
        for node in tree.css("a[href], area[href], frame[src], iframe[src]"):
            if "nofollow" in (node.attributes.get("rel") or "").lower().split():
                continue
            target = absolute(node.attributes.get("href") or node.attributes.get("src") or "", base)
            if target:
                links[target] = None
    return Page(candidates, list(links), bool(wishes & {"noindex", "none", "noimageindex"}), page_language(tree), metas)


def image_candidates(html: bytes | str, page_url: str, charset_hint: str | None = None) -> list[Candidate]:
    """Every ``<img>`` of a page, in document order."""
    return read_page(html, page_url, charset_hint).candidates


def links(html: bytes | str, page_url: str, charset_hint: str | None = None) -> list[str]:
    """The addresses a page links to, in document order, each once."""
    return read_page(html, page_url, charset_hint).links


def _figcaption(node: LexborNode, said: dict[int, str]) -> str:
    figure = figure_of(node)
    return fold(said.get(figure.mem_id, ""))[:CAPTION_LIMIT].rstrip() if figure is not None else ""


def _candidate(node: LexborNode, position: int, base: str, figcaption: str) -> Candidate:
    attributes = node.attributes
    alt = attributes.get("alt")
    offers: list[tuple[int, float, str]] = []
    for name in ("src", *LAZY):
        if (attributes.get(name) or "").strip():
            offers.append((0, 1.0, (attributes.get(name) or "").strip()))
    for name in ("srcset", "data-srcset"):
        offers += parse_srcset(attributes.get(name) or "")
    parent = node.parent
    if parent is not None and parent.tag == "picture":
        for source in parent.css("source[srcset]"):
            if (source.attributes.get("type") or DECODABLE[0]).strip().lower() in DECODABLE:
                offers += parse_srcset(source.attributes.get("srcset") or "")
    spelled = offers[0][2] if offers else ""
    # A data: URI beside a real address is a placeholder for lazy loading.
    usable = [(width, density, url) for width, density, raw in offers if (url := absolute(raw, base))]
    best = max(usable, key=lambda offer: offer[:2], default=None)  # the first of equals, so ``src`` first
    return Candidate(
        image_url=best[2] if best else None,
        alt=fold(alt or ""),
        position=position,
        source=spelled[:200],
        data_uri=best is None and spelled[:5].lower() == "data:",
        has_alt=alt is not None,
        figcaption=figcaption,
    )


def parse_srcset(text: str) -> list[tuple[int, float, str]]:
    """The offers of a ``srcset``: (width in px or 0, density or 1, address as spelled), in order.

    Follows the HTML standard's splitting (4.8.4.2.1): an address runs to white space and may hold commas; one that
    ends in a comma has no descriptor. Offers with descriptors that make no sense are left out.
    """
    offers: list[tuple[int, float, str]] = []
    rest = text
    while rest := rest.lstrip(" \t\r\n\f,"):
        match = re.match(r"[^ \t\r\n\f]+", rest)
        if match is None:
            break
        url, rest = match.group(), rest[match.end() :]
        descriptor = ""
        if url.endswith(","):
            url = url.rstrip(",")
        else:
            descriptor, _, rest = rest.partition(",")
        size = _descriptor(descriptor.split())
        if size and url:
            offers.append((*size, url))
    return offers


def _descriptor(words: list[str]) -> tuple[int, float] | None:
    width, density = 0, 1.0
    for word in words:
        value, unit = word[:-1], word[-1]
        if unit == "w" and value.isascii() and value.isdigit() and len(value) < 7:
            width = int(value)
        elif unit == "x" and re.fullmatch(r"\d{1,4}(\.\d{1,6})?", value, re.ASCII):
            density = float(value)
        elif unit != "h":
            return None
    return width, density
