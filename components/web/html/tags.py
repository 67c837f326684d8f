"""Find the tags of a page that hold images in one pass over its bytes, compiled by numba.

The pass follows the HTML standard's tokenizer (13.2.5: attributes, comments, raw text) and decodes nothing. It gives up where
tree building would move, hide or re-parent an image: misnested tables, foreign content that ends early, framesets, markup in
``<select>``. Functions take the page's UTF-8 bytes as ``data`` and positions in it; -1 means "not found before the end".
It is one module because numba's cache tracks changes of the compiled function's own file only.
"""

from __future__ import annotations

import string
from typing import Any

import numpy as np
from numba import njit, types

ATTRIBUTES = (
    "src", "alt", "srcset", "data-src", "data-original", "data-lazy-src", "data-srcset",
    "type", "href", "lang", "name", "content",
)  # fmt: skip
"""The attributes that are reported, by their code."""
IMG, SOURCE, PICTURE, PICTURE_END, BASE, HTML, META = -1, -2, -3, -4, -5, -6, -7
"""Codes of the tags that are reported."""

_PLAIN, _CELL, _NO_CELL, _SCRIPT, _RAW, _QUIET, _SVG, _MATH, _SELECT, _TEMPLATE, _ODD, _FORM = range(12)
# After a cell's start tag an image stays where it is; after other table tags the parser may move it before the table.
_START = {
    **dict.fromkeys(("td", "th", "caption"), _CELL),
    **dict.fromkeys(("table", "tr", "tbody", "thead", "tfoot", "col", "colgroup"), _NO_CELL),
    **dict.fromkeys(("textarea", "iframe", "xmp", "noembed", "noframes"), _RAW),
    **dict.fromkeys(("style", "title"), _QUIET),
    **dict.fromkeys(("image", "plaintext", "frameset"), _ODD),
    **dict.fromkeys(("input", "keygen", "button"), _FORM),
    **dict(script=_SCRIPT, svg=_SVG, math=_MATH, select=_SELECT, template=_TEMPLATE),  # noqa: C408
    **dict(img=IMG, source=SOURCE, picture=PICTURE, base=BASE, html=HTML, meta=META),  # noqa: C408
}
_CLOSE = _START | {"table": _CELL, "td": _NO_CELL, "th": _NO_CELL, "caption": _NO_CELL}


def _encode_name(name: str) -> int:
    """Encode a name of at most 12 letters as a number, five bits per letter."""
    key = 0
    for letter in name:
        key = key * 32 + ord(letter) - 96
    return key


_SLOTS = next(n for n in range(64, 4096) if len({_encode_name(name) % n for name in _START}) == len(_START))
"""Size of a hash table of the names without collisions."""
_KEYS, _STARTS, _CLOSES = (np.zeros(_SLOTS, np.int64) for _ in range(3))
for _name, _kind in _START.items():
    _slot = _encode_name(_name) % _SLOTS
    _KEYS[_slot], _STARTS[_slot], _CLOSES[_slot] = _encode_name(_name), _kind, _CLOSE[_name]


def _byte_set(characters: str) -> Any:
    members = np.zeros(256, np.bool_)
    members[[ord(character) for character in characters]] = True
    return members


_SPACE, _ENDS_NAME, _ENDS_ATTRIBUTE = _byte_set("\t\n\f\r "), _byte_set("\t\n\f\r />"), _byte_set("\t\n\f\r />=")
_LETTER = _byte_set(string.ascii_letters)
_LOWER = np.arange(256, dtype=np.uint8)
_LOWER[65:91] += 32
_ATTRIBUTES = np.zeros((len(ATTRIBUTES), 16), np.uint8)
_ATTRIBUTE_SIZES = np.array([len(name) for name in ATTRIBUTES])
for _row, _name in enumerate(ATTRIBUTES):
    _ATTRIBUTES[_row, : len(_name)] = np.frombuffer(_name.encode(), np.uint8)
_ROBOTS, _HEARSIGHT = (np.frombuffer(name, np.uint8) for name in (b"robots", b"hearsight"))
_NAME = ATTRIBUTES.index("name")
_LT, _GT, _SLASH, _BANG, _DASH, _EQUALS, _QUERY, _AND = (ord(character) for character in "<>/!-=?&")


