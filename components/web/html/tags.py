"""Find the tags of a page that hold images in one pass over its bytes, compiled by numba.

The pass gives up where tree building would move, hide or re-parent an image: misnested tables, foreign content that ends early,
framesets, markup in ``<select>``. ``tag_syntax`` reads one tag, ``tag_kinds`` tells which tags matter.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from numba import njit, types

from components.core.digests import sha256_bytes
from components.web.html.tag_images import read_image, read_noscript, read_picture
from components.web.html.tag_kinds import (
    BASE,
    BREAK,
    BUTTON,
    CELL,
    FIGCAPTION,
    FIGURE,
    HEADING,
    HTML,
    IGNORED,
    IMG,
    MATH,
    META,
    NO_CELL,
    NOSCRIPT,
    ODD,
    PICTURE,
    PICTURE_END,
    PLAIN,
    QUIET,
    RAW,
    SCRIPT,
    SELECT,
    SVG,
    TEMPLATE,
    A,
    read_name,
)
from components.web.html.tag_regions import end_of_raw_text, end_of_region
from components.web.html.tag_syntax import LT, add_row, end_of_tag, find_byte, may_matter, read_attributes, skip_no_tag
from components.web.html.tag_texts import (
    COUNT,
    GAP,
    HIDDEN,
    INLINE,
    OPEN,
    add_byte,
    add_text,
    add_title,
    close_all,
    close_element,
    open_element,
    reset,
)
from components.web.html.word_signs import match


@njit
def _find_tags(data, agent, rows, texts, buffer, state):  # type: ignore[no-untyped-def]
    """Find the tags that hold images, the base address, the language, robots directives, and the texts around.

    Where tree building would move, hide or re-parent an image, reading goes on as if it did not, for the texts.

    Args:
        data: uint8, the page's UTF-8 bytes. Broken sequences are allowed: they never extend into ASCII characters.
        agent: uint8, our product token in lower case.
        rows: int64 ``(code, start, end)``, to be filled. A tag's row has its negative code; its attributes' rows follow, each
            with its index in ``ATTRIBUTES`` and its value's bounds (-1: no value). Images and sources between ``PICTURE`` and
            ``PICTURE_END`` belong together; those between ``NOSCRIPT`` and ``NOSCRIPT_END`` are all of a ``<noscript>``. An image
            in a link follows the link's ``HREF``; see ``read_image``. Repeated attributes are repeated.
        texts: int64, to be filled: see ``tag_texts.close_text``.
        buffer: uint8, at least as long as ``data`` and one more: the characters of the texts.
        state: int64 of ``STATE_SIZE``.

    Returns:
        Whether the page can be read without its tree, and the numbers of rows and of texts, which may be more than fit.
    """
    end = len(data)
    count, position, plain, misplaced, in_body = 0, 0, True, False, False
    reset(state)
    while position >= 0:
        start, position = position, find_byte(data, position, end, LT)
        if state[OPEN]:
            add_text(data, start, position if position >= 0 else end, buffer, state)
        if position < 0:
            break
        after = skip_no_tag(data, position, end)
        if after != position:
            if state[OPEN]:
                add_byte(LT if after == position + 1 else INLINE, buffer, state)
            position = after
            continue
        closing, word, name_end, kind = read_name(data, position, end)
        if name_end < 0:
            break
        if state[OPEN]:
            add_byte(GAP if kind in (CELL, NO_CELL, BREAK, HEADING) else INLINE, buffer, state)
        before, after = count, end_of_tag(data, name_end, end) if kind == ODD else 0
        if kind in (CELL, NO_CELL):
            position = end_of_tag(data, name_end, end)
            misplaced = kind == NO_CELL
        elif closing:
            if kind > BREAK or kind in (BUTTON, NOSCRIPT):
                close_element(kind, buffer, texts, state)
            position = end_of_tag(data, name_end, end)
        elif kind in (PLAIN, BREAK, IGNORED):
            position = end_of_tag(data, name_end, end)
            in_body |= kind == IGNORED and (data[word] | 32) == 98  # no other of these names begins with b
        elif kind in (HEADING, A, BUTTON, FIGURE, FIGCAPTION):
            position = open_element(data, word, name_end, end, kind, buffer, texts, state)
        elif kind in (SCRIPT, RAW, QUIET):
            position, sure = end_of_raw_text(data, word, name_end, end, kind)
            plain = plain and sure
            if kind == QUIET and (data[word] | 32) == 116:
                add_title(data, name_end, end, position, buffer, texts, state)
        elif kind in (SVG, MATH, SELECT, TEMPLATE):
            position = end_of_region(data, name_end, end, kind)
            if position < 0:
                plain, position = False, end_of_tag(data, name_end, end)
        elif kind == PICTURE:
            plain, in_body = plain and not misplaced, True
            count = add_row(rows, count, PICTURE, 0, 0)
            position, count = read_picture(data, name_end, end, rows, count, state)
            if position < 0:
                plain, position, count = False, end_of_tag(data, name_end, end), before
            else:
                count = add_row(rows, count, PICTURE_END, 0, 0)
        elif kind == NOSCRIPT:
            position, count = read_noscript(data, name_end, end, rows, count, state)
            # Before the body its image is moved out of it.
            if position < 0 or ((misplaced or not in_body) and count > before):
                plain, position, count = False, end_of_tag(data, name_end, end), before
            state[HIDDEN] = 1
        elif kind == ODD:
            plain, position = plain and after < 0, after
        elif kind in (IMG, BASE, HTML, META):
            in_body |= kind == IMG
            if kind == IMG:
                position, count = read_image(data, name_end, end, rows, count, state)
            else:
                count = add_row(rows, count, kind, 0, 0)
                position, count, _ = read_attributes(data, name_end, end, rows, count)
            if position < 0:
                count = before
                break
            plain = plain and not (misplaced and kind in (IMG, BASE))
            if kind == META and not may_matter(data, rows, before + 1, count, agent):
                count = before
        else:  # a source outside a picture, a form control
            position = end_of_tag(data, name_end, end)
    close_all(buffer, texts, state)
    return plain, count, state[COUNT]


_BYTES, _BUFFER = types.Array(types.uint8, 1, "C", readonly=True), types.uint8[::1]
_ROWS, _STATE = types.int64[:, ::1], types.int64[::1]


def _compile(others: str) -> tuple[Any, Any]:
    """Compile the scanner and ``tag_texts.match``, or load them from numba's cache.

    The cache notices changes of this file only. ``others``, the digest of the other compiled files, becomes part of its key.
    """

    @njit((_BYTES, _BYTES, _ROWS, _ROWS, _BUFFER, _STATE), cache=True)
    def find_tags(data, agent, rows, texts, buffer, state):  # type: ignore[no-untyped-def]
        _ = others
        return _find_tags(data, agent, rows, texts, buffer, state)

    @njit((_BYTES, _ROWS, _ROWS), cache=True)
    def find_matches(data, texts, found):  # type: ignore[no-untyped-def]
        _ = others
        return match(data, texts, found)

    return find_tags, find_matches


_NAMES = ("images", "kinds", "regions", "syntax", "texts")
_FILES = (*(f"tag_{name}.py" for name in _NAMES), "word_signs.py", "offers.py", "context.py")
_OTHERS = [Path(__file__).with_name(name).read_bytes() for name in _FILES]
find_tags, find_matches = _compile(sha256_bytes(b"".join(_OTHERS)))
"""See :func:`_find_tags` and :func:`~components.web.html.word_signs.match`; compiled at import, once, before a pool of workers is
forked."""
