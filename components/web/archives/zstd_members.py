"""Read the zstd frames of an archive (RFC 8878) and the dictionary they use.

The dictionary is in a skippable frame, compressed or not, before the frames that use it (IIPC, "WARC files with Zstandard").
Other skippable frames are skipped.
"""

from __future__ import annotations

import re

from backports.zstd import ZstdDecompressor, ZstdDict, ZstdError

from components.web.archives.members import FEED, Expansion, PackedMembers
from components.web.archives.opening import Stream

MAGIC = b"\x28\xb5\x2f\xfd"
DICTIONARY = b"\x5d\x2a\x4d\x18"
"""First bytes of a skippable frame that holds a dictionary."""
SKIPPABLE = re.compile(rb"[\x50-\x5f]\x2a\x4d\x18")
DICTIONARY_LIMIT = 1 << 24
"""Maximum decompressed bytes of a dictionary. (The usual tool writes 110 KB.)"""
FRAMES = 1000
"""Maximum frames of an HTTP body."""
_DICTIONARY_MAGIC = b"\x37\xa4\x30\xec"
_BLOCK = 1 << 17
_HEAD = 18
_NO_RESERVED_BIT = b"".join(re.escape(bytes([n])) for n in range(256) if not n & 8)


class ZstdMembers(PackedMembers):
    """The zstd frames of an archive; see :class:`components.web.archives.members.Members`."""

    kind = "zstd frame"
    magic = MAGIC
    head = re.compile(
        rb"\x28\xb5\x2f\xfd(?=[" + _NO_RESERVED_BIT + rb"])|\x5d\x2a\x4d\x18(?=.{4}(?:\x28\xb5\x2f\xfd|\x37\xa4\x30\xec))", re.S
    )
    trial = _HEAD + 3 + _BLOCK
    broken = (ZstdError,)
    buffers_input = True

    def __init__(self, stream: Stream, head: bytes, expansion: Expansion) -> None:
        super().__init__(stream, head, expansion)
        self._dictionary: ZstdDict | None = None

    def next(self) -> bool:
        while super().next():
            if not SKIPPABLE.match(self._peek(8)) or not self._skip_frame():
                return True
        return False

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
        """Return the bytes of a frame's head and first block: fewer bytes yield no output."""
        descriptor = self._buffer[at + 4]
        single = descriptor >> 5 & 1
        head = 6 - single + (0, 1, 2, 4)[descriptor & 3] + (single, 2, 4, 8)[descriptor >> 6]
        block = int.from_bytes(self._buffer[at + head : at + head + 3], "little")
        return head + 3 + (1 if block >> 1 & 3 == 1 else min(block >> 3, _BLOCK))

    def _peek(self, size: int) -> memoryview:
        while len(self._buffer) - self._position < size and self._extend():
            pass
        return self._buffer[self._position : self._position + size]

    def _skip_frame(self) -> bool:
        """Skip a skippable frame and load the dictionary it may hold; return False when it is faulty."""
        head = self._peek(8)
        remaining, is_dictionary = int.from_bytes(head[4:], "little"), head[:4] == DICTIONARY
        self._position += len(head)
        parts: list[bytes] = []
        if len(head) < 8 or (is_dictionary and remaining > DICTIONARY_LIMIT):
            self._torn("truncated" if len(head) < 8 else "bad_zstd", "a skippable frame is cut off, or its dictionary too large")
            return False
        while remaining > 0:
            if not self._fill():
                self._torn("truncated", "a skippable frame is cut off")
                return False
            part = self._buffer[self._position : self._position + remaining]
            self._position += len(part)
            remaining -= len(part)
            if is_dictionary:
                parts.append(bytes(part))
        if not is_dictionary:
            return True
        content = b"".join(parts)
        try:
            self._dictionary = parse_dictionary(content)
            self._expansion.left -= len(self._dictionary)
        except (ValueError, ZstdError):
            self._torn("bad_zstd", "the dictionary cannot be read, nor what was made with it")
            self._expansion.left -= DICTIONARY_LIMIT
        if self._expansion.left < 0:
            self._count(0)
        return not self.fault


def is_zstd(head: bytes) -> bool:
    """Return whether ``head`` begins a zstd frame."""
    return head.startswith(MAGIC) or SKIPPABLE.match(head) is not None


def parse_dictionary(content: bytes) -> ZstdDict:
    """Return the dictionary that a skippable frame holds. Raises ValueError, ZstdError: the content is not a dictionary."""
    if content.startswith(MAGIC):
        unpacker = ZstdDecompressor()
        content = unpacker.decompress(content, DICTIONARY_LIMIT + 1)
        if not unpacker.eof or len(content) > DICTIONARY_LIMIT:
            raise ValueError("the dictionary is truncated or too large")
    if not content.startswith(_DICTIONARY_MAGIC):
        raise ValueError("not a dictionary")
    dictionary = ZstdDict(content)
    ZstdDecompressor(zstd_dict=dictionary)  # raises for an invalid dictionary
    return dictionary


def unpack_frames(data: bytes, limit: int) -> tuple[bytes, bool]:
    """Return the content of the zstd frames in ``data``, at most ``limit`` + 1 bytes, and whether the frames are complete.

    Raises:
        ZstdError: the frames are broken.
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
        else:  # the end, or bytes that are no frame
            return b"".join(parts), at <= len(view)
    return b"".join(parts), False
