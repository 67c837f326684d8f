"""Find the tags of a page that hold images in one pass over its bytes, compiled by numba.

The pass gives up where tree building would move, hide or re-parent an image: misnested tables, foreign content that ends early,
framesets, markup in ``<select>``. ``tag_syntax`` reads one tag, ``tag_kinds`` tells which tags matter.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numba import njit, types

from components.core.digests import sha256_bytes
from components.web.html.tag_kinds import (
    A,
    BASE,
    BREAK,
    BUTTON,
    CELL,
    FIGCAPTION,
    FIGURE,
    FORM,
    HEADING,
    HREF,
    HTML,
    IGNORED,
    IMG,
    MATH,
    META,
    NO_CELL,
    NOSCRIPT,
    NOSCRIPT_END,
    ODD,
    PICTURE,
    PICTURE_END,
    PLAIN,
    QUIET,
    RAW,
    SCRIPT,
    SELECT,
    SOURCE,
    SVG,
    TEMPLATE,
    read_name,
)
from components.web.html.tag_syntax import (
    BANG,
    LT,
    add_row,
    begins_comment,
    end_of_tag,
    find_byte,
    find_tag,
    has_comment,
    may_matter,
    read_attributes,
    read_link,
    skip_blank,
    skip_no_tag,
)
from components.web.html.tag_texts import (
    ACTS,
    BUTTONS,
    CAPTION,
    CAPTION_TEXT,
    COUNT,
    DEPTH,
    GAP,
    HEADING_TEXT,
    HIDDEN,
    HREF_END,
    INLINE,
    LEVEL,
    LINK,
    LINK_HREF,
    LINK_TEXT,
    MOST,
    OPEN,
    SIZE,
    STACK,
    TITLE,
    TITLES,
    add_byte,
    add_text,
    add_text_row,
    close_all,
    close_text,
    match,
    open_caption,
    open_figure,
    open_text,
    reset,
    sign,
)


@njit
def _end_of_raw_text(data, word, name_end, end, kind):  # type: ignore[no-untyped-def]
    """Return the position of the end tag of a script, style, title ..., the text's end without one, -1 when it is unclear."""
    size = name_end - word
    at = end_of_tag(data, name_end, end)
    if at < 0:
        return end
    close = find_tag(data, at, end, word, size, 1)
    stop = close if close >= 0 else end
    # 13.2.5.20: a script inside a comment inside a script hides the end tag.
    if kind == SCRIPT and (close < 0 or has_comment(data, at, stop)) and find_tag(data, at, stop, word, size, 0) >= 0:
        return -1
    return stop


@njit
def _forbidden(region, kind):  # type: ignore[no-untyped-def]
    if kind in (PLAIN, SOURCE, NOSCRIPT, IGNORED, BREAK, HEADING, A, FIGURE, FIGCAPTION):
        return False
    if kind in (FORM, BUTTON):
        return region == SELECT
    if kind in (CELL, NO_CELL, IMG, PICTURE, BASE, HTML, META):
        return region != TEMPLATE
    return True


@njit
def _end_of_region(data, name_end, end, region):  # type: ignore[no-untyped-def]
    """Return the position of the end tag of an svg, math, select or template; -1 when its content may matter."""
    at = end_of_tag(data, name_end, end)
    while at >= 0:
        at = find_byte(data, at, end, LT)
        if at < 0:
            return -1
        if end - at > 2 and data[at + 1] == BANG and data[at + 2] == 91:  # <![CDATA[
            return -1
        after = skip_no_tag(data, at, end)
        if after != at:
            at = after
            continue
        closing, word, name_end, kind = read_name(data, at, end)
        if name_end < 0:
            return -1
        if closing and kind == region:
            return at
        if kind == QUIET and region == SVG and not closing:
            at = _end_of_quiet(data, word, name_end, end)
            continue
        # "image" is an ordinary element of a template.
        if _forbidden(region, kind) and not (region == TEMPLATE and kind == ODD and (data[word] | 32) == 105):
            return -1
        at = end_of_tag(data, name_end, end)
    return -1


