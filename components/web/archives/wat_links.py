"""Find the image links of a WAT record in its JSON, compiled by numba: most links of a page are no images."""

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
    """After the closing quote of the JSON string whose characters begin at ``at``, or -1."""
    while at < end and data[at] != _QUOTE:
        at += 2 if data[at] == _BACKSLASH and end - at > 1 else 1
    return at + 1 if at < end else -1


# Compiled, or loaded from the cache, at import: once, before a pool of workers is forked.
@njit((types.Array(types.uint8, 1, "C", readonly=True),), cache=True)
def find_image_links(data):  # type: ignore[no-untyped-def]
    """Return the positions of the links of the form ``{"path":"IMG@/src","NAME":"STRING",...}``.

    Args:
        data: uint8, the record's JSON without spaces between its parts, as it is usually written.

    Returns:
        int64 rows ``(start, end)``. A link of another form, with a number say, is left out.
    """
    end = len(data)
    rows, count, at = np.empty((64, 2), np.int64), 0, 0
    while at < end - len(_OPEN):
        if data[at] != _BRACE or not _begins(data, at):
            at += 1
            continue
        start = at
        at += len(_OPEN)
        ahead = at
        while ahead >= 0 and end - ahead > 2 and data[ahead] == _COMMA and data[ahead + 1] == _QUOTE:
            ahead = _after_string(data, ahead + 2, end)
            if ahead < 0 or end - ahead < 2 or data[ahead] != _COLON or data[ahead + 1] != _QUOTE:
                ahead = -1
            else:
                ahead = _after_string(data, ahead + 2, end)
        if ahead < 0 or ahead >= end or data[ahead] != _CLOSE:
            continue
        if count == len(rows):
            larger = np.empty((2 * count, 2), np.int64)
            larger[:count] = rows
            rows = larger
        at = ahead + 1
        rows[count, 0], rows[count, 1] = start, at
        count += 1
    return rows[:count]
