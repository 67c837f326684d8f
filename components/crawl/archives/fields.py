"""The heads of WARC records and HTTP responses: a first line, then named fields up to an empty line."""

from __future__ import annotations

import re

Fields = dict[bytes, bytes]

_BLANK = b" \t"
_EMPTY_LINE = re.compile(rb"\n\r?\n")


def fields(data: bytes, at: int) -> tuple[bytes, Fields, int]:
    """Return the first line, the fields, and where what follows the empty line begins (-1 when there is no empty line).

    Names are lower-case; equal ones are joined by a comma. Lines may end in LF alone, as some servers write them.
    """
    empty = _EMPTY_LINE.search(data, at)
    # Without an empty line, the last line counts only if it is whole.
    head = data[at : empty.start() + 1 if empty else data.rfind(b"\n", at) + 1]
    lines = head.replace(b"\r\n", b"\n").split(b"\n")
    found: Fields = {}
    for line in lines[1:-1]:
        name, colon, value = line.partition(b":")
        if colon:
            name, value = name.strip(_BLANK).lower(), value.strip(_BLANK)
            found[name] = found[name] + b", " + value if name in found else value
    return lines[0], found, empty.end() if empty else -1
