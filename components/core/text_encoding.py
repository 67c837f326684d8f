"""The encoding of a text file that a person or a spreadsheet saved: UTF-8 or UTF-16, with or without a byte-order mark."""

from __future__ import annotations

import codecs

HEAD_BYTES = 4096
"""Bytes of the beginning that decide."""
_LEAST_SHARE = 20
"""UTF-16 text has a zero in one byte of 20 or more, because its tabs, line ends and digits have one."""


def find_encoding(head: bytes) -> str:
    """Return the codec of a text by its first bytes: ``utf-16`` (with a mark), ``utf-16-le``, ``utf-16-be`` or ``utf-8-sig``."""
    head = head[:HEAD_BYTES]
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if (even + odd) * _LEAST_SHARE >= len(head) and min(even, odd) * 4 < max(even, odd):
        return "utf-16-le" if odd > even else "utf-16-be"
    return "utf-8-sig"


def decode_text(data: bytes, errors: str = "strict") -> str:
    """Return a text without its byte-order marks (files that were joined have several); ``errors`` as in ``bytes.decode``."""
    return data.decode(find_encoding(data), errors).lstrip("\ufeff")
