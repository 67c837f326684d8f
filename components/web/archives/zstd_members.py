"""The zstd frames of an archive (RFC 8878), and the dictionary they may go by.

A dictionary stands in a skippable frame of its own, itself compressed or not, before the frames made with it (IIPC, "WARC
files with Zstandard"). Other skippable frames are passed over.
"""

from __future__ import annotations

import re

import zstandard
from backports.zstd import ZstdDecompressor, ZstdDict, ZstdError

from components.web.archives.expansion import Expansion
from components.web.archives.members import FEED, PIECE, Members, PackedMembers
from components.web.archives.opening import Stream

MAGIC = b"\x28\xb5\x2f\xfd"
DICTIONARY = b"\x5d\x2a\x4d\x18"
"""Begins the skippable frame that holds a dictionary."""
SKIPPABLE = re.compile(rb"[\x50-\x5f]\x2a\x4d\x18")
DICTIONARY_LIMIT = 1 << 24
"""Bytes of a dictionary, decompressed. (The tool that makes them makes 110 KB.)"""
FRAMES = 1000
"""Frames of an HTTP body; one with more is refused."""
_DICTIONARY_MAGIC = b"\x37\xa4\x30\xec"
_BLOCK = 1 << 17
_HEAD = 18
_NO_RESERVED_BIT = b"".join(re.escape(bytes([n])) for n in range(256) if not n & 8)


class ZstdMembers(PackedMembers):
    """See :class:`components.web.archives.members.Members`."""

    kind = "zstd frame"
    magic = MAGIC
    head = re.compile(
        rb"\x28\xb5\x2f\xfd(?=[" + _NO_RESERVED_BIT + rb"])|\x5d\x2a\x4d\x18(?=.{4}(?:\x28\xb5\x2f\xfd|\x37\xa4\x30\xec))", re.S
    )
    trial = _HEAD + 3 + _BLOCK
    broken = (ZstdError,)
    holds = True

    def __init__(self, stream: Stream, head: bytes, expansion: Expansion) -> None:
        super().__init__(stream, head, expansion)
        self._dictionary: ZstdDict | None = None
        self._at_once = zstandard.ZstdDecompressor()

    def next(self) -> bool:
        while Members.next(self):
            self._given, self._unpacker = 0, None
            if not SKIPPABLE.match(self._peek(8)):
                return True
            if not self._skip_frame():
                return True
        return False

    def piece(self) -> bytes:
        if self._unpacker is None and not self._over:
            whole = self._whole_frame()
            if whole:
                return whole
            self._unpacker = self._begin()
        return super().piece()

    def _whole_frame(self) -> bytes:
        """The content of a small frame that lies in the buffer, by a decompressor that is used again; b"" for any other.

        A decompressor of its own costs a frame 15 µs where the processor is virtual: making one asks what it can do (CPUID).
        """
        size, end = read_frame_size(self._buffer, self._position)
        if not 0 < size <= PIECE or end > len(self._buffer):
            return b""
        try:
            content: bytes = self._at_once.decompress(self._buffer[self._position : end], max_output_size=size)
        except zstandard.ZstdError:
            return b""
        self._position, self._over = end, True
        self._expansion.left -= len(content)
        if self._expansion.left < 0:
            self._count(len(content))
        return content

    def _begin(self) -> ZstdDecompressor:
        return ZstdDecompressor(zstd_dict=self._dictionary)

    def _begins_record(self, window: memoryview) -> bool:
        if window[:4] == DICTIONARY:
            return True
        try:
            return ZstdDecompressor(zstd_dict=self._dictionary).decompress(window, 64).startswith(b"WARC/")
        except ZstdError:
            return False

    def _trial_size(self, at: int) -> int:
        """Of a frame its head and its first block, since nothing comes out of less."""
        described = self._buffer[at + 4]
        single = described >> 5 & 1
        head = 6 - single + (0, 1, 2, 4)[described & 3] + (single, 2, 4, 8)[described >> 6]
        block = int.from_bytes(self._buffer[at + head : at + head + 3], "little")
        return head + 3 + (1 if block >> 1 & 3 == 1 else min(block >> 3, _BLOCK))

    def _peek(self, size: int) -> memoryview:
        while len(self._buffer) - self._position < size and self._extend():
            pass
        return self._buffer[self._position : self._position + size]

    def _skip_frame(self) -> bool:
        """Read past a skippable frame, and take the dictionary that it may hold; False when it is faulty."""
        head = self._peek(8)
        left, held = int.from_bytes(head[4:], "little"), head[:4] == DICTIONARY
        self._position += len(head)
        parts: list[bytes] = []
        if len(head) < 8 or (held and left > DICTIONARY_LIMIT):
            self._torn("truncated" if len(head) < 8 else "bad_zstd", "a skippable frame is cut off, or its dictionary too large")
            return False
        while left > 0:
            if not self._fill():
                self._torn("truncated", "a skippable frame is cut off")
                return False
            part = self._buffer[self._position : self._position + left]
            self._position += len(part)
            left -= len(part)
            if held:
                parts.append(bytes(part))
        if not held:
            return True
        content = b"".join(parts)
        try:
            self._dictionary = parse_dictionary(content)
            known = zstandard.ZstdCompressionDict(self._dictionary.dict_content)
            self._at_once = zstandard.ZstdDecompressor(dict_data=known)
            self._expansion.left -= len(self._dictionary)
        except (ValueError, ZstdError, zstandard.ZstdError):
            self._torn("bad_zstd", "the dictionary cannot be read, nor what was made with it")
            self._expansion.left -= DICTIONARY_LIMIT
        if self._expansion.left < 0:
            self._count(0)
        return not self.fault


