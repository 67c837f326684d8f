"""Pages read: the images with their alt-text, and the links (row C1 of the mission).

Everything a page can hold is accepted: broken entities, unclosed tags, wrong charsets, relative and ``data:``
addresses, ``srcset`` and ``<picture>``, lazy loading. Reading takes time linear in the size of the page. Nothing here raises,
except for what a budget forbids, and nothing touches the network; whether an image is worth keeping is decided elsewhere.
"""

from __future__ import annotations

import codecs
import html as entities
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from components.web.consent_policy import parse_meta_statements
from components.web.html.figures import CAPTION_LIMIT, find_figure, read_figcaptions
from components.web.html.language import detect_language
from components.web.html.nesting import cut_deep_nesting
from components.web.html.offers import NO_CHOICE, Choice, choose, pick_larger, read_image_offers, read_source_offers
from components.web.html.offers import parse_srcset as parse_srcset
from components.web.urls import make_absolute

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_META_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([A-Za-z0-9_.:-]{2,40})""", re.I)
_XML_ENCODING = re.compile(rb"""^\s*<\?xml[^>]{0,100}?encoding\s*=\s*["']([A-Za-z0-9_.:-]{2,40})""", re.I)
_ENTITY = re.compile(r"&(#\d{1,7}|#x[0-9a-f]{1,6}|[a-z]{2,8}\d?);", re.I)
_LONG_NUMBER = re.compile(r"&#(?:0++)?([0-9]{8})?[0-9]*+")
_CONTROLS = re.compile(
    "[\\x00-\\x08\\x0e-\\x1f\\x7f-\\x84\\x86-\\x9f\\u00ad\\u034f\\u061c\\u200b\\u200e\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ufeff"
    "\\ufff9-\\ufffb\\U0001bca0-\\U0001bca3\\U0001d173-\\U0001d17a\\U000e0001]"
)
"""Controls (C0 and C1, but for those that are white space, U+0085 among them), and what shows nothing: soft hyphens, zero-width
spaces, marks of direction, of annotation and of language. (Joiners and variation selectors do: in emoji, Indic, Mongolian.)"""
SURROGATES = re.compile(r"[\ud800-\udfff]")
# What browsers read when a page says these (WHATWG Encoding Standard, section 4.2).
_AS_BROWSERS_DO = {"iso8859-1": "cp1252", "ascii": "cp1252", "gb2312": "gb18030", "gbk": "gb18030"}


class PageOverBudget(Exception):
    """A page costs more than its budget.

    Args:
        reason: what was exceeded, in words.
        threshold: the limit, with its unit.
    """

    def __init__(self, reason: str, threshold: str) -> None:
        super().__init__(reason, threshold)
        self.reason = reason
        self.threshold = threshold


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
    taken: str = ""
    """Of what is taken down, with spaces between: the record's key, the entry's hash, and the sha256 of the image's address."""


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
    codec = find_codec(data, charset_hint)
    if codec:
        text = data.decode(codec, "replace")
        return text if codec == "utf-8" else SURROGATES.sub("\ufffd", text)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def find_codec(data: bytes, charset_hint: str | None = None) -> str | None:
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
        text = entities.unescape(_LONG_NUMBER.sub(_short_number, text) if "&#" in text else text)
    return " ".join(_CONTROLS.sub("", SURROGATES.sub("\ufffd", text)).split())


def _short_number(match: re.Match[str]) -> str:
    """A numeric reference of any length as one that Python reads: it refuses numbers of thousands of digits."""
    return "&#1114112" if match[1] else "&#" + match[0][2:].lstrip("0").rjust(1, "0") if len(match[0]) > 9 else match[0]


