"""Parse the heads of WARC records and HTTP responses: a first line, then fields up to an empty line."""

from __future__ import annotations

import re

Fields = dict[bytes, bytes]

LINES = 1000
"""Maximum lines of a head. (Real ones have about 20.)"""
_BLANK = b" \t"
_EMPTY_LINE = re.compile(rb"\n\r?\n")


def parse_fields(data: bytes, at: int, limit: int) -> tuple[bytes, Fields, int]:
    """Return the first line, the fields, and the position after the empty line.

    The position is -1 when there is no empty line before ``limit``, or more than ``LINES`` lines. Names are lower-case; values of
    equal names are joined by a comma. Lines may end in LF alone, as some servers write them. Time is linear in the head's size.

    Args:
        data: bytes that contain the head.
        at: the head's start.
        limit: the position in ``data`` before which the head must end.
    """
    empty = _EMPTY_LINE.search(data, at, limit)
    # Without an empty line, the last line counts only if it is complete.
    head = data[at : empty.start() + 1 if empty else data.rfind(b"\n", at, limit) + 1]
    after = empty.end() if empty else -1
    lines = head.replace(b"\r\n", b"\n").split(b"\n", LINES)
    if len(lines) > LINES:
        after = -1
    parsed: Fields = {}
    repeated: dict[bytes, list[bytes]] | None = None
    for line in lines[1:-1]:
        name, colon, value = line.partition(b":")
        if colon:
            name, value = name.strip(_BLANK).lower(), value.strip(_BLANK)
            if name in parsed:
                repeated = {} if repeated is None else repeated
                repeated.setdefault(name, [parsed[name]]).append(value)
            else:
                parsed[name] = value
    if repeated is not None:
        parsed |= {name: b", ".join(values) for name, values in repeated.items()}
    return lines[0], parsed, after
