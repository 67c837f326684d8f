"""What lies in a folder, down to the bytes inside packed records."""

from __future__ import annotations

import zlib
from pathlib import Path

import pyarrow.parquet as pq


def read_unpacked(folder: Path) -> bytes:
    """All that lies in a snapshot's folder, the WARC members decompressed and the tables as text."""
    data = b""
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        raw = path.read_bytes()
        data += str(pq.read_table(path).to_pylist()).encode() if path.suffix == ".parquet" else b""
        while path.suffix == ".gz" and raw:
            member = zlib.decompressobj(31)
            data += member.decompress(raw)
            raw = member.unused_data
        data += raw
    return data
