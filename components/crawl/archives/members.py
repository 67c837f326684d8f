"""An archive's bytes as gzip members, or as one long plain member, in pieces of bounded size.

Web archives are gzip files of one member a record, so that any record can be read alone. A torn or broken member is a
named fault, and reading goes on at the next one. Not in scope: what the members hold.
"""

from __future__ import annotations

import re

from isal import isal_zlib

from components.crawl.archives.opening import Stream

CHUNK = 1 << 18
"""Bytes asked from the archive at once."""
FIRST, FEED = 1 << 12, 1 << 14
"""Compressed bytes given to the decompressor at first, and then: what it does not use, it copies."""
PIECE = 1 << 20
"""Decompressed bytes handed out at once."""
KEEP = 1 << 22
"""Compressed bytes of a member that are kept until it is known to be sound; a larger one is one of many records."""
MAGIC = b"\x1f\x8b\x08"
BROKEN: type[Exception] = isal_zlib.error  # type: ignore[assignment]
"""What the decompressor raises over broken input (its stub calls the class an instance)."""
_MAGIC = re.compile(re.escape(MAGIC))
_TRIAL = 512


class Members:
    """The members of one archive, one after the other.

    ``next`` goes to the next member; ``piece`` gives the current one's content, piece by piece, b"" at its end;
    ``fault`` then tells whether the end was its real one.
    """

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._buffer = memoryview(stream.read(CHUNK))
        self._position = 0
        self._start = 0
        self._begins = 0
        self._unpacker: isal_zlib.Decompress | None = None
        self.offset = 0
        """Where the current member begins, in bytes of the archive as stored."""
        self.fault = ""
        """'' or truncated | bad_gzip | not_gzip, of the current member; after ``piece`` gave b""."""
        while len(self._buffer) < 3 and (more := stream.read(CHUNK)):  # a pipe may begin with a byte or two
            self._buffer = memoryview(bytes(self._buffer) + more)
        self.gzipped = bytes(self._buffer[:2]) == MAGIC[:2]
        self._over = False

    @property
    def place(self) -> int:
        """Bytes of the archive that are done with."""
        return self._begins + self._position

    def next(self) -> bool:
        """Go to the next member; False when there is none."""
        self.fault = ""
        if not self._fill():
            return False
        self.offset = self.place
        self._start = self._position
        self._over = False
        if self.gzipped:
            self._unpacker = isal_zlib.decompressobj(31)
        return True

    def piece(self) -> bytes:
        """Some of the current member's content, at most ``PIECE`` bytes and a feed's worth; b"" at its end."""
        if self._over:
            return b""
        if not self.gzipped:
            return self._take() if self._fill() else b""
        parts: list[bytes] = []
        size, feed = 0, FIRST
        unpacker = self._unpacker
        assert unpacker is not None
        while size < PIECE:
            if self._position >= len(self._buffer) and not self._fill():
                self.fault, self._over = "truncated", True
                self._again()
                break
            fed = self._buffer[self._position : self._position + feed]
            feed = FEED
            try:
                part = unpacker.decompress(fed, PIECE)
            except BROKEN:
                self.fault, self._over = "bad_gzip" if self.place > self.offset or fed[:3] == MAGIC else "not_gzip", True
                self._again()
                break
            parts.append(part)
            size += len(part)
            left = len(unpacker.unused_data) if unpacker.eof else len(unpacker.unconsumed_tail)
            self._position += len(fed) - left
            if unpacker.eof:
                self._over = True
                break
        return parts[0] if len(parts) == 1 else b"".join(parts)

    @property
    def whole(self) -> bool:
        """Whether the last piece was the member's last, and the member is sound."""
        return self._over and not self.fault

    def abandon(self) -> None:
        """Leave the current member where it is, and go on at the next one that can be found."""
        if self.gzipped and not self._over:
            self._over = True
            self._resync()

    def _take(self) -> bytes:
        taken = bytes(self._buffer[self._position :])
        self._position = len(self._buffer)
        return taken

    def _fill(self) -> bool:
        if self._position < len(self._buffer):
            return True
        more = self._stream.read(CHUNK)
        if not more:
            return False
        # The member's own bytes stay at hand: should it be torn, the next one may lie among them.
        kept = self._buffer[self._start :] if self.gzipped and len(self._buffer) - self._start <= KEEP else self._buffer[:0]
        self._begins += len(self._buffer) - len(kept)
        self._buffer = memoryview(bytes(kept) + more)
        self._position, self._start = len(kept), 0
        return True

    def _again(self) -> None:
        """Go to the next member, though the broken one may have swallowed its beginning."""
        self._position = min(self._start + 1, len(self._buffer))
        self._resync()

    def _resync(self) -> None:
        """Go to where a member that holds a WARC record begins, or to the end."""
        self._start = self._position
        while self._fill():
            rest = bytes(self._buffer[self._position :])
            for match in _MAGIC.finditer(rest):
                if len(rest) - match.start() < _TRIAL:  # too near the edge to try: look again with more behind it
                    break
                if _begins_a_record(rest[match.start() : match.start() + _TRIAL]):
                    self._position += match.start()
                    return
            more = self._stream.read(CHUNK)
            if not more:
                for match in _MAGIC.finditer(rest):
                    if _begins_a_record(rest[match.start() :]):
                        self._position += match.start()
                        return
                self._position = len(self._buffer)
                return
            keep = min(len(rest), _TRIAL + len(MAGIC))
            self._begins += len(self._buffer) - keep
            self._buffer = memoryview(rest[len(rest) - keep :] + more)
            self._position = self._start = 0


def _begins_a_record(data: bytes) -> bool:
    try:
        return bytes(isal_zlib.decompressobj(31).decompress(data, 64)).startswith(b"WARC/")
    except BROKEN:
        return False
