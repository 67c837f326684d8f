"""Read a page's images with their alt-text, and its links.

Any input is accepted: broken entities, unclosed tags, wrong charsets, relative and ``data:`` addresses, ``srcset`` and
``<picture>``, lazy loading. Time is linear in the page's size. Nothing raises except for a budget.

At every start tag of a block the HTML standard searches the open elements for a ``<p>`` to close (13.2.6.4.7), so a megabyte of
``<div>`` takes minutes. Browsers stop nesting at some hundreds of elements.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from components.web.charset import UTF8, find_codec
from components.web.consent.statements import LONGEST, RSL, RSL_TYPE, Statement, asks_nofollow, parse_meta_statements
from components.web.html.candidate import SURROGATES, Candidate, Page, PageOverBudget, check_image_count, fold, make_candidate
from components.web.html.language import detect_language
from components.web.html.offers import NO_CHOICE, OFFERING, Choice, choose, pick_better, read_image_offers, read_source_offers
from components.web.html.page_context import align, attach_context
from components.web.html.resolve import Resolver
from components.web.html.scan import Attributes, ImageTag, Scan, scan
from components.web.urls import make_absolute

__all__ = ["SURROGATES", "Candidate", "Page", "PageOverBudget", "check_image_count", "fold", "make_candidate", "read_page"]
_OFFERS = frozenset(OFFERING) - {"src"}
DEEPEST = 10_000
"""Maximum open blocks; a page that opens more is cut there."""
LONG = 200_000
"""Length in characters below which pages are not checked: the worst case parses in 2 s; checking costs half a parse."""
_BLOCK = re.compile(
    r"<(/?)(address|article|aside|blockquote|center|details|dialog|dir|div|dl|fieldset|figcaption|figure|footer|form"
    r"|header|hgroup|listing|main|menu|nav|ol|pre|search|section|summary|ul)(?=[\t\n\f\r />])",
    re.I,
)


def cut_deep_nesting(text: str) -> str:
    """Return the page up to where it leaves ``DEEPEST`` blocks open; almost always all of it."""
    if len(text) < LONG:
        return text
    opened: dict[str, int] = {}  # by name: an end tag without an open element closes nothing
    depth = 0
    for tag in _BLOCK.finditer(text):
        name = tag[2].lower()
        count = opened.get(name, 0)
        if not tag[1]:
            opened[name], depth = count + 1, depth + 1
            if depth > DEEPEST:
                return text[: tag.start()]
        elif count:
            opened[name], depth = count - 1, depth - 1
    return text


def decode(data: bytes, charset_hint: str | None = None) -> str:
    """Return a page's text, read with :func:`find_codec`; undecodable bytes become U+FFFD.

    Args:
        charset_hint: the charset of its HTTP header.
    """
    codec, start = find_codec(data, charset_hint)
    text, _ = codec.decode(data[start:], "replace")
    return text if codec == UTF8 else SURROGATES.sub("\ufffd", text)


def read_page(
    html: bytes | str,
    page_url: str,
    charset_hint: str | None = None,
    agent: str = "hearsight",
    *,
    most_images: int | None = None,
    most_links: int | None = None,
) -> Page:
    """Return the images, links and robots directives (for all robots and for ``agent``) of one page; accepts any ``html``.

    Args:
        most_images: maximum ``<img>`` elements.
        most_links: maximum links returned; further ones are left out.

    Raises:
        PageOverBudget: the page has more than ``most_images``.
        MemoryError: there is not enough memory.
    """
    text = read_text(html, charset_hint)
    tree = parse_tree(text)
    images = tree.css("img")
    check_image_count(len(images), most_images)
    first = tree.css_first("base[href]")
    base = (make_absolute(first.attributes.get("href") or "", page_url) if first else None) or page_url
    metas = (node.attributes for node in tree.css("meta[name][content]"))
    statements = parse_meta_statements(((meta["name"], meta["content"]) for meta in metas), agent)
    statements += _licences(tree, base) if names_licence(text) else []
    candidates: list[Candidate] = []
    if images:
        tags, scanned = _read_images(images), scan(text)
        candidates = make_candidates(tags, base, scanned, align(scanned, [tag.attributes for tag in tags]))
    links: list[str] = [] if asks_nofollow(statements, agent) else _links(tree, base, most_links)
    return Page(candidates, links, detect_language(tree), tuple(statements))


def read_text(html: bytes | str, charset_hint: str | None = None) -> str:
    """Return a page's text as parsers take it: decoded, without lone surrogates and NUL, which ends a C string."""
    text = SURROGATES.sub("\ufffd", html) if isinstance(html, str) else decode(html, charset_hint)
    return text.replace("\x00", "\ufffd")


