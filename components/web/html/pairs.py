"""A page's candidates, fast: what ``components.web.html.page`` reads from the tree, without building one when possible.

Equal to the DOM reading by construction of the scanner (see ``scan``) and by test; pages the scanner gives up on are
read from the tree. Not in scope: links.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Sequence
from typing import Any

from components.web.budget import Budget
from components.web.html.language import UNKNOWN, parse_lang
from components.web.html.offers import LAZY, NO_CHOICE, Choice, choose, pick_larger, read_image_offers, read_source_offers
from components.web.html.page import SURROGATES, Candidate, Page, decode, find_codec, fold, read_page
from components.web.html.page_limits import SMALL, Source, call_limited
from components.web.html.resolve import Resolver
from components.web.html.scan import Attributes, Scan, scan
from components.web.urls import make_absolute

_OFFERS = frozenset((*LAZY, "srcset", "data-srcset"))
_FIGCAPTION, _FIGCAPTION_BYTES = re.compile("<figcaption", re.I), re.compile(b"<figcaption", re.I)
LONG = 1_000_000
"""Bytes or characters up to which a page is scanned without a child: the worst, non-ASCII addresses, takes 1.5 s."""
_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_REFUSALS = {"noindex", "none", "noimageindex"}


def read_fast(
    html: bytes | str, page_url: str, charset_hint: str | None = None, *, context: bool = True, budget: Budget | None = None
) -> Page:
    """A page's candidates, language and wish not to be collected, as ``read_page`` gives them; without its links.

    The language of a page without candidates is ``un`` unless it is declared: guessing one costs more than all the rest.

    Args:
        html: a page of whatever kind.
        page_url: its address, which relative ones go by.
        charset_hint: the charset of its Content-Type header, if any.
        context: whether the page's text is read for what it says of its images: its language when it declares none, and
            their figcaptions. Without, such a page's language is ``un`` and its figcaptions may be missing.
        budget: what the page may cost; None for no limits.

    Raises:
        PageOverBudget: it costs more than ``budget``.
    """
    source = Source(html, page_url, charset_hint)
    if budget is None:
        return read_tags_or_tree(source, context, None)
    page = read_tags(source, context, budget)
    return page if page is not None else call_limited(lambda: read_tags_or_tree(source, context, budget), budget)


def read_tags(source: Source, context: bool, budget: Budget) -> Page | None:
    """As ``read_fast`` with a budget, where it costs little; None for a page that is to be read in a child process.

    Raises:
        PageOverBudget: it has too many images.
    """
    if len(source.html) > LONG:
        return None
    return _of_tags(source, context, budget) or (_of_tree(source, budget) if len(source.html) <= SMALL else None)


def read_tags_or_tree(source: Source, context: bool, budget: Budget | None) -> Page:
    """As ``read_fast``, with no limits but that on images.

    Raises:
        PageOverBudget: it has too many images.
    """
    return _of_tags(source, context, budget) or _of_tree(source, budget)


def _of_tags(source: Source, context: bool, budget: Budget | None) -> Page | None:
    """What the tags of a page tell; None where only its tree can tell."""
    markup = _markup(source.html, source.charset)
    found = scan(markup, budget.page_images if budget else None)
    if found is None:
        return None
    declared = parse_lang(found.language)
    if context and found.images and (declared is None or _captioned(markup)):
        return None
    return Page(_candidates(found, source.url), [], asks_noindex(found.metas), declared or UNKNOWN)


def _of_tree(source: Source, budget: Budget | None) -> Page:
    whole = read_page(*source, most_images=budget.page_images if budget else None, most_links=0)
    return Page(whole.candidates, [], whole.noindex, whole.language)


def _captioned(markup: str | bytes) -> bool:
    return (_FIGCAPTION_BYTES if isinstance(markup, bytes) else _FIGCAPTION).search(markup) is not None  # type: ignore[arg-type]


def asks_noindex(metas: list[Attributes]) -> bool:
    """Whether any of these ``<meta>`` asks robots to keep the page or its images out of collections."""
    for meta in metas:
        if (meta.get("name") or "").strip().lower() in ("robots", "hearsight"):
            wishes = {word.strip().lower() for word in (meta.get("content") or "").split(",")}
            if wishes & _REFUSALS:
                return True
    return False


def _markup(html: bytes | str, charset_hint: str | None) -> str | bytes:
    """A page's text as the tree builder gets it, without lone surrogates and NUL; of a plain UTF-8 page its bytes."""
    if isinstance(html, str):
        text = SURROGATES.sub("\ufffd", html)
    elif (
        b"\x00" not in html
        and html[:3] != codecs.BOM_UTF8
        and html[:2] not in _MARKS
        and find_codec(html, charset_hint) == "utf-8"
    ):
        return html
    else:
        text = decode(html, charset_hint)
    return text.replace("\x00", "\ufffd")


def _candidates(found: Scan, page_url: str) -> list[Candidate]:
    base = page_url
    if found.base is not None:
        base = make_absolute(found.base, page_url) or page_url
    if not found.images:
        return []
    resolve = Resolver(base)
    made: list[Candidate] = []
    last: Sequence[Attributes] = ()
    shared = NO_CHOICE
    for at, (image, sources) in enumerate(found.images):
        if sources is not last:  # once for all images of a picture
            last, shared = sources, choose(read_source_offers(sources), resolve)
        made.append(_candidate(image, shared, at, resolve))
    return made


def is_folded(alt: str) -> bool:
    """Whether folding would change nothing in ``alt``, told by plain ASCII and single spaces."""
    return alt.isascii() and alt.isprintable() and "&" not in alt and "  " not in alt and alt.strip(" ") == alt


def make_candidate(
    url: str | None, alt: str | None, position: int, source: str, inline: bool, *, new: Callable[..., Any] = Candidate.__new__
) -> Candidate:
    """A ``Candidate`` of these; its own constructor takes thrice as long, for being frozen."""
    folded = "" if alt is None else alt if is_folded(alt) else fold(alt)
    made: Candidate = new(Candidate)
    facts = {
        "image_url": url,
        "alt": folded,
        "position": position,
        "source": source[:200],
        "data_uri": inline,
        "has_alt": alt is not None,
        "figcaption": "",
        "taken": "",
    }
    object.__setattr__(made, "__dict__", facts)
    return made


def _candidate(image: Attributes, shared: Choice, position: int, resolve: Resolver) -> Candidate:
    alt = image.get("alt")
    source = (image.get("src") or "").strip()
    if shared is NO_CHOICE and _OFFERS.isdisjoint(image):
        url = resolve(source) if source else None
        return make_candidate(url, alt, position, source, url is None and source[:5].lower() == "data:")
    spelled, url = pick_larger(choose(read_image_offers(image), resolve), shared)
    return make_candidate(url, alt, position, spelled, url is None and spelled[:5].lower() == "data:")