@njit(cache=True)
def _add(rows, count, code, start, end):  # type: ignore[no-untyped-def]
    if count == len(rows):
        larger = np.empty((2 * count, 3), np.int64)
        larger[:count] = rows
        rows = larger
    rows[count, 0], rows[count, 1], rows[count, 2] = code, start, end
    return rows, count + 1


@njit(cache=True)
def _find(data, at, end, byte):  # type: ignore[no-untyped-def]
    while at < end:
        if data[at] == byte:
            return at
        at += 1
    return -1


@njit(cache=True)
def _find_after(data, at, end, byte):  # type: ignore[no-untyped-def]
    match = _find(data, at, end, byte)
    return match + 1 if match >= 0 else -1


@njit(cache=True)
def _end_of_name(data, at, end):  # type: ignore[no-untyped-def]
    while at < end:
        if _ENDS_NAME[data[at]]:
            return at
        at += 1
    return -1


@njit(cache=True)
def _kind_of(data, at, end, closing):  # type: ignore[no-untyped-def]
    if end - at > 12:
        return _PLAIN
    key = 0
    for i in range(at, end):
        if not _LETTER[data[i]]:
            return _PLAIN
        key = key * 32 + (data[i] | 32) - 96
    slot = key % _SLOTS
    if _KEYS[slot] != key:
        return _PLAIN
    return _CLOSES[slot] if closing else _STARTS[slot]


@njit(cache=True)
def _read_name(data, at, end):  # type: ignore[no-untyped-def]
    """Return whether the tag at ``at`` is an end tag, where its name begins and ends (-1: no end), and its kind."""
    closing = data[at + 1] == _SLASH
    name_start = at + 1 + closing
    name_end = _end_of_name(data, name_start, end)
    return closing, name_start, name_end, _kind_of(data, name_start, name_end, closing)


@njit(cache=True)
def _next_attribute(data, at, end):  # type: ignore[no-untyped-def]
    """Return the state (1: attribute, 0: end of tag, -1: end of text), the next position, and the bounds of name and value."""
    while at < end and (_SPACE[data[at]] or data[at] == _SLASH):
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
        close = _find(data, position + 1, end, first)
        if close < 0:
            return -1, at, 0, 0, -1, -1
        return 1, close + 1, name, name_end, position + 1, close
    if first == _GT:
        return 1, position, name, name_end, -1, -1
    at = position
    while at < end and not _SPACE[data[at]] and data[at] != _GT:
        at += 1
    return 1, at, name, name_end, position, at


@njit(cache=True)
def _end_of_tag(data, at, end):  # type: ignore[no-untyped-def]
    state = 1
    while state > 0:
        state, at, _, _, _, _ = _next_attribute(data, at, end)
    return at if state == 0 else -1


@njit(cache=True)
def _read_attributes(data, at, end, rows, count):  # type: ignore[no-untyped-def]
    """Add a tag's reported attributes to ``rows``; return the position after the tag, -1 when the text ends inside it."""
    while True:
        state, at, name, name_end, value, value_end = _next_attribute(data, at, end)
        if state < 0:
            return -1, rows, count
        if state == 0:
            return at, rows, count
        for code in range(len(_ATTRIBUTE_SIZES)):
            if _is_name(data, name, name_end, _ATTRIBUTES[code], _ATTRIBUTE_SIZES[code]):
                rows, count = _add(rows, count, code, value, value_end)
                break


@njit(cache=True)
def _is_name(data, at, end, name, size):  # type: ignore[no-untyped-def]
    if end - at != size:
        return False
    for i in range(size):  # noqa: SIM110  (faster than all() here)
        if _LOWER[data[at + i]] != name[i]:
            return False
    return True


@njit(cache=True)
def _may_address_robots(data, rows, first, last):  # type: ignore[no-untyped-def]
    """Return whether a meta tag's name addresses robots, or may: it has a character reference or is not ASCII."""
    for row in range(first, last):
        if rows[row, 0] == _NAME:
            at, end = rows[row, 1], rows[row, 2]
            for i in range(at, end):
                if data[i] == _AND or data[i] > 127:
                    return True
            while at < end and data[at] <= 32:  # the characters that Python's strip() removes
                at += 1
            while at < end and data[end - 1] <= 32:
                end -= 1
            return _is_name(data, at, end, _ROBOTS, 6) or _is_name(data, at, end, _HEARSIGHT, 9)
    return False


