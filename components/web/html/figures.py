"""Read ``<figcaption>`` text, kept beside the alt-text as context.

It is not used as a caption: the paper reads alt-texts only (CC §3), and a figcaption may describe anything.
"""

from __future__ import annotations

from selectolax.lexbor import LexborHTMLParser, LexborNode

CAPTION_LIMIT = 2000
"""Maximum characters kept of a figcaption."""
_CLIMB = 64
"""Maximum elements between an image and its figure; bounds the cost of deeply nested pages."""
_SILENT = frozenset(("-comment", "script", "style", "noscript", "template", "img", "figure"))
_BREAKS = frozenset(("br", "p", "div", "li", "td", "th", "h1", "h2", "h3", "h4", "h5", "h6"))


def read_figcaptions(tree: LexborHTMLParser) -> dict[int, str]:
    """Return the text of each figure's first figcaption, as written, by the figure's ``mem_id``."""
    captions: dict[int, str] = {}
    for caption in tree.css("figcaption"):
        figure = find_figure(caption)
        if figure is not None and figure.mem_id not in captions:
            captions[figure.mem_id] = extract_text(caption)
    return captions


def find_figure(node: LexborNode) -> LexborNode | None:
    """Return the innermost ``<figure>`` that contains a node; None without one."""
    ancestor = node.parent
    for _ in range(_CLIMB):
        if ancestor is None or ancestor.tag == "figure":
            return ancestor
        ancestor = ancestor.parent
    return None


def extract_text(node: LexborNode) -> str:
    """Return the text inside a node without that of nested figures; line breaks of the page become spaces."""
    pieces: list[str] = []
    size, stack = 0, [node]
    while stack and size <= 4 * CAPTION_LIMIT:  # white space is folded later
        current = stack.pop()
        if current.tag == "-text":
            piece = current.text_content or ""
            pieces.append(piece)
            size += len(piece)
        elif current.tag not in _SILENT:
            if current.tag in _BREAKS:
                pieces.append(" ")
            children = [*current.iter(include_text=True)]
            stack += reversed(children)
    return "".join(pieces)
