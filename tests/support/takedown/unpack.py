"""What lies in a folder, down to the bytes inside packed records."""

from __future__ import annotations

import zlib
from pathlib import Path


def read_unpacked(folder: Path) -> bytes:
    """All that lies in a snapshot's folder, the WARC members decompressed."""
    data = b""
    for path in sorted(folder.iterdir()):
        raw = path.read_bytes()
        while path.suffix == ".gz" and raw:
            member = zlib.decompressobj(31)
            data += member.decompress(raw)
            raw = member.unused_data
        data += raw
    return data
