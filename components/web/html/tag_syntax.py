"""Read the syntax of tags in a page's bytes: names, attributes, comments; compiled into the scanner of ``tags``.

It follows the HTML standard's tokenizer (13.2.5) and decodes nothing. Functions take the page's UTF-8 bytes as ``data`` and
positions in it; -1 means "not found before the end".
"""

from __future__ import annotations

import string
from typing import Any

import numpy as np
from numba import njit

from components.web.html.tag_codes import ATTRIBUTES, HEIGHT, WIDTH


def _byte_set(characters: str) -> Any:
    members = np.zeros(256, np.bool_)
    members[[ord(character) for character in characters]] = True
    return members


_SPACE, _ENDS_NAME, _ENDS_ATTRIBUTE = _byte_set("\t\n\f\r "), _byte_set("\t\n\f\r />"), _byte_set("\t\n\f\r />=")
LETTER = _byte_set(string.ascii_letters)
_LOWER = np.arange(256, dtype=np.uint8)
_LOWER[65:91] += 32
_ATTRIBUTE_SIZES = np.array([len(name) for name in ATTRIBUTES])
_ATTRIBUTES = np.zeros((len(ATTRIBUTES), _ATTRIBUTE_SIZES.max()), np.uint8)
for _row, _name in enumerate(ATTRIBUTES):
    _ATTRIBUTES[_row, : len(_name)] = np.frombuffer(_name.encode(), np.uint8)
LT, _GT, SLASH, BANG, _DASH, _EQUALS, _QUERY, _AND = (ord(character) for character in "<>/!-=?&")
_ROBOTS, _TDM, _HREF, _ONCLICK, _ROLE, _BUTTON, _OG_TITLE, _WIDTH, _HEIGHT = (
    np.frombuffer(name.encode(), np.uint8)
    for name in ("robots", "tdm-reservation", "href", "onclick", "role", "button", "og:title", "width", "height")
)
_NAME, _PROPERTY = ATTRIBUTES.index("name"), ATTRIBUTES.index("property")


@njit
def add_row(rows, count, code, start, end):  # type: ignore[no-untyped-def]
    """Add a row unless the table is full; the count goes on, so that the caller can make a larger one."""
    if count < len(rows):
        rows[count, 0], rows[count, 1], rows[count, 2] = code, start, end
    return count + 1


@njit
def find_byte(data, at, end, byte):  # type: ignore[no-untyped-def]
    while at < end:
        if data[at] == byte:
            return at
        at += 1
    return -1


@njit
def _find_after(data, at, end, byte):  # type: ignore[no-untyped-def]
    match = find_byte(data, at, end, byte)
    return match + 1 if match >= 0 else -1


@njit
def end_of_name(data, at, end):  # type: ignore[no-untyped-def]
    while at < end:
        if _ENDS_NAME[data[at]]:
            return at
        at += 1
    return -1


@njit
def is_name(data, at, end, name, size):  # type: ignore[no-untyped-def]
    if end - at != size:
        return False
    for i in range(size):  # noqa: SIM110  (faster than all() here)
        if _LOWER[data[at + i]] != name[i]:
            return False
    return True


@njit
def _next_attribute(data, at, end):  # type: ignore[no-untyped-def]
    """Return the state (1: attribute, 0: end of tag, -1: end of text), the next position, and the bounds of name and value."""
    while at < end and (_SPACE[data[at]] or data[at] == SLASH):
        at += 1
    if at == end:
        return -1, at, 0, 0, -1, -1
    if data[at] == _GT:
        return 0, at + 1, 0, 0, -1, -1
    name = at
    at += 1
    while at < end and not _ENDS_ATTRIBUTE[data[at]]:
        at += 1
    name_end, position = at, at
    while position < end and _SPACE[data[position]]:
        position += 1
    if position == end or data[position] != _EQUALS:
        return 1, at, name, name_end, -1, -1
    position += 1
    while position < end and _SPACE[data[position]]:
        position += 1
    if position == end:
        return -1, at, 0, 0, -1, -1
    first = data[position]
    if first == 34 or first == 39:
        close = find_byte(data, position + 1, end, first)
        if close < 0:
            return -1, at, 0, 0, -1, -1
        return 1, close + 1, name, name_end, position + 1, close
    if first == _GT:
        return 1, position, name, name_end, -1, -1
    at = position
    while at < end and not _SPACE[data[at]] and data[at] != _GT:
        at += 1
    return 1, at, name, name_end, position, at


@njit
def end_of_tag(data, at, end):  # type: ignore[no-untyped-def]
    state = 1
    while state > 0:
        state, at, _, _, _, _ = _next_attribute(data, at, end)
    return at if state == 0 else -1


@njit
def _parse_pixels(data, at, end):  # type: ignore[no-untyped-def]
    """Return one more than the px of a ``width`` or ``height``, of at most five digits; 0 for a percentage or no number."""
    while at < end and _SPACE[data[at]]:
        at += 1
    first, pixels = at, 0
    while at < end and at - first < 6 and 48 <= data[at] <= 57:
        pixels = 10 * pixels + data[at] - 48
        at += 1
    if not 0 < at - first < 6:
        return 0
    if at < end and data[at] == 46:
        at += 1
        while at < end and 48 <= data[at] <= 57:
            at += 1
    if end - at > 1 and data[at] | 32 == 112 and data[at + 1] | 32 == 120:
        at += 2
    while at < end and _SPACE[data[at]]:
        at += 1
    return pixels + 1 if at == end else 0


