"""Find the ends of elements whose content holds no images: scripts, styles, titles, svg, math, select, template.

Compiled into the scanner of ``tags``.
"""

from __future__ import annotations

from numba import njit

from components.web.html.tag_codes import BASE, HTML, IMG, META, NOSCRIPT, PICTURE, SOURCE
from components.web.html.tag_kinds import (
    BREAK,
    BUTTON,
    CELL,
    FIGCAPTION,
    FIGURE,
    FORM,
    HEADING,
    IGNORED,
    NO_CELL,
    ODD,
    PLAIN,
    QUIET,
    SCRIPT,
    SELECT,
    SVG,
    TEMPLATE,
    A,
    read_name,
)
from components.web.html.tag_syntax import BANG, LT, end_of_tag, find_byte, find_tag, has_comment, skip_no_tag


@njit
def end_of_raw_text(data, word, name_end, end, kind):  # type: ignore[no-untyped-def]
    """Return the position of the end tag of a script, style, title ..., the text's end without one; and whether that is sure."""
    size = name_end - word
    at = end_of_tag(data, name_end, end)
    if at < 0:
        return end, True
    close = find_tag(data, at, end, word, size, 1)
    stop = close if close >= 0 else end
    # 13.2.5.20: a script inside a comment inside a script hides the end tag.
    hidden = kind == SCRIPT and (close < 0 or has_comment(data, at, stop)) and find_tag(data, at, stop, word, size, 0) >= 0
    return stop, not hidden


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
def end_of_region(data, name_end, end, region):  # type: ignore[no-untyped-def]
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
