"""Find the image links of a WAT record in its JSON, compiled by numba, since most links of a page are not images."""

from __future__ import annotations

import numpy as np
from numba import njit, types

_OPEN = np.frombuffer(b'{"path":"IMG@/src"', np.uint8)
_QUOTE, _BACKSLASH, _COMMA, _COLON, _BRACE, _CLOSE = (ord(character) for character in '"\\,:{}')


@njit(cache=True)
def _begins(data, at):  # type: ignore[no-untyped-def]
    for i in range(len(_OPEN)):  # noqa: SIM110  (faster than all() here)
        if data[at + i] != _OPEN[i]:
            return False
    return True


@njit(cache=True)
def _after_string(data, at, end):  # type: ignore[no-untyped-def]
    """Return the position after the closing quote of the JSON string whose characters start at ``at``; -1 when it has no end."""
    while at < end and data[at] != _QUOTE:
        at += 2 if data[at] == _BACKSLASH and end - at > 1 else 1
    return at + 1 if at < end else -1


# Compiled (or loaded from the cache) at import, once, before a pool of workers is forked.
@njit((types.Array(types.uint8, 1, "C", readonly=True),), cache=True)
def find_image_links(data):  # type: ignore[no-untyped-def]
    """Return the positions of links of the form ``{"path":"IMG@/src","NAME":"STRING",...}``.

    Args:
        data: uint8, the record's JSON without spaces between tokens, as it is usually written.

    Returns:
        int64 rows ``(start, end)``. Links of other forms (with a number, for example) are left out.
    """
    end = len(data)
    rows, count, at = np.empty((64, 2), np.int64), 0, 0
    while at < end - len(_OPEN):
        if data[at] != _BRACE or not _begins(data, at):
            at += 1
            continue
        start = at
        at += len(_OPEN)
        position = at
        while position >= 0 and end - position > 2 and data[position] == _COMMA and data[position + 1] == _QUOTE:
            position = _after_string(data, position + 2, end)
            if position < 0 or end - position < 2 or data[position] != _COLON or data[position + 1] != _QUOTE:
                position = -1
            else:
                position = _after_string(data, position + 2, end)
        if position < 0 or position >= end or data[position] != _CLOSE:
            continue
        if count == len(rows):
            larger = np.empty((2 * count, 2), np.int64)
            larger[:count] = rows
            rows = larger
        at = position + 1
        rows[count, 0], rows[count, 1] = start, at
        count += 1
    return rows[:count]
