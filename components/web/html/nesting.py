"""Cut pages that are nested too deep to be parsed in linear time.

At every start tag of a block the HTML standard searches the open elements for a ``<p>`` to close (13.2.6.4.7), so a megabyte of
``<div>`` takes minutes. Browsers stop nesting at some hundreds of elements.
"""

from __future__ import annotations

import re

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
