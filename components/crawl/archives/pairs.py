"""A page's candidates, fast: what ``components.crawl.html`` reads from the tree, without building one when possible.

Equal to the DOM reading by construction of the scanner (see ``scan``) and by test; pages the scanner gives up on are
read from the tree. Not in scope: links.
"""

from __future__ import annotations

from components.crawl.archives.resolve import Resolver
from components.crawl.archives.scan import Attributes, Scan, has_images, scan
from components.crawl.html import (
    DECODABLE,
    LAZY,
    SURROGATES,
    Candidate,
    Page,
    decode,
    fold,
    image_candidates,
    parse_srcset,
    read_page,
)
from components.crawl.language import UNKNOWN, stated_language
from components.crawl.urls import absolute

_OFFERS = frozenset((*LAZY, "srcset", "data-srcset"))
_REFUSALS = {"noindex", "none", "noimageindex"}


def pairs_of(html: bytes | str, page_url: str, charset_hint: str | None = None) -> list[Candidate]:
    """Every ``<img>`` of a page, in document order: equal to ``components.crawl.html.image_candidates``.

    Args:
        html: a page of whatever kind; never raises.
        page_url: its address, which relative ones go by.
        charset_hint: the charset of its Content-Type header, if any.
    """
    text = _text(html, charset_hint)
    if not has_images(text):
        return []
    found = scan(text)
    return image_candidates(text, page_url) if found is None else _candidates(found, page_url)


def read_fast(html: bytes | str, page_url: str, charset_hint: str | None = None, *, language: bool = True) -> Page:
    """A page's candidates, language and wish not to be collected, as ``read_page`` gives them; without its links.

    The language of a page without candidates is ``un`` unless it is declared: guessing one costs more than all the rest.
    With ``language`` false that of a page with candidates is not guessed, either.
    """
    text = _text(html, charset_hint)
    found = scan(text)
    if found is None:
        whole = read_page(text, page_url)
        return Page(whole.candidates, [], whole.noindex, whole.language)
    candidates = _candidates(found, page_url) if found.images else []
    declared = stated_language(found.language)
    if declared is None and candidates and language:
        declared = read_page(text, page_url).language
    return Page(candidates, [], noindex(found.metas), declared or UNKNOWN)


def noindex(metas: list[Attributes]) -> bool:
    """Whether any of these ``<meta>`` asks robots to keep the page or its images out of collections."""
    for meta in metas:
        if (meta.get("name") or "").lower() in ("robots", "hearsight"):
            wishes = {word.strip().lower() for word in (meta.get("content") or "").split(",")}
            if wishes & _REFUSALS:
                return True
    return False


def _text(html: bytes | str, charset_hint: str | None) -> str:
    """Text as the tree builder gets it: without lone surrogates and NUL."""
    text = SURROGATES.sub("\ufffd", html) if isinstance(html, str) else decode(html, charset_hint)
    return text.replace("\x00", "\ufffd")


def _candidates(found: Scan, page_url: str) -> list[Candidate]:
    base = page_url
    if found.base is not None:
        base = absolute(found.base, page_url) or page_url
    resolve = Resolver(base)
    return [_candidate(image, sources, at, resolve) for at, (image, sources) in enumerate(found.images)]


def _candidate(image: Attributes, sources: list[Attributes], position: int, resolve: Resolver) -> Candidate:
    alt = image.get("alt")
    source = (image.get("src") or "").strip()
    folded = fold(alt) if alt else ""
    if not sources and _OFFERS.isdisjoint(image):
        url = resolve(source) if source else None
        inline = url is None and source[:5].lower() == "data:"
        return Candidate(url, folded, position, source[:200], inline, alt is not None)
    offers: list[tuple[int, float, str]] = []
    for name in ("src", *LAZY):
        spelled = (image.get(name) or "").strip()
        if spelled:
            offers.append((0, 1.0, spelled))
    for name in ("srcset", "data-srcset"):
        offers += parse_srcset(image.get(name) or "")
    for offered in sources:
        if "srcset" in offered and (offered.get("type") or DECODABLE[0]).strip().lower() in DECODABLE:
            offers += parse_srcset(offered["srcset"] or "")
    spelled = offers[0][2] if offers else ""
    # The largest offer that can be fetched, the first of equals.
    best = None
    for _, _, raw in sorted(offers, key=lambda offer: offer[:2], reverse=True):
        best = resolve(raw)
        if best:
            break
    return Candidate(best, folded, position, spelled[:200], best is None and spelled[:5].lower() == "data:", alt is not None)
