"""Tell which images of a page need no alt-text: assistive technology leaves them out, or they have a name (WAI-ARIA 1.2)."""

from __future__ import annotations

from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from components.web.html.figures import extract_text
from components.web.html.page import parse_tree

_LEFT_OUT = 'img[aria-hidden="true" i], [aria-hidden="true" i] img, [role="img" i] img, [role="image" i] img'
"""Hidden images, and those that are a part of one image with a name of its own."""


class TreeImage(NamedTuple):
    """An ``<img>`` of a page's tree."""

    src: str
    exempt: bool
    """Whether it needs no alt-text."""


def read_tree_images(page: bytes, charset: str | None) -> list[TreeImage]:
    """Return the images of a page in the order of its tree."""
    tree = parse_tree(page, charset)
    left_out = {node.mem_id for node in tree.css(_LEFT_OUT)}
    names = _read_names(tree)
    return [
        TreeImage((node.attributes.get("src") or "").strip(), node.mem_id in left_out or _is_exempt(node, names))
        for node in tree.css("img")
    ]


def _is_exempt(node: LexborNode, names: dict[str, bool]) -> bool:
    words = {name: (node.attributes.get(name) or "").split() for name in ("role", "aria-label", "aria-labelledby")}
    decorative = words["role"][:1] and words["role"][0].lower() in ("presentation", "none")
    return bool(decorative or words["aria-label"] or any(names.get(identifier) for identifier in words["aria-labelledby"]))


def _read_names(tree: LexborHTMLParser) -> dict[str, bool]:
    """Return by identifier whether the element says anything; empty where no image refers to one."""
    names: dict[str, bool] = {}
    for node in tree.css("[id]") if tree.css_first("img[aria-labelledby]") else ():
        text = node.attributes.get("aria-label") or extract_text(node)
        names.setdefault(node.attributes.get("id") or "", bool(text.strip()))
    return names
