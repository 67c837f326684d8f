"""Remove HTTP content encodings: gzip, deflate, brotli and zstd, up to a limit of bytes.

Some archives store decoded bodies with the original headers: a body that does not begin as its header states is used unchanged;
one that begins so and then breaks is an error.
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
"""Maximum nested encodings of one body."""


class BadResponse(Exception):
    """A response that cannot be read; ``failure`` is bad_encoding | too_large | bad_record."""

    def __init__(self, failure: str, detail: str) -> None:
        super().__init__(failure, detail)
        self.failure, self.detail = failure, detail


def decode_body(data: bytes, encodings: bytes, limit: int) -> bytes:
    """Return the body without its encodings.

    Args:
        data: the body as stored.
        encodings: the value of Content-Encoding.
        limit: maximum bytes that each encoding may produce.

    Raises:
        BadResponse: an encoding is broken or unknown, or produces more than ``limit`` bytes.
    """
    codings = [coding for word in encodings.lower().split(b",") if (coding := word.strip()) not in (b"", b"identity")]
    if len(codings) > CODINGS:
        raise BadResponse("bad_encoding", f"{len(codings)} content encodings upon each other, more than {CODINGS}")
    for coding in reversed(codings):
        data = _decode(data, coding, limit) if data else data
    return data


def _decode(data: bytes, coding: bytes, limit: int) -> bytes:
    if coding in (b"gzip", b"x-gzip"):
        return _inflate(data, 31, limit) if data.startswith(MAGIC) else data
    if coding == b"deflate":
        if _has_zlib_head(data):
            return _inflate(data, 15, limit)
        return data if _is_markup(data) else _inflate(data, -15, limit)  # some servers send it without the zlib header
    if coding == b"zstd":
        return _decode_zstd(data, limit) if is_zstd(data) else data
    if coding == b"br":
        return _decode_brotli(data, limit)
    if _is_markup(data):
        return data
    raise BadResponse("bad_encoding", f"the content encoding '{coding[:20].decode('latin-1')}' is not read")


def _is_markup(data: bytes) -> bool:
    return data[:1024].lstrip().startswith((b"<", b"\xef\xbb\xbf<"))


def _has_zlib_head(data: bytes) -> bool:
    return len(data) > 1 and data[0] & 15 == 8 and (data[0] << 8 | data[1]) % 31 == 0


def _inflate(data: bytes, bits: int, limit: int) -> bytes:
    unpacker = isal_zlib.decompressobj(bits)
    try:
        page: bytes = unpacker.decompress(data, limit + 1)
    except (BROKEN, zlib.error) as error:
        raise BadResponse("bad_encoding", f"the compressed body is broken ({error})") from None
    return _check_body(page, unpacker.eof, limit)


def _decode_zstd(data: bytes, limit: int) -> bytes:
    try:
        page, complete = unpack_frames(data, limit)
    except ZstdError as error:
        raise BadResponse("bad_encoding", f"the compressed body is broken ({error})") from None
    return _check_body(page, complete, limit)


def _decode_brotli(data: bytes, limit: int) -> bytes:
    """Decode brotli, which has no magic number: markup that cannot be decoded is used unchanged."""
    unpacker = brotli.Decompressor()
    try:
        page: bytes = unpacker.process(data, output_buffer_limit=limit + 1)
    except brotli.error as error:
        if _is_markup(data):
            return data
        raise BadResponse("bad_encoding", f"the compressed body is broken ({error})") from None
    if not unpacker.is_finished() and len(page) <= limit and _is_markup(data):
        return data
    return _check_body(page, unpacker.is_finished(), limit)


def _check_body(page: bytes, complete: bool, limit: int) -> bytes:
    """Return ``page``; raise BadResponse when it is too large or incomplete."""
    if len(page) > limit:
        raise BadResponse("too_large", f"more than {limit} bytes once decompressed")
    if not complete:
        raise BadResponse("bad_encoding", "the compressed body is not whole")
    return page
