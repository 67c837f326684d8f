"""Tell which tags matter for a page's images, by their names; compiled into the scanner of ``tags``."""

from __future__ import annotations

import numpy as np
from numba import njit

from components.web.html.tag_codes import BASE, HTML, IMG, META, NOSCRIPT, PICTURE, SOURCE
from components.web.html.tag_syntax import LETTER, SLASH, end_of_name

# Codes of the other tags, by what they mean for the images after or inside them.
PLAIN, CELL, NO_CELL, SCRIPT, RAW, QUIET, SVG, MATH, SELECT, TEMPLATE, ODD, FORM, IGNORED, BUTTON = range(14)
# The same as PLAIN for images, but for texts (``tag_texts``).
BREAK, HEADING, A, FIGURE, FIGCAPTION = range(14, 19)
# After a cell's start tag an image stays where it is; after other table tags the parser may move it before the table.
_START = {
    **dict.fromkeys(("td", "th", "caption"), CELL),
    **dict.fromkeys(("table", "tr", "tbody", "thead", "tfoot", "col", "colgroup"), NO_CELL),
    **dict.fromkeys(("textarea", "iframe", "xmp", "noembed", "noframes"), RAW),
    **dict.fromkeys(("style", "title"), QUIET),
    **dict.fromkeys(("image", "plaintext", "frameset"), ODD),
    **dict.fromkeys(("input", "keygen"), FORM),
    **dict.fromkeys(("br", "p", "div", "li"), BREAK),
    **dict.fromkeys(("head", "body", "form", "frame"), IGNORED),
    **dict(script=SCRIPT, svg=SVG, math=MATH, select=SELECT, template=TEMPLATE, button=BUTTON),  # noqa: C408
    **dict(a=A, figure=FIGURE, figcaption=FIGCAPTION),  # noqa: C408
    **dict(img=IMG, source=SOURCE, picture=PICTURE, base=BASE, html=HTML, meta=META, noscript=NOSCRIPT),  # noqa: C408
}
_CLOSE = _START | {"table": CELL, "td": NO_CELL, "th": NO_CELL, "caption": NO_CELL}


def _encode_name(name: str) -> int:
    """Encode a name of at most 12 letters as a number, five bits per letter."""
    key = 0
    for letter in name:
        key = key * 32 + ord(letter) - 96
    return key


_SLOTS: int = next(n for n in range(64, 4096) if len({_encode_name(name) % n for name in _START}) == len(_START))
"""Size of a hash table of the names without collisions."""
_KEYS, _STARTS, _CLOSES = (np.zeros(_SLOTS, np.int64) for _ in range(3))
for _name, _kind in _START.items():
    _slot = _encode_name(_name) % _SLOTS
    _KEYS[_slot], _STARTS[_slot], _CLOSES[_slot] = _encode_name(_name), _kind, _CLOSE[_name]


@njit
def _kind_of(data, at, end, closing):  # type: ignore[no-untyped-def]
    if end - at > 12:
        return PLAIN
    if end - at == 2 and data[at] | 32 == 104 and 49 <= data[at + 1] <= 54:
        return HEADING
    key = 0
    for i in range(at, end):
        if not LETTER[data[i]]:
            return PLAIN
        key = key * 32 + (data[i] | 32) - 96
    slot = key % _SLOTS
    if _KEYS[slot] != key:
        return PLAIN
    return _CLOSES[slot] if closing else _STARTS[slot]


@njit
def read_name(data, at, end):  # type: ignore[no-untyped-def]
    """Return whether the tag at ``at`` is an end tag, where its name begins and ends (-1: no end), and its kind."""
    closing = data[at + 1] == SLASH
    name_start = at + 1 + closing
    name_end = end_of_name(data, name_start, end)
    return closing, name_start, name_end, _kind_of(data, name_start, name_end, closing)