@njit
def _end_of_quiet(data, word, name_end, end):  # type: ignore[no-untyped-def]
    """Return the position after an svg's style or title that holds only text; -1 otherwise."""
    size = name_end - word
    at = end_of_tag(data, name_end, end)
    if at >= 0:
        at = find_byte(data, at, end, LT)
    if at < 0 or find_tag(data, at, min(at + size + 3, end), word, size, 1) != at:
        return -1
    return end_of_tag(data, at + 2 + size, end)


@njit
def _add_image(rows, count, state):  # type: ignore[no-untyped-def]
    """Add an image's row, with whether it is in a button and the number of its figure; before it that of the link around it."""
    if state[LINK_HREF] >= 0:
        count = add_row(rows, count, HREF, state[LINK_HREF], state[HREF_END])
    figure = state[STACK + state[DEPTH]] if state[DEPTH] else 0
    return add_row(rows, count, IMG, state[BUTTONS] | state[ACTS], figure)


@njit
def _read_picture(data, name_end, end, rows, count, state):  # type: ignore[no-untyped-def]
    """Add a picture's images and sources to ``rows``; return the position of its end tag, -1 when it holds anything else."""
    at = end_of_tag(data, name_end, end)
    while at >= 0:
        at = find_byte(data, at, end, LT)
        if at < 0:
            break
        after = skip_no_tag(data, at, end)
        if after != at:
            if begins_comment(data, at, end):
                at = after
                continue
            break
        closing, _, name_end, kind = read_name(data, at, end)
        if name_end < 0:
            break
        if closing and kind == PICTURE:
            return at, count
        if kind != IMG and kind != SOURCE:
            break
        if closing:
            at = end_of_tag(data, name_end, end)
        else:
            count = _add_image(rows, count, state) if kind == IMG else add_row(rows, count, kind, 0, 0)
            at, count = read_attributes(data, name_end, end, rows, count)
    return -1, count


@njit
def _read_noscript(data, name_end, end, rows, count, state):  # type: ignore[no-untyped-def]
    """Add the image that is all of a ``<noscript>`` to ``rows``.

    Returns:
        The position of its end tag; of its content where that is something else; -1 where it is unclear.
    """
    inside = end_of_tag(data, name_end, end)
    at = skip_blank(data, inside, end)
    if at < 0:
        return -1, count
    begun, before = False, count
    while True:
        if data[at] != LT:
            return inside, before
        if skip_no_tag(data, at, end) != at:
            return -1, count
        closing, _, name_end, kind = read_name(data, at, end)
        if closing and kind == NOSCRIPT:
            return at, count
        if closing or kind in (CELL, NO_CELL, HTML, ODD, IGNORED) or (begun and kind != IMG):
            return -1, count  # tree building may ignore these tags, or end the element before them
        if begun or kind not in (IMG, PICTURE):
            return inside, before
        begun = True
        count = add_row(rows, count, NOSCRIPT, 0, 0)
        if kind == IMG:
            count = _add_image(rows, count, state)
            at, count = read_attributes(data, name_end, end, rows, count)
        else:
            count = add_row(rows, count, PICTURE, 0, 0)
            at, count = _read_picture(data, name_end, end, rows, count, state)
            if at >= 0:
                count = add_row(rows, count, PICTURE_END, 0, 0)
                _, _, name_end, _ = read_name(data, at, end)
                at = end_of_tag(data, name_end, end)
        count = add_row(rows, count, NOSCRIPT_END, 0, 0)
        at = skip_blank(data, at, end)
        if at < 0:
            return -1, count


@njit
def _close_element(data, word, name_end, kind, buffer, texts, state):  # type: ignore[no-untyped-def]
    """End what an end tag closes of the texts and surroundings of images."""
    if kind == A:
        close_text(LINK_TEXT, LINK, buffer, texts, state)
        state[LINK_HREF], state[ACTS] = -1, 0
    elif kind == HEADING:
        close_text(HEADING_TEXT, state[LEVEL], buffer, texts, state)
    elif kind == BUTTON:
        state[BUTTONS] = 0
    elif kind == NOSCRIPT:
        state[HIDDEN] = 0
    elif kind == FIGCAPTION or kind == FIGURE:
        close_text(CAPTION_TEXT, CAPTION, buffer, texts, state)
        if kind == FIGURE and state[DEPTH]:
            state[DEPTH] -= 1


