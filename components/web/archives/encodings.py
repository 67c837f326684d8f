"""Remove HTTP content encodings: gzip, deflate, brotli and zstd, up to a limit of bytes.

Some archives store decoded bodies with the original headers: a body that does not begin as its header states is used unchanged;
one that begins so and then breaks is an error.
"""

from __future__ import annotations

import re
import zlib

import brotli
from backports.zstd import ZstdError
from isal import isal_zlib

from components.web.archives.members import PackedMembers
from components.web.archives.zstd_members import is_zstd, unpack_frames

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


CODINGS = 5
"""Maximum nested encodings of one body."""


class BadRecord(Exception):
    """A record, or the answer in it, that cannot be read; ``failure`` as in :class:`reading.ArchivePage`."""

    def __init__(self, failure: str, detail: str) -> None:
        super().__init__(failure, detail)
        self.failure, self.detail = failure, detail


def decode_body(data: bytes, encodings: bytes, limit: int) -> bytes:
    """Return a body without the encodings that Content-Encoding names; each may produce at most ``limit`` bytes.

    Raises:
        BadRecord: an encoding is broken or unknown, or produces more than ``limit`` bytes.
    """
    codings = [coding for word in encodings.lower().split(b",") if (coding := word.strip()) not in (b"", b"identity")]
    if len(codings) > CODINGS:
        raise BadRecord("bad_encoding", f"{len(codings)} nested content encodings, more than {CODINGS}")
    for coding in reversed(codings):
        data = _decode(data, coding, limit) if data else data
    return data


def _decode(data: bytes, coding: bytes, limit: int) -> bytes:
    """Remove one encoding. brotli has no magic number, so markup that is not brotli is used unchanged."""
    markup = data[:1024].lstrip().startswith((b"<", b"\xef\xbb\xbf<"))
    try:
        if coding in (b"gzip", b"x-gzip"):
            if not data.startswith(MAGIC):
                return data
            page, complete = _inflate(data, 31, limit)
        elif coding == b"deflate":
            zlib_head = len(data) > 1 and data[0] & 15 == 8 and (data[0] << 8 | data[1]) % 31 == 0
            if markup and not zlib_head:
                return data
            page, complete = _inflate(data, 15 if zlib_head else -15, limit)  # some servers send it without the zlib header
        elif coding == b"zstd":
            if not is_zstd(data):
                return data
            page, complete = unpack_frames(data, limit)
        elif coding == b"br":
            unpacker = brotli.Decompressor()
            page, complete = unpacker.process(data, output_buffer_limit=limit + 1), unpacker.is_finished()
            if markup and not complete and len(page) <= limit:
                return data
        elif markup:
            return data
        else:
            raise BadRecord("bad_encoding", f"the content encoding '{coding[:20].decode('latin-1')}' is not supported")
    except (BROKEN, zlib.error, ZstdError, brotli.error) as error:
        if coding == b"br" and markup:
            return data
        raise BadRecord("bad_encoding", f"the compressed body is broken ({error})") from None
    if len(page) > limit:
        raise BadRecord("too_large", f"more than {limit} bytes once decompressed")
    if not complete:
        raise BadRecord("bad_encoding", "the compressed body is not whole")
    return page


def _inflate(data: bytes, bits: int, limit: int) -> tuple[bytes, bool]:
    """Return the content, at most ``limit`` + 1 bytes, and whether it is complete."""
    unpacker = isal_zlib.decompressobj(bits)
    return unpacker.decompress(data, limit + 1), unpacker.eof
