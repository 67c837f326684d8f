"""Files of ratings in two formats, recognised by their content: ratings in, tasks and CSV out.

    readings         ratings as read from a file, and the errors that name file and position
    csv              a table with a header
    label_studio     tasks with annotations (JSON and JSON-MIN), and a labeling configuration

A reader takes a file's bytes and returns a table of ``readings.READ``. It does not know the items.
"""

from __future__ import annotations

import orjson
import pyarrow as pa

from components.core.errors import HearsightError
from components.core.text_encoding import decode_text
from components.ratings.formats import csv, label_studio
from components.ratings.formats.readings import decode_json, nothing


def read_ratings(data: bytes, where: str) -> tuple[str, pa.Table]:
    """Return the format of a file and its ratings.

    Args:
        where: the file, for messages.

    Raises:
        HearsightError: the file has no format of these, is damaged, or holds no rating; names the position.
    """
    try:
        data = decode_text(data).encode()
    except UnicodeDecodeError:
        pass  # the reader of its format names the position
    text = data.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not text:
        raise nothing(where)
    if text[:1] not in (b"[", b"{"):
        return "csv", csv.read(text, where)
    records = decode_json(text, where)
    if label_studio.is_record(records[0]):
        return "label_studio", label_studio.read(records, where)
    found = orjson.dumps(sorted(map(str, records[0]))[:8]).decode() if isinstance(records[0], dict) else "no object"
    raise HearsightError(
        f"record 1 is no task of Label Studio: it has {found}", where=where, hint="export tasks with `annotations`"
    )
