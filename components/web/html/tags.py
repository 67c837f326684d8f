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
    BASE,
    CELL,
    FORM,
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
    may_address_robots,
    read_attributes,
    skip_blank,
    skip_no_tag,
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
    if kind in (PLAIN, SOURCE, NOSCRIPT, IGNORED):
        return False
    if kind == FORM:
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
def _read_picture(data, name_end, end, rows, count):  # type: ignore[no-untyped-def]
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
            return at, rows, count
        if kind != IMG and kind != SOURCE:
            break
        if closing:
            at = end_of_tag(data, name_end, end)
        else:
            rows, count = add_row(rows, count, kind, 0, 0)
            at, rows, count = read_attributes(data, name_end, end, rows, count)
    return -1, rows, count


@njit
def _read_noscript(data, name_end, end, rows, count):  # type: ignore[no-untyped-def]
    """Add the image that is all of a ``<noscript>`` to ``rows``.

    Returns:
        The position of its end tag; of its content where that is something else; -1 where it is unclear.
    """
    inside = end_of_tag(data, name_end, end)
    at = skip_blank(data, inside, end)
    if at < 0:
        return -1, rows, count
    begun, before = False, count
    while True:
        if data[at] != LT:
            return inside, rows, before
        if skip_no_tag(data, at, end) != at:
            return -1, rows, count
        closing, _, name_end, kind = read_name(data, at, end)
        if closing and kind == NOSCRIPT:
            return at, rows, count
        if closing or kind in (CELL, NO_CELL, HTML, ODD, IGNORED) or (begun and kind != IMG):
            return -1, rows, count  # tree building may ignore these tags, or end the element before them
        if begun or kind not in (IMG, PICTURE):
            return inside, rows, before
        begun = True
        rows, count = add_row(rows, count, NOSCRIPT, 0, 0)
        rows, count = add_row(rows, count, kind, 0, 0)
        if kind == IMG:
            at, rows, count = read_attributes(data, name_end, end, rows, count)
        else:
            at, rows, count = _read_picture(data, name_end, end, rows, count)
            if at >= 0:
                rows, count = add_row(rows, count, PICTURE_END, 0, 0)
                _, _, name_end, _ = read_name(data, at, end)
                at = end_of_tag(data, name_end, end)
        rows, count = add_row(rows, count, NOSCRIPT_END, 0, 0)
        at = skip_blank(data, at, end)
        if at < 0:
            return -1, rows, count


@njit
def _find_tags(data, agent):  # type: ignore[no-untyped-def]
    """Return the tags that hold images, the base address, the language and robots directives.

    Args:
        data: uint8, the page's UTF-8 bytes. Broken sequences are allowed: they never extend into ASCII characters.
        agent: uint8, our product token in lower case.

    Returns:
        Whether the page can be read without its tree, and int64 rows ``(code, start, end)``. A tag's row has its negative code;
        its attributes' rows follow, each with its index in ``ATTRIBUTES`` and its value's bounds (-1: no value). Images and
        sources between ``PICTURE`` and ``PICTURE_END`` belong together; those between ``NOSCRIPT`` and ``NOSCRIPT_END`` are all
        of a ``<noscript>``. Repeated attributes are repeated.
    """
    end = len(data)
    rows, count = np.empty((256, 3), np.int64), 0
    position, misplaced, in_body = 0, False, False
    while position >= 0:
        position = find_byte(data, position, end, LT)
        if position < 0:
            break
        after = skip_no_tag(data, position, end)
        if after != position:
            position = after
            continue
        closing, word, name_end, kind = read_name(data, position, end)
        if name_end < 0:
            break
        if kind in (CELL, NO_CELL):
            position = end_of_tag(data, name_end, end)
            misplaced = kind == NO_CELL
        elif kind in (PLAIN, IGNORED) or closing:
            position = end_of_tag(data, name_end, end)
            in_body |= kind == IGNORED and (data[word] | 32) == 98  # no other of these names begins with b
        elif kind in (SCRIPT, RAW, QUIET):
            position = _end_of_raw_text(data, word, name_end, end, kind)
            if position < 0:
                return False, rows[:0]
        elif kind in (SVG, MATH, SELECT, TEMPLATE):
            position = _end_of_region(data, name_end, end, kind)
            if position < 0:
                return False, rows[:0]
        elif kind == PICTURE:
            if misplaced:
                return False, rows[:0]
            in_body = True
            rows, count = add_row(rows, count, PICTURE, 0, 0)
            position, rows, count = _read_picture(data, name_end, end, rows, count)
            if position < 0:
                return False, rows[:0]
            rows, count = add_row(rows, count, PICTURE_END, 0, 0)
        elif kind == NOSCRIPT:
            before = count
            position, rows, count = _read_noscript(data, name_end, end, rows, count)
            # Before the body its image is moved out of it.
            if position < 0 or ((misplaced or not in_body) and count > before):
                return False, rows[:0]
        elif kind == ODD:
            if end_of_tag(data, name_end, end) >= 0:
                return False, rows[:0]
            break
        elif kind in (IMG, BASE, HTML, META):
            before = count
            in_body |= kind == IMG
            rows, count = add_row(rows, count, kind, 0, 0)
            position, rows, count = read_attributes(data, name_end, end, rows, count)
            if position < 0:
                count = before
                break
            if misplaced and kind in (IMG, BASE):
                return False, rows[:0]
            if kind == META and not may_address_robots(data, rows, before + 1, count, agent):
                count = before
        else:  # a source outside a picture, a form control
            position = end_of_tag(data, name_end, end)
    return True, rows[:count]


_BYTES = types.Array(types.uint8, 1, "C", readonly=True)


def _compile(others: str) -> Any:
    """Compile the scanner, or load it from numba's cache.

    The cache notices changes of this file only. ``others``, the digest of the other compiled files, becomes part of its key.
    """

    @njit((_BYTES, _BYTES), cache=True)
    def find_tags(data, agent):  # type: ignore[no-untyped-def]
        _ = others
        return _find_tags(data, agent)

    return find_tags


_OTHERS = [Path(__file__).with_name(name).read_bytes() for name in ("tag_kinds.py", "tag_syntax.py", "offers.py")]
find_tags = _compile(sha256_bytes(b"".join(_OTHERS)))
"""See :func:`_find_tags`; compiled at import, once, before a pool of workers is forked."""
