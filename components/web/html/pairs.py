"""Read a page's candidates without building its tree where possible; equal to ``components.web.html.page``.

Pages that the scanner gives up on (see ``scan``) are read from the tree. Tests check that both are equal. Links are not read.
"""

from __future__ import annotations

from components.web.budget import Budget
from components.web.charset import UTF8, find_codec
from components.web.consent.statements import parse_meta_statements
from components.web.html.language import UNKNOWN, parse_lang
from components.web.html.page import Page, make_candidates, names_licence, read_page, read_text
from components.web.html.page_limits import SMALL, Source, call_limited
from components.web.html.scan import scan
from components.web.urls import make_absolute

LONG = 1_000_000
"""Bytes or characters up to which a page is scanned without a child: the worst case, non-ASCII addresses, takes 1.5 s."""
_DEFAULT = Budget()


def read_fast(
    html: bytes | str, page_url: str, charset_hint: str | None = None, *, context: bool = True, budget: Budget = _DEFAULT
) -> Page:
    """Return a page's candidates, language and statements as ``read_page`` does, without its links.

    The language of a page without candidates is ``un`` unless it is declared: guessing costs more than everything else.

    Args:
        context: whether the page's text is read for an undeclared language. If not, the language of such a page is ``un``.

    Raises:
        PageOverBudget: the page exceeds ``budget``.
    """
    source = Source(html, page_url, charset_hint)
    page = read_tags(source, context, budget)
    return page if page is not None else call_limited(lambda: read_tags_or_tree(source, context, budget), budget)


def read_tags(source: Source, context: bool, budget: Budget) -> Page | None:
    """Read a page as ``read_fast`` does, if that is cheap; return None for a page that must be read in a child process.

    Raises:
        PageOverBudget: the page has too many images.
    """
    if len(source.html) > LONG:
        return None
    read = read_tags_or_tree if len(source.html) <= SMALL else _read_from_tags
    return read(source, context, budget)


def read_tags_or_tree(source: Source, context: bool, budget: Budget) -> Page:
    """Read a page as ``read_fast`` does, with no limit but that on images.

    Raises:
        PageOverBudget: the page has too many images.
    """
    page = _read_from_tags(source, context, budget)
    return page or read_page(*source, most_images=budget.page_images, most_links=0)


def _read_from_tags(source: Source, context: bool, budget: Budget) -> Page | None:
    """Return the page as its tags describe it; None where the tree is needed."""
    markup = _markup(source.html, source.charset)
    scanned = scan(markup, budget.page_images, source.agent)
    declared = parse_lang(scanned.language)
    if not scanned.plain or names_licence(markup) or (context and scanned.images and declared is None):
        return None
    metas = ((meta["name"], meta["content"]) for meta in scanned.metas if "name" in meta)
    statements = tuple(parse_meta_statements(metas, source.agent))
    base = source.url if scanned.base is None else make_absolute(scanned.base, source.url) or source.url
    candidates = make_candidates(scanned.images, base, scanned, scanned.images) if scanned.images else []
    return Page(candidates, [], declared or UNKNOWN, statements)


def _markup(html: bytes | str, charset_hint: str | None) -> str | bytes:
    """Return the page's text as the tree builder receives it, or a plain UTF-8 page's bytes."""
    if isinstance(html, bytes) and b"\x00" not in html and find_codec(html, charset_hint) == (UTF8, 0):
        return html
    return read_text(html, charset_hint)