@njit(cache=True)
def _skip_no_tag(data, at, end):  # type: ignore[no-untyped-def]
    """Return the end of a '<' construct that is no tag (comment, declaration, text); ``at`` itself for a tag."""
    if end - at < 2:
        return -1
    second = data[at + 1]
    if _LETTER[second]:
        return at
    if second == _BANG:
        if end - at >= 4 and data[at + 2] == _DASH and data[at + 3] == _DASH:
            return _end_of_comment(data, at + 4, end)
        return _find_after(data, at + 2, end, _GT)
    if second == _QUERY:
        return _find_after(data, at + 2, end, _GT)
    if second == _SLASH:
        return at if end - at > 2 and _LETTER[data[at + 2]] else _find_after(data, at + 2, end, _GT)
    return at + 1


@njit(cache=True)
def _end_of_comment(data, at, end):  # type: ignore[no-untyped-def]
    if at < end and data[at] == _GT:
        return at + 1
    if end - at > 1 and data[at] == _DASH and data[at + 1] == _GT:
        return at + 2
    while True:
        at = _find(data, at, end, _DASH)
        if at < 0 or end - at <= 2:
            return -1
        if data[at + 1] == _DASH:
            if data[at + 2] == _GT:
                return at + 3
            if data[at + 2] == _BANG and end - at > 3 and data[at + 3] == _GT:
                return at + 4
        at += 1


@njit(cache=True)
def _find_tag(data, at, end, word, size, closing):  # type: ignore[no-untyped-def]
    """Return the position of the next tag with the name at ``word``, which is all letters."""
    while True:
        at = _find(data, at, end, _LT)
        if at < 0:
            return -1
        name = at + 1 + closing
        if end - name > size and (not closing or data[at + 1] == _SLASH) and _ENDS_NAME[data[name + size]]:
            same = True
            for i in range(size):
                if data[name + i] | 32 != data[word + i] | 32:
                    same = False
                    break
            if same:
                return at
        at += 1


@njit(cache=True)
def _has_comment(data, at, end):  # type: ignore[no-untyped-def]
    for i in range(at, end - 3):
        if data[i] == _LT and data[i + 1] == _BANG and data[i + 2] == _DASH and data[i + 3] == _DASH:
            return True
    return False


@njit(cache=True)
def _end_of_raw_text(data, word, name_end, end, kind):  # type: ignore[no-untyped-def]
    """Return the position of the end tag of a script, style, title ..., the text's end without one, -1 when it is unclear."""
    size = name_end - word
    at = _end_of_tag(data, name_end, end)
    if at < 0:
        return end
    close = _find_tag(data, at, end, word, size, 1)
    stop = close if close >= 0 else end
    # 13.2.5.20: a script inside a comment inside a script hides the end tag.
    if kind == _SCRIPT and (close < 0 or _has_comment(data, at, stop)) and _find_tag(data, at, stop, word, size, 0) >= 0:
        return -1
    return stop


@njit(cache=True)
def _forbidden(region, kind):  # type: ignore[no-untyped-def]
    if kind in (_PLAIN, SOURCE):
        return False
    if kind == _FORM:
        return region == _SELECT
    if kind in (_CELL, _NO_CELL, IMG, PICTURE, BASE, HTML, META):
        return region != _TEMPLATE
    return True


@njit(cache=True)
def _end_of_region(data, name_end, end, region):  # type: ignore[no-untyped-def]
    """Return the position of the end tag of an svg, math, select or template; -1 when its content may matter."""
    at = _end_of_tag(data, name_end, end)
    while at >= 0:
        at = _find(data, at, end, _LT)
        if at < 0:
            return -1
        if end - at > 2 and data[at + 1] == _BANG and data[at + 2] == 91:  # <![CDATA[
            return -1
        after = _skip_no_tag(data, at, end)
        if after != at:
            at = after
            continue
        closing, word, name_end, kind = _read_name(data, at, end)
        if name_end < 0:
            return -1
        if closing and kind == region:
            return at
        if kind == _QUIET and region == _SVG and not closing:
            at = _end_of_quiet(data, word, name_end, end)
            continue
        # "image" is an ordinary element of a template.
        if _forbidden(region, kind) and not (region == _TEMPLATE and kind == _ODD and (data[word] | 32) == 105):
            return -1
        at = _end_of_tag(data, name_end, end)
    return -1


