"""Tables as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Any]], delimiter: str = ",") -> str:
    """Return a table as CSV, or with tabs, with LF line ends and minimal quoting."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=delimiter, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return buffer.getvalue()
