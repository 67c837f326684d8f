"""Content encodings of HTTP undone: gzip, deflate, brotli and zstd, never beyond a limit of bytes.

Some archives store decoded bodies beside headers that say otherwise. So a body that does not even begin as its header says
is taken as it is; one that begins so and then breaks is an error.
"""

from __future__ import annotations

import zlib

import brotli
from backports.zstd import ZstdError
from isal import isal_zlib

from components.web.archives.gzip_members import BROKEN, MAGIC
from components.web.archives.kinds import is_zstd
from components.web.archives.zstd_members import unpack_frames

CODINGS = 5
"""Encodings of one body, one upon the other; one with more is refused."""


class BadResponse(Exception):
    """A response that cannot be read: ``failure`` is bad_encoding | too_large | bad_record."""

    def __init__(self, failure: str, detail: str) -> None:
        super().__init__(failure, detail)
        self.failure, self.detail = failure, detail


def decode_body(data: bytes, encodings: bytes, limit: int) -> bytes:
    """The body without its encodings.

    Args:
        data: the body as stored.
        encodings: what its Content-Encoding says.
        limit: bytes that may come out of any of them.

    Raises:
        BadResponse: an encoding is broken or unknown, or more than ``limit`` bytes come out.
    """
    codings = [coding for word in encodings.lower().split(b",") if (coding := word.strip()) not in (b"", b"identity")]
    if len(codings) > CODINGS:
        raise BadResponse("bad_encoding", f"{len(codings)} content encodings upon each other, more than {CODINGS}")
    for coding in reversed(codings):
        data = _decoded(data, coding, limit) if data else data
    return data


def _decoded(data: bytes, coding: bytes, limit: int) -> bytes:
    if coding in (b"gzip", b"x-gzip"):
        return _inflated(data, 31, limit) if data.startswith(MAGIC) else data
    if coding == b"deflate":
        if _zlib_head(data):
            return _inflated(data, 15, limit)
        return data if _markup(data) else _inflated(data, -15, limit)  # servers send it bare, too
    if coding == b"zstd":
        return _from_zstd(data, limit) if is_zstd(data) else data
    if coding == b"br":
        return _from_brotli(data, limit)
    if _markup(data):
        return data
    raise BadResponse("bad_encoding", f"the content encoding '{coding[:20].decode('latin-1')}' is not read")


def _markup(data: bytes) -> bool:
    return data[:1024].lstrip().startswith((b"<", b"\xef\xbb\xbf<"))


def _zlib_head(data: bytes) -> bool:
    return len(data) > 1 and data[0] & 15 == 8 and (data[0] << 8 | data[1]) % 31 == 0


def _inflated(data: bytes, bits: int, limit: int) -> bytes:
    unpacker = isal_zlib.decompressobj(bits)
    try:
        page: bytes = unpacker.decompress(data, limit + 1)
    except (BROKEN, zlib.error) as error:
        raise BadResponse("bad_encoding", f"the compressed body is broken ({error})") from None
    return _held(page, unpacker.eof, limit)


def _from_zstd(data: bytes, limit: int) -> bytes:
    try:
        page, whole = unpack_frames(data, limit)
    except ZstdError as error:
        raise BadResponse("bad_encoding", f"the compressed body is broken ({error})") from None
    return _held(page, whole, limit)


def _from_brotli(data: bytes, limit: int) -> bytes:
    """Brotli has no magic: what cannot be decoded but is markup is taken as it is."""
    unpacker = brotli.Decompressor()
    try:
        page: bytes = unpacker.process(data, output_buffer_limit=limit + 1)
    except brotli.error as error:
        if _markup(data):
            return data
        raise BadResponse("bad_encoding", f"the compressed body is broken ({error})") from None
    if not unpacker.is_finished() and len(page) <= limit and _markup(data):
        return data
    return _held(page, unpacker.is_finished(), limit)


def _held(page: bytes, whole: bool, limit: int) -> bytes:
    if len(page) > limit:
        raise BadResponse("too_large", f"more than {limit} bytes once decompressed")
    if not whole:
        raise BadResponse("bad_encoding", "the compressed body is not whole")
    return page
