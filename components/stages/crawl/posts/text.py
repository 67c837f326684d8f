"""Text of posts: markup converted to plain text with line breaks.

Line breaks are kept because later steps cut captions at them; the caption is otherwise left as its author wrote it.
"""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser

from components.web.budget import Budget
from components.web.html.page import SURROGATES, PageOverBudget
from components.web.html.page_limits import SMALL, call_limited

_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_LINE_ENDS = re.compile(r"\r\n?|\u2028|\u2029|\x85")
_HIDDEN_TAGS = frozenset(("-comment", "script", "style", "template", "head"))
_PARAGRAPH_TAGS = frozenset(("p", "ul", "ol", "blockquote", "pre", "h1", "h2", "h3", "h4", "h5", "h6"))
_LINE_TAGS = frozenset(("div", "li", "tr"))


def clean_text(text: str) -> str:
    """Return the text with uniform line ends, without control characters and lone surrogates, stripped."""
    return _CONTROLS.sub("", _LINE_ENDS.sub("\n", SURROGATES.sub("\ufffd", text))).strip()


def html_to_text(markup: str) -> str:
    """Return the text that a post's HTML shows: ``<br>`` a line break, ``<p>`` a paragraph (an empty line between two).

    Links keep their spelling. Of markup that exceeds the budget of a page, only the beginning is converted.
    """
    if "<" not in markup and "&" not in markup:
        return clean_text(markup)
    if len(markup) <= SMALL:
        return _parse_html(markup)
    try:
        return call_limited(lambda: _parse_html(markup), Budget())
    except PageOverBudget:
        return _parse_html(markup[:SMALL])


def _parse_html(markup: str) -> str:
    body = LexborHTMLParser(SURROGATES.sub("\ufffd", markup).replace("\0", "\ufffd")).body
    pieces: list[str] = []
    pending: list[object] = [body] if body is not None else []
    while pending:
        node = pending.pop()
        if isinstance(node, str):
            pieces.append(node)
            continue
        name = node.tag  # type: ignore[attr-defined]
        if name == "-text":
            # White space in markup is one space, as browsers show it.
            pieces.append(re.sub(r"[\t\n\r ]+", " ", node.text_content or ""))  # type: ignore[attr-defined]
        elif name == "br":
            pieces.append("\n")
        elif name not in _HIDDEN_TAGS:
            mark = "\n\n" if name in _PARAGRAPH_TAGS else "\n" if name in _LINE_TAGS else ""
            inside = [*node.iter(include_text=True)]  # type: ignore[attr-defined]
            pending += [mark, *reversed(inside), mark] if mark else [*reversed(inside)]
    # Per line: a pattern of spaces before a line end takes quadratic time on long runs of spaces.
    text = "\n".join(line.strip(" ") for line in "".join(pieces).split("\n"))
    return clean_text(re.sub(r"\n{3,}", "\n\n", text))