@njit(cache=True)
def _end_of_quiet(data, word, name_end, end):  # type: ignore[no-untyped-def]
    """Return the position after an svg's style or title that holds only text; -1 otherwise."""
    size = name_end - word
    at = _end_of_tag(data, name_end, end)
    if at >= 0:
        at = _find(data, at, end, _LT)
    if at < 0 or _find_tag(data, at, min(at + size + 3, end), word, size, 1) != at:
        return -1
    return _end_of_tag(data, at + 2 + size, end)


@njit(cache=True)
def _read_picture(data, name_end, end, rows, count):  # type: ignore[no-untyped-def]
    """Add a picture's images and sources to ``rows``; return the position of its end tag, -1 when it holds anything else."""
    at = _end_of_tag(data, name_end, end)
    while at >= 0:
        at = _find(data, at, end, _LT)
        if at < 0:
            break
        after = _skip_no_tag(data, at, end)
        if after != at:
            if end - at >= 4 and data[at + 1] == _BANG and data[at + 2] == _DASH and data[at + 3] == _DASH:
                at = after
                continue
            break
        closing, _, name_end, kind = _read_name(data, at, end)
        if name_end < 0:
            break
        if closing and kind == PICTURE:
            return at, rows, count
        if kind != IMG and kind != SOURCE:
            break
        if closing:
            at = _end_of_tag(data, name_end, end)
        else:
            rows, count = _add(rows, count, kind, 0, 0)
            at, rows, count = _read_attributes(data, name_end, end, rows, count)
    return -1, rows, count


# Compiled (or loaded from the cache) at import, once, before a pool of workers is forked.
@njit((types.Array(types.uint8, 1, "C", readonly=True),), cache=True)
def find_tags(data):  # type: ignore[no-untyped-def]
    """Return the tags that hold images, the base address, the language and robots directives.

    Args:
        data: uint8, the page's UTF-8 bytes. Broken sequences are allowed: they never extend into ASCII characters.

    Returns:
        Whether the page can be read without its tree, and int64 rows ``(code, start, end)``. A tag's row has its negative code;
        its attributes' rows follow, each with its index in ``ATTRIBUTES`` and its value's bounds (-1: no value). Images and
        sources between ``PICTURE`` and ``PICTURE_END`` belong together. Repeated attributes are repeated.
    """
    end = len(data)
    rows, count = np.empty((256, 3), np.int64), 0
    position, misplaced = 0, False
    while position >= 0:
        position = _find(data, position, end, _LT)
        if position < 0:
            break
        after = _skip_no_tag(data, position, end)
        if after != position:
            position = after
            continue
        closing, word, name_end, kind = _read_name(data, position, end)
        if name_end < 0:
            break
        if kind in (_CELL, _NO_CELL):
            position = _end_of_tag(data, name_end, end)
            misplaced = kind == _NO_CELL
        elif kind == _PLAIN or closing:
            position = _end_of_tag(data, name_end, end)
        elif kind in (_SCRIPT, _RAW, _QUIET):
            position = _end_of_raw_text(data, word, name_end, end, kind)
            if position < 0:
                return False, rows[:0]
        elif kind in (_SVG, _MATH, _SELECT, _TEMPLATE):
            position = _end_of_region(data, name_end, end, kind)
            if position < 0:
                return False, rows[:0]
        elif kind == PICTURE:
            if misplaced:
                return False, rows[:0]
            rows, count = _add(rows, count, PICTURE, 0, 0)
            position, rows, count = _read_picture(data, name_end, end, rows, count)
            if position < 0:
                return False, rows[:0]
            rows, count = _add(rows, count, PICTURE_END, 0, 0)
        elif kind == _ODD:
            if _end_of_tag(data, name_end, end) >= 0:
                return False, rows[:0]
            break
        elif kind in (IMG, BASE, HTML, META):
            before = count
            rows, count = _add(rows, count, kind, 0, 0)
            position, rows, count = _read_attributes(data, name_end, end, rows, count)
            if position < 0:
                count = before
                break
            if misplaced and kind in (IMG, BASE):
                return False, rows[:0]
            if kind == META and not _may_address_robots(data, rows, before + 1, count):
                count = before
        else:  # a source outside a picture, a form control
            position = _end_of_tag(data, name_end, end)
    return True, rows[:count]
