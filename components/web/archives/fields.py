"""The heads of WARC records and HTTP responses: a first line, then named fields up to an empty line."""

from __future__ import annotations

import re

Fields = dict[bytes, bytes]

LINES = 1000
"""Lines of a head; one with more is none. (Real ones have some 20.)"""
_BLANK = b" \t"
_EMPTY_LINE = re.compile(rb"\n\r?\n")


def parse_fields(data: bytes, at: int, limit: int) -> tuple[bytes, Fields, int]:
    """Return the first line, the fields, and where what follows the empty line begins.

    That is -1 when there is no empty line before ``limit``, or after more than ``LINES`` lines. Names are lower-case; equal
    ones are joined by a comma. Lines may end in LF alone, as some servers write them. The time is linear in the head's size.

    Args:
        data: what holds the head.
        at: where it begins.
        limit: where it must have ended, as a position in ``data``.
    """
    empty = _EMPTY_LINE.search(data, at, limit)
    # Without an empty line, the last line counts only if it is whole.
    head = data[at : empty.start() + 1 if empty else data.rfind(b"\n", at, limit) + 1]
    after = empty.end() if empty else -1
    lines = head.replace(b"\r\n", b"\n").split(b"\n", LINES)
    if len(lines) > LINES:
        after = -1
    found: Fields = {}
    repeated: dict[bytes, list[bytes]] | None = None
    for line in lines[1:-1]:
        name, colon, value = line.partition(b":")
        if colon:
            name, value = name.strip(_BLANK).lower(), value.strip(_BLANK)
            if name in found:
                repeated = {} if repeated is None else repeated
                repeated.setdefault(name, [found[name]]).append(value)
            else:
                found[name] = value
    if repeated is not None:
        found |= {name: b", ".join(values) for name, values in repeated.items()}
    return lines[0], found, after
