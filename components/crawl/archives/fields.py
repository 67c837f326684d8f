"""The heads of WARC records and HTTP responses: a first line, then named fields up to an empty line."""

from __future__ import annotations

Fields = dict[bytes, bytes]

_BLANK = b" \t"


def fields_in_python(data: bytes, at: int) -> tuple[bytes, Fields, int]:
    """The first line, the fields, and where what follows the empty line begins (-1 when there is no empty line).

    Names are lower-case; equal ones are joined by a comma. Lines may end in LF alone, as some servers write them.
    """
    first: bytes | None = None
    found: Fields = {}
    while (end := data.find(b"\n", at)) >= 0:
        line = data[at : end - 1 if end > at and data[end - 1] == 13 else end]
        at = end + 1
        if first is None:
            first = line
        elif not line:
            return first, found, at
        else:
            name, colon, value = line.partition(b":")
            if colon:
                name, value = name.strip(_BLANK).lower(), value.strip(_BLANK)
                found[name] = found[name] + b", " + value if name in found else value
    return first or b"", found, -1


try:
    from components.crawl.archives._scan import fields
except ImportError:  # installed where there was no C compiler
    fields = fields_in_python