@njit
def _open_element(data, word, name_end, end, kind, buffer, texts, state):  # type: ignore[no-untyped-def]
    """Begin what a start tag opens of these; return the position after the tag."""
    if kind == A:
        close_text(LINK_TEXT, LINK, buffer, texts, state)
        after, state[LINK_HREF], state[HREF_END], state[ACTS] = read_link(data, name_end, end)
        if state[LINK_HREF] >= 0:
            open_text(LINK_TEXT, state)
        return after
    if kind == HEADING:
        close_text(HEADING_TEXT, state[LEVEL], buffer, texts, state)
        state[LEVEL] = data[word + 1] - 48
        open_text(HEADING_TEXT, state)
    elif kind == BUTTON:
        state[BUTTONS] = 1
    elif kind == FIGURE:
        open_figure(buffer, texts, state)
    elif kind == FIGCAPTION:
        open_caption(buffer, texts, state)
    return end_of_tag(data, name_end, end)


@njit
def _add_title(data, name_end, end, stop, buffer, texts, state):  # type: ignore[no-untyped-def]
    """Add the text of the page's first title."""
    at = end_of_tag(data, name_end, end)
    if at >= 0 and not state[TITLES]:
        state[TITLES], start = 1, state[SIZE]
        state[OPEN] += 1
        add_text(data, at, min(stop, at + MOST), buffer, state)
        state[OPEN] -= 1
        bits, words = sign(buffer, start, state[SIZE])
        add_text_row(texts, state, TITLE, start, state[SIZE], bits, words)


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
            in a link follows the link's ``HREF``; see ``_add_image``. Repeated attributes are repeated.
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
            _close_element(data, word, name_end, kind, buffer, texts, state)
            position = end_of_tag(data, name_end, end)
        elif kind in (PLAIN, BREAK, IGNORED):
            position = end_of_tag(data, name_end, end)
            in_body |= kind == IGNORED and (data[word] | 32) == 98  # no other of these names begins with b
        elif kind in (HEADING, A, BUTTON, FIGURE, FIGCAPTION):
            position = _open_element(data, word, name_end, end, kind, buffer, texts, state)
        elif kind in (SCRIPT, RAW, QUIET):
            position = _end_of_raw_text(data, word, name_end, end, kind)
            if position < 0:
                plain, position = False, end_of_tag(data, name_end, end)
            elif kind == QUIET and (data[word] | 32) == 116:
                _add_title(data, name_end, end, position, buffer, texts, state)
        elif kind in (SVG, MATH, SELECT, TEMPLATE):
            position = _end_of_region(data, name_end, end, kind)
            if position < 0:
                plain, position = False, end_of_tag(data, name_end, end)
        elif kind == PICTURE:
            plain, in_body = plain and not misplaced, True
            count = add_row(rows, count, PICTURE, 0, 0)
            position, count = _read_picture(data, name_end, end, rows, count, state)
            if position < 0:
                plain, position, count = False, end_of_tag(data, name_end, end), before
            else:
                count = add_row(rows, count, PICTURE_END, 0, 0)
        elif kind == NOSCRIPT:
            position, count = _read_noscript(data, name_end, end, rows, count, state)
            # Before the body its image is moved out of it.
            if position < 0 or ((misplaced or not in_body) and count > before):
                plain, position, count = False, end_of_tag(data, name_end, end), before
            state[HIDDEN] = 1
        elif kind == ODD:
            plain, position = plain and after < 0, after
        elif kind in (IMG, BASE, HTML, META):
            in_body |= kind == IMG
            count = _add_image(rows, count, state) if kind == IMG else add_row(rows, count, kind, 0, 0)
            first = count
            position, count = read_attributes(data, name_end, end, rows, count)
            if position < 0:
                count = before
                break
            plain = plain and not (misplaced and kind in (IMG, BASE))
            if kind == META and not may_matter(data, rows, first, count, agent):
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


_NAMES = ("tag_kinds.py", "tag_syntax.py", "tag_texts.py", "offers.py", "context.py")
_OTHERS = [Path(__file__).with_name(name).read_bytes() for name in _NAMES]
find_tags, find_matches = _compile(sha256_bytes(b"".join(_OTHERS)))
"""See :func:`_find_tags` and :func:`~components.web.html.tag_texts.match`; compiled at import, once, before a pool of workers is
forked."""