@njit
def read_attributes(data, at, end, rows, count):  # type: ignore[no-untyped-def]
    """Add a tag's reported attributes to ``rows``.

    Returns:
        The position after the tag, -1 when the text ends inside it; the number of rows; and what it states besides: 1 for
        ``onclick``, ``WIDTH`` and ``HEIGHT`` times one more than its px.
    """
    besides, width, height = 0, -1, -1
    while True:
        state, at, name, name_end, value, value_end = _next_attribute(data, at, end)
        if state <= 0:
            return at if state == 0 else -1, count, besides | max(width, 0) * WIDTH | max(height, 0) * HEIGHT
        if width < 0 and is_name(data, name, name_end, _WIDTH, 5):
            width = _parse_pixels(data, value, value_end)
            continue
        if height < 0 and is_name(data, name, name_end, _HEIGHT, 6):
            height = _parse_pixels(data, value, value_end)
            continue
        if is_name(data, name, name_end, _ONCLICK, 7):
            besides = 1
            continue
        for code in range(len(_ATTRIBUTE_SIZES)):
            if is_name(data, name, name_end, _ATTRIBUTES[code], _ATTRIBUTE_SIZES[code]):
                count = add_row(rows, count, code, value, value_end)
                break


@njit
def read_link(data, at, end):  # type: ignore[no-untyped-def]
    """Return the position after a link's tag, the bounds of its ``href`` (-1: none), and whether it acts as a button."""
    href, href_end, acts = -1, -1, False
    while True:
        state, at, name, name_end, value, value_end = _next_attribute(data, at, end)
        if state <= 0:
            return at if state == 0 else -1, href, href_end, acts
        if href < 0 and is_name(data, name, name_end, _HREF, 4):
            href, href_end = value, value_end
        acts = acts or (value >= 0 and is_name(data, name, name_end, _ROLE, 4) and is_name(data, value, value_end, _BUTTON, 6))


@njit
def begins_comment(data, at, end):  # type: ignore[no-untyped-def]
    return end - at >= 4 and data[at] == LT and data[at + 1] == BANG and data[at + 2] == _DASH and data[at + 3] == _DASH


@njit
def has_comment(data, at, end):  # type: ignore[no-untyped-def]
    for i in range(at, end):  # noqa: SIM110  (numba has no generators here)
        if begins_comment(data, i, end):
            return True
    return False


@njit
def skip_no_tag(data, at, end):  # type: ignore[no-untyped-def]
    """Return the end of a '<' construct that is no tag (comment, declaration, text); ``at`` itself for a tag."""
    if end - at < 2:
        return -1
    second = data[at + 1]
    if LETTER[second]:
        return at
    if second == BANG:
        if begins_comment(data, at, end):
            return _end_of_comment(data, at + 4, end)
        return _find_after(data, at + 2, end, _GT)
    if second == _QUERY:
        return _find_after(data, at + 2, end, _GT)
    if second == SLASH:
        return at if end - at > 2 and LETTER[data[at + 2]] else _find_after(data, at + 2, end, _GT)
    return at + 1


@njit
def _end_of_comment(data, at, end):  # type: ignore[no-untyped-def]
    if at < end and data[at] == _GT:
        return at + 1
    if end - at > 1 and data[at] == _DASH and data[at + 1] == _GT:
        return at + 2
    while True:
        at = find_byte(data, at, end, _DASH)
        if at < 0 or end - at <= 2:
            return -1
        if data[at + 1] == _DASH:
            if data[at + 2] == _GT:
                return at + 3
            if data[at + 2] == BANG and end - at > 3 and data[at + 3] == _GT:
                return at + 4
        at += 1


@njit
def skip_blank(data, at, end):  # type: ignore[no-untyped-def]
    """Return the position after white space and comments; -1 where the text ends in them, or a character reference follows."""
    while 0 <= at < end:
        if begins_comment(data, at, end):
            at = _end_of_comment(data, at + 4, end)
        elif _SPACE[data[at]]:
            at += 1
        else:
            return -1 if data[at] == _AND else at
    return -1


@njit
def find_tag(data, at, end, word, size, closing):  # type: ignore[no-untyped-def]
    """Return the position of the next tag with the name at ``word``, which is all letters."""
    while True:
        at = find_byte(data, at, end, LT)
        if at < 0:
            return -1
        name = at + 1 + closing
        if end - name > size and (not closing or data[at + 1] == SLASH) and _ENDS_NAME[data[name + size]]:
            same = True
            for i in range(size):
                if data[name + i] | 32 != data[word + i] | 32:
                    same = False
                    break
            if same:
                return at
        at += 1


@njit
def may_matter(data, rows, first, last, agent):  # type: ignore[no-untyped-def]
    """Return whether a meta tag's name addresses robots or ``agent``, or may (it has a character reference or is not ASCII), or
    it states the page's title."""
    if last > len(rows):
        return True
    for row in range(first, last):
        at, end = rows[row, 1], rows[row, 2]
        if rows[row, 0] == _PROPERTY and is_name(data, at, end, _OG_TITLE, 8):
            return True
        if rows[row, 0] == _NAME:
            for i in range(at, end):
                if data[i] == _AND or data[i] > 127:
                    return True
            while at < end and data[at] <= 32:  # the characters that Python's strip() removes
                at += 1
            while at < end and data[end - 1] <= 32:
                end -= 1
            ours = is_name(data, at, end, _ROBOTS, 6) or is_name(data, at, end, agent, len(agent))
            if ours or is_name(data, at, end, _TDM, 15):
                return True
    return False
