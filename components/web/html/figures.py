"""The text a page shows below its pictures: ``<figcaption>``, kept beside the alt-text as context.

Not a caption of the set: the paper reads alt-texts alone (CC, section 3), and a figcaption may speak of anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

CAPTION_LIMIT = 2000
"""Characters kept of one figcaption."""
_CLIMB = 64
"""Elements between an image and its figure at most: pages nested without end cost no more than others."""
_SILENT = frozenset(("-comment", "script", "style", "noscript", "template", "img", "figure"))
_BREAKS = frozenset(("br", "p", "div", "li", "td", "th", "h1", "h2", "h3", "h4", "h5", "h6"))


def read_figcaptions(tree: LexborHTMLParser) -> dict[int, str]:
    """Of each ``<figure>`` that has one (by its node's ``mem_id``), the text of its first figcaption, as written."""
    said: dict[int, str] = {}
    for caption in tree.css("figcaption"):
        figure = find_figure(caption)
        if figure is not None and figure.mem_id not in said:
            said[figure.mem_id] = extract_text(caption)
    return said


def find_figure(node: LexborNode) -> LexborNode | None:
    """The innermost ``<figure>`` around a node."""
    above = node.parent
    for _ in range(_CLIMB):
        if above is None or above.tag == "figure":
            return above
        above = above.parent
    return None


def extract_text(node: LexborNode) -> str:
    """The text inside a node, that of figures inside it left out; where the page breaks a line there is a space."""
    pieces: list[str] = []
    size, waiting = 0, [node]
    while waiting and size <= 4 * CAPTION_LIMIT:  # white space folds away later
        here = waiting.pop()
        if here.tag == "-text":
            piece = here.text_content or ""
            pieces.append(piece)
            size += len(piece)
        elif here.tag not in _SILENT:
            if here.tag in _BREAKS:
                pieces.append(" ")
            inside = [*here.iter(include_text=True)]
            waiting += reversed(inside)
    return "".join(pieces)