def parse_tree(text: str) -> LexborHTMLParser:
    """Return the tree of a page's ``read_text``. Raises MemoryError: there is not enough memory."""
    try:
        return LexborHTMLParser(cut_deep_nesting(text))
    except SelectolaxError as error:  # every text is valid input: only memory can fail
        raise MemoryError("the parser ran out of memory") from error


def names_licence(markup: str | bytes) -> bool:
    """Return whether a page's markup may hold or name a licence of RSL: its type, in any case, or with an entity in it."""
    if isinstance(markup, str):
        return "rsl+xml" in (low := markup.lower()) or "rsl&" in low
    return b"rsl+xml" in (lower := markup.lower()) or b"rsl&" in lower


def _licences(tree: LexborHTMLParser, base: str) -> list[Statement]:
    """Return the licences that a page links to or holds; one for a part of the page counts for the whole."""
    statements: list[Statement] = []
    for node in tree.css("link[rel][type], script[type]"):
        attributes = node.attributes
        if RSL_TYPE not in (attributes["type"] or "").lower():
            continue
        if node.tag == "script":
            statements.append(Statement(RSL, "script", (node.text() or "")[: LONGEST + 1]))
        elif "license" in (attributes["rel"] or "").lower().split():
            address = make_absolute(attributes.get("href") or "", base)
            statements.append(Statement(RSL, "link rel=license", address or "no address"))
    return statements


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


def _read_images(images: list[LexborNode]) -> list[ImageTag]:
    """Return the images of a tree with the sources of their pictures."""
    sources: dict[int, list[Attributes]] = {}
    lone: dict[int, bool] = {}
    tags: list[ImageTag] = []
    for node in images:
        tag, holder = ImageTag(node.attributes), node.parent
        if holder is not None and holder.tag == "picture":
            if holder.mem_id not in sources:
                sources[holder.mem_id] = [child.attributes for child in holder.iter() if child.tag == "source"]
            tag.sources, holder = sources[holder.mem_id], holder.parent
        if holder is not None and holder.tag == "noscript":
            if holder.mem_id not in lone:
                lone[holder.mem_id] = _is_lone(holder)
            tag.without_script = lone[holder.mem_id]
        tags.append(tag)
    return tags


def make_candidates(images: Sequence[ImageTag], base: str, scanned: Scan, around: Sequence[ImageTag]) -> list[Candidate]:
    """Return the candidates of a page's images; ``around`` has the same images with what the scan found around them."""
    resolve = Resolver(base)
    candidates: list[Candidate] = []
    last: Sequence[Attributes] = ()
    shared, before, was_inside = NO_CHOICE, NO_CHOICE, False
    for position, image in enumerate(images):
        attributes, inside = image.attributes, image.without_script
        if image.sources is not last:  # once per picture
            last, shared = image.sources, choose(read_source_offers(image.sources), resolve)
        choice, alt = _choose(attributes, shared, resolve), attributes.get("alt")
        if inside != was_inside and join_twin(candidates, before, choice, fold(alt or ""), position, without_script=inside):
            was_inside = False
            continue
        was_inside, before, (source, best) = inside, choice, choice
        candidates.append(make_candidate(best[3] if best else None, alt, position, source))
    attach_context(scanned, around, candidates, resolve)
    return candidates


def _choose(image: Attributes, shared: Choice, resolve: Resolver) -> Choice:
    if shared is NO_CHOICE and _OFFERS.isdisjoint(image):
        source = (image.get("src") or "").strip()
        url = resolve(source) if source else None
        return source, (False, 0, 1.0, url) if url else None
    return pick_better(choose(read_image_offers(image), resolve), shared)


def _is_lone(holder: LexborNode) -> bool:
    """Return whether an element holds one element and nothing else but white space and comments."""
    children = (child for child in holder.iter(include_text=True) if child.tag != "-comment")
    return sum(1 for child in children if child.tag != "-text" or (child.text_content or "").strip("\t\n\f\r ")) == 1


def join_twin(
    candidates: list[Candidate], before: Choice, choice: Choice, alt: str, position: int, *, without_script: bool
) -> bool:
    """Return whether an image and the one before it are the same, one of them in ``<noscript>`` for browsers without scripts.

    They are when both have the same alt-text, or the same address and the later one has none. The last of ``candidates`` then
    has the better address of both: that of lazy loading, or the larger; of equal ones that in ``<noscript>``. ``before`` is the
    last candidate's choice; the other arguments are of the later image.
    """
    last, best = candidates[-1] if candidates else None, choice[1]
    if last is None or last.position != position - 1:
        return False
    if alt != last.alt if alt else best is None or best[3] != last.image_url:
        return False
    known = before[1]
    if best and (known is None or best[:3] > known[:3] or (without_script and best[:3] == known[:3])):
        candidates[-1] = replace(last, image_url=best[3], source=choice[0][:200], data_uri=False)
    return True
