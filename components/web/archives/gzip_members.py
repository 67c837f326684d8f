"""Read the gzip members of an archive (RFC 1952) with ISA-L."""

from __future__ import annotations

import re

from isal import isal_zlib

from components.web.archives.members import PackedMembers

MAGIC = b"\x1f\x8b\x08"
BROKEN: type[Exception] = isal_zlib.error  # type: ignore[assignment]
"""Exception that the decompressor raises for broken input (its type stub declares an instance)."""


class GzipMembers(PackedMembers):
    """The gzip members of an archive; see :class:`components.web.archives.members.Members`."""

    kind = "gzip member"
    magic = MAGIC
    # No reserved flag, any time, a known extra flag, a known operating system.
    head = re.compile(rb"\x1f\x8b\x08(?=[\x00-\x1f].{4}[\x00\x02\x04][\x00-\x0d\xff])", re.S)
    trial = 512
    broken = (BROKEN,)
    buffers_input = False

    def _begin(self) -> isal_zlib.Decompress:
        return isal_zlib.decompressobj(31)

    def _left(self) -> int:
        return len(self._unpacker.unconsumed_tail)

    def _begins_record(self, window: memoryview) -> bool:
        try:
            return bytes(isal_zlib.decompressobj(31).decompress(window, 64)).startswith(b"WARC/")
        except BROKEN:
            return False
