"""Text files that people write: their encoding (UTF-8, or UTF-16 with or without a mark), JSON lines, and CSV."""

from __future__ import annotations

import codecs
import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from components.core.errors import HearsightError

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


def read_text(path: Path, hint: str) -> str:
    """Return the text of a file.

    Raises:
        HearsightError: the file cannot be read, or is no text.
    """
    try:
        return decode_text(path.read_bytes())
    except (OSError, UnicodeDecodeError) as error:
        raise HearsightError(f"cannot be read ({error})", where=path, hint=hint) from None


def parse_json_lines(text: str, path: Path, hint: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of JSON lines with the number of their line, from 1; blank lines are left out.

    Raises:
        HearsightError: a line is no JSON object.
    """
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise HearsightError(f"is no JSON ({error})", where=f"{path}, line {number}", hint=hint) from None
        if not isinstance(value, dict):
            raise HearsightError("is no JSON object", where=f"{path}, line {number}", hint=hint)
        yield number, value


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Any]], delimiter: str = ",") -> str:
    """Return a table as CSV, or with tabs, with LF line ends and minimal quoting."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=delimiter, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return buffer.getvalue()
