"""Read images, ``<picture>`` and ``<noscript>`` with what surrounds them; compiled into the scanner of ``tags``."""

from __future__ import annotations

from numba import njit

from components.web.html.tag_codes import HREF, HTML, IMG, NOSCRIPT, NOSCRIPT_END, PICTURE, PICTURE_END, SOURCE, STACK
from components.web.html.tag_kinds import CELL, IGNORED, NO_CELL, ODD, read_name
from components.web.html.tag_syntax import (
    LT,
    add_row,
    begins_comment,
    end_of_tag,
    find_byte,
    read_attributes,
    skip_blank,
    skip_no_tag,
)
from components.web.html.tag_texts import ACTS, BUTTONS, DEPTH, HREF_END, LINK_HREF


@njit
def read_image(data, name_end, end, rows, count, state):  # type: ignore[no-untyped-def]
    """Add an image's rows; return the position after its tag, -1 when the text ends inside it.

    Its own row has what ``tag_syntax.read_attributes`` returns besides, with the bit of ``onclick`` also set in a button, and the
    number of its figure; the row of the link around it comes before.
    """
    if state[LINK_HREF] >= 0:
        count = add_row(rows, count, HREF, state[LINK_HREF], state[HREF_END])
    figure, row = state[STACK + state[DEPTH]] if state[DEPTH] else 0, count
    count = add_row(rows, count, IMG, 0, figure)
    at, count, besides = read_attributes(data, name_end, end, rows, count)
    if row < len(rows):
        rows[row, 1] = besides | state[BUTTONS] | state[ACTS]
    return at, count


@njit
def read_picture(data, name_end, end, rows, count, state):  # type: ignore[no-untyped-def]
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
        elif kind == IMG:
            at, count = read_image(data, name_end, end, rows, count, state)
        else:
            count = add_row(rows, count, kind, 0, 0)
            at, count, _ = read_attributes(data, name_end, end, rows, count)
    return -1, count


@njit
def read_noscript(data, name_end, end, rows, count, state):  # type: ignore[no-untyped-def]
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
            at, count = read_image(data, name_end, end, rows, count, state)
        else:
            count = add_row(rows, count, PICTURE, 0, 0)
            at, count = read_picture(data, name_end, end, rows, count, state)
            if at >= 0:
                count = add_row(rows, count, PICTURE_END, 0, 0)
                _, _, name_end, _ = read_name(data, at, end)
                at = end_of_tag(data, name_end, end)
        count = add_row(rows, count, NOSCRIPT_END, 0, 0)
        at = skip_blank(data, at, end)
        if at < 0:
            return -1, count