def read_page(
    html: bytes | str,
    page_url: str,
    charset_hint: str | None = None,
    agent: str = "hearsight",
    *,
    most_images: int | None = None,
    most_links: int | None = None,
) -> Page:
    """The images, links and wishes (to all robots and to ``agent``) of one page, whatever ``html`` holds.

    Args:
        most_images: ``<img>`` a page may have.
        most_links: links that are returned; further ones are left out.

    Raises:
        PageOverBudget: it has more than ``most_images``.
        MemoryError: there is not enough memory for it.
    """
    from selectolax.lexbor import LexborHTMLParser, SelectolaxError

    text = SURROGATES.sub("\ufffd", html) if isinstance(html, str) else decode(html, charset_hint)
    # A NUL ends a C string somewhere below, and the HTML standard replaces it anyway.
    try:
        tree = LexborHTMLParser(cut_deep_nesting(text.replace("\x00", "\ufffd")))
    except SelectolaxError as error:  # every text is HTML: there is no other reason
        raise MemoryError("the parser ran out of memory") from error
    images = tree.css("img")
    check_image_count(len(images), most_images)
    base: str = page_url
    for node in tree.css("base[href]"):
        base = make_absolute(str(node.attributes.get("href") or ""), page_url) or page_url
        break
    metas = tuple(
        (name, node.attributes.get("content") or "")
        for node in tree.css("meta[name][content]")
        if (name := (node.attributes.get("name") or "").strip().lower()) in ("robots", "tdm-reservation", agent.lower())
    )
    wishes = {statement.word for statement in parse_meta_statements(metas, agent)}
    said = (
        {figure: fold(caption)[:CAPTION_LIMIT].rstrip() for figure, caption in read_figcaptions(tree).items()} if images else {}
    )
    pictures: dict[int, Choice] = {}
    candidates = [
        _candidate(node, position, base, pictures, _figcaption(node, said) if said else "")
        for position, node in enumerate(images)
    ]
    links: list[str] = [] if wishes & {"nofollow", "none"} else _links(tree, base, most_links)
    return Page(candidates, links, bool(wishes & {"noindex", "none", "noimageindex"}), detect_language(tree), metas)


def check_image_count(count: int, most: int | None) -> None:
    """Raise PageOverBudget for a page of more than ``most`` images."""
    if most is not None and count > most:
        raise PageOverBudget(f"{count} images", f"{most} images")


def _links(tree: LexborHTMLParser, base: str, most: int | None) -> list[str]:
    links: dict[str, None] = {}
    for node in tree.css("a[href], area[href], frame[src], iframe[src]") if most != 0 else ():
        attributes = node.attributes
        if "nofollow" in (attributes.get("rel") or "").lower().split():
            continue
        target = make_absolute(attributes.get("href") or attributes.get("src") or "", base)
        if target:
            links[target] = None
            if len(links) == most:
                break
    return list(links)


def _figcaption(node: LexborNode, said: dict[int, str]) -> str:
    figure = find_figure(node)
    return said.get(figure.mem_id, "") if figure is not None else ""


def _candidate(node: LexborNode, position: int, base: str, pictures: dict[int, Choice], figcaption: str) -> Candidate:
    attributes = node.attributes
    alt = attributes.get("alt")

    def resolve(reference: str) -> str | None:
        return make_absolute(reference, base)

    shared, parent = NO_CHOICE, node.parent
    if parent is not None and parent.tag == "picture":
        if parent.mem_id not in pictures:  # once for all its images
            sources = (child.attributes for child in parent.iter() if child.tag == "source")
            pictures[parent.mem_id] = choose(read_source_offers(sources), resolve)
        shared = pictures[parent.mem_id]
    # A data: URI beside a real address is a placeholder for lazy loading.
    spelled, url = pick_larger(choose(read_image_offers(attributes), resolve), shared)
    return Candidate(
        image_url=url,
        alt=fold(alt or ""),
        position=position,
        source=spelled[:200],
        data_uri=url is None and spelled[:5].lower() == "data:",
        has_alt=alt is not None,
        figcaption=figcaption,
    )


def parse_charset(options: str) -> str | None:
    """The charset that the options of a Content-Type name, or None."""
    for option in options.split(";"):
        name, _, value = option.partition("=")
        if name.strip().lower() == "charset":
            return value.strip().strip("\"'")
    return None
