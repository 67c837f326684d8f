"""Read from a page's tree the texts that alt-texts may repeat, and what surrounds an image."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from selectolax.lexbor import LexborHTMLParser, LexborNode

from components.web.html.context import LIMIT, Context, Repeated, Texts, agrees, normalise, parse_pixels

CLIMB = 64
"""Maximum elements between an image and the link or button around it; bounds the cost of deeply nested pages."""
_TEXTS = "h1, h2, h3, h4, h5, h6, a[href]"


class Surroundings:
    """The texts of a page, from which its images get their context."""

    def __init__(self, tree: LexborHTMLParser, fold: Callable[[str], str]) -> None:
        headings = [Repeated(fold(node.text(separator=" ")), "title") for node in tree.css("head > title")[:1]]
        metas = (node.attributes.get("content") or "" for node in tree.css('meta[property="og:title" i]'))
        headings += [Repeated(fold(content), "og:title") for content in metas]
        links: list[Repeated] = []
        for node in tree.css(_TEXTS):
            (links if node.tag == "a" else headings).append(
                Repeated(fold(node.text(separator=" ")), "" if node.tag == "a" else str(node.tag))
            )
        self._headings, self._links = (Texts(text for text in texts if len(text.text) <= LIMIT) for texts in (headings, links))
        self._known: dict[str, Context] = {}

    def describe(self, node: LexborNode, alt: str, figcaption: str, resolve: Callable[[str], str | None]) -> Context:
        """Return the context of an ``<img>``."""
        if alt not in self._known:
            normal = normalise(alt)
            heading, link = self._headings.find(normal), self._links.find(normal)
            self._known[alt] = Context(
                heading=heading.text if heading else None,
                heading_kind=heading.kind if heading else None,
                link_text=link.text if link else None,
            )
        attributes = node.attributes
        target, control = _find_use(node)
        return replace(
            self._known[alt],
            link_url=resolve(target) if target is not None else None,
            control=control,
            role=(attributes.get("role") or "").strip().lower()[:LIMIT] or None,
            layout_width=parse_pixels(attributes.get("width")),
            layout_height=parse_pixels(attributes.get("height")),
            figcaption_agrees=agrees(alt, figcaption),
        )


def _find_use(node: LexborNode) -> tuple[str | None, bool]:
    """Return the ``href`` of the link around an image, None without one, and whether the image is a control."""
    target, control, current = None, _acts(node), node.parent
    for _ in range(CLIMB):
        if current is None:
            break
        if current.tag == "button":
            control = True
        elif current.tag == "a":
            control = control or _acts(current)
            if target is None:
                target = current.attributes.get("href")
        current = current.parent
    return target, control


def _acts(node: LexborNode) -> bool:
    """Return whether an image or a link is a control: it says so, or has a script for clicks."""
    attributes = node.attributes
    return "onclick" in attributes or (attributes.get("role") or "").strip().lower() == "button"