def read_frame_size(data: memoryview, at: int) -> tuple[int, int]:
    """The bytes of content that a frame states, 0 when it states none, and where it ends; (0, 0) where that is not in ``data``.

    RFC 8878, 3.1.1: a head, then blocks that each begin with their size.
    """
    if data[at : at + 4] != MAGIC or at + _HEAD > len(data):
        return 0, 0
    described = data[at + 4]
    single, size_code = described >> 5 & 1, described >> 6
    wide = (single, 2, 4, 8)[size_code]
    after = at + 6 - single + (0, 1, 2, 4)[described & 3]
    size = int.from_bytes(data[after : after + wide], "little") + (256 if size_code == 1 else 0)
    after += wide
    last = 0
    while not last:
        if after + 3 > len(data):
            return 0, 0
        block = data[after] | data[after + 1] << 8 | data[after + 2] << 16
        last = block & 1
        after += 3 + (1 if block >> 1 & 3 == 1 else block >> 3)
    return (size if wide else 0), after + (4 if described & 4 else 0)


def parse_dictionary(content: bytes) -> ZstdDict:
    """The dictionary that a skippable frame holds.

    Raises:
        ValueError, ZstdError: it is none.
    """
    if content.startswith(MAGIC):
        unpacker = ZstdDecompressor()
        content = unpacker.decompress(content, DICTIONARY_LIMIT + 1)
        if not unpacker.eof or len(content) > DICTIONARY_LIMIT:
            raise ValueError("the dictionary is cut off, or too large")
    if not content.startswith(_DICTIONARY_MAGIC):
        raise ValueError("no dictionary")
    found = ZstdDict(content)
    ZstdDecompressor(zstd_dict=found)  # what is none is refused here
    return found


def unpack_frames(data: bytes, limit: int) -> tuple[bytes, bool]:
    """What comes out of the zstd frames that ``data`` holds, at most ``limit`` bytes and one; and whether they are whole.

    Raises:
        ZstdError: they are broken.
    """
    view, at, parts, size = memoryview(data), 0, [], 0
    for _ in range(FRAMES):
        if SKIPPABLE.match(view, at):
            at += 8 + int.from_bytes(view[at + 4 : at + 8], "little")
        elif view[at : at + 4] == MAGIC:
            unpacker = ZstdDecompressor()
            while not unpacker.eof and size <= limit and (at < len(view) or not unpacker.needs_input):
                fed = view[at : at + FEED] if unpacker.needs_input else view[:0]
                parts.append(unpacker.decompress(fed, limit + 1 - size))
                size += len(parts[-1])
                at += len(fed)
            at -= len(unpacker.unused_data)
            if not unpacker.eof:
                return b"".join(parts), False
        else:  # the end, or what is no frame
            return b"".join(parts), at <= len(view)
    return b"".join(parts), False
