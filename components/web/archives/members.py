"""Split an archive's bytes into members, read in pieces of bounded size: one long plain member, or compressed ones.

Web archives have one gzip member or zstd frame per record, so that a record can be read alone. A truncated or broken member is a
named fault, and reading continues at the next one. Time is linear in the bytes read and decompressed, for any input.
"""

from __future__ import annotations

import io
import re
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

from components.web.archives.opening import Stream, read_fully

CHUNK = 1 << 18
"""Bytes per read from the archive."""
FIRST, FEED = 1 << 12, 1 << 14
"""Compressed bytes of the first feed to the decompressor, and of later ones; the decompressor copies what it does not use."""
PIECE = 1 << 20
"""Decompressed bytes returned at once."""
KEEP = 1 << 22
"""Compressed bytes of a member kept until it is known to be sound; larger members hold many records."""
RESEARCH_RATIO = 4
"""Limit on bytes of broken members searched again, and on bytes spent on trials, per byte read."""
TRY = 512
"""Bytes charged for each trial (decompression at a position that may begin a member), besides those it reads."""
RATIO = 200
"""Maximum decompressed bytes per stored byte, above ``FREE``. (HTML shrinks to a fifth, deflated zeros to a thousandth.)"""
FREE_MEMBER = 1 << 26
"""Decompressed bytes of one member without a ratio limit."""
FREE = 1 << 28
"""Decompressed bytes of one archive without a ratio limit: single bombs cost one member, many end the reading."""


@dataclass
class Expansion:
    """The decompressed bytes that one archive may still produce; the files inside a WACZ share one object."""

    left: float = FREE
    """Bytes that may still be produced; below 0 the archive is a bomb. Bytes of a member that is read twice count twice."""
    scale: float = 1.0
    """Stored bytes per byte read: less than 1 in a deflated file of a WACZ."""

    def add_read(self, size: int) -> None:
        """Add bytes read to the allowance."""
        self.left += RATIO * self.scale * size

    def member_is_bomb(self, read: int, produced: int) -> bool:
        """Return whether a member that produced ``produced`` bytes from ``add_read`` bytes expands too much."""
        return produced > FREE_MEMBER and produced > RATIO * self.scale * read


class Members:
    """The members of one archive, in order; this base class reads a plain archive as one member.

    ``next`` moves to the next member. ``read_piece`` returns the next piece of its content, b"" at its end; ``fault`` then says
    whether the member ended early.
    """

    is_compressed = False
    """Whether the archive is compressed."""

    def __init__(self, stream: Stream, head: bytes, expansion: Expansion) -> None:
        self._stream, self._expansion = stream, expansion
        self._buffer = memoryview(head)
        self._position = 0
        self._start = 0
        """Start of the current member in the buffer."""
        self._buffer_start = 0
        """Archive bytes before the buffer."""
        self._ended = False
        self.offset = 0
        """Start of the current member in bytes of the stored archive."""
        self.fault = ""
        """'' or why the current member ended early; valid after ``read_piece`` returned b""."""
        self.detail = ""
        """One line that describes the fault."""
        self.is_bomb = False
        """Whether the archive expanded too much and is not read further."""
        expansion.add_read(len(head))

    @property
    def position(self) -> int:
        """Return the number of archive bytes consumed."""
        return self._buffer_start + self._position

    @property
    def is_complete(self) -> bool:
        """Return whether the last piece was the member's last and the member is sound."""
        return self._ended and not self.fault

    def next(self) -> bool:
        """Move to the next member; return False when there is none."""
        self.fault = self.detail = ""
        self._ended = False
        if not self._fill():
            return False
        self.offset = self.position
        self._start = self._position
        return True

    def read_piece(self) -> bytes:
        """Return more of the current member's content, at most ``PIECE`` bytes plus one feed; b"" at its end."""
        if not self._fill():
            return b""
        taken = bytes(self._buffer[self._position :])
        self._start = self._position = len(self._buffer)
        return taken

    def abandon(self) -> None:
        """Leave the current member and continue at the next one that can be found."""

    def _fill(self) -> bool:
        """Return whether a byte is available, reading more if necessary."""
        return self._position < len(self._buffer) or self._extend()

    def _extend(self) -> bool:
        """Read more bytes; return False at the archive's end. Up to ``KEEP`` bytes of the current member stay in the buffer."""
        more = read_fully(self._stream, CHUNK)
        if not more:
            return False
        self._expansion.add_read(len(more))
        kept = self._start if len(self._buffer) - self._start <= KEEP else self._position
        self._buffer_start += kept
        self._buffer = memoryview(bytes(self._buffer[kept:]) + more)
        self._position -= kept
        self._start = 0
        return True


class PackedMembers(Members):
    """The compressed members of one archive."""

    is_compressed = True
    kind: str
    """Name used in faults."""
    magic: bytes
    """First bytes of a member."""
    head: re.Pattern[bytes]
    """Matches where a member may begin."""
    trial: int
    """Maximum bytes of a trial."""
    broken: tuple[type[Exception], ...]
    """Exceptions that decompression raises for broken input."""
    buffers_input: bool
    """Whether the decompressor keeps unread input and reports in ``needs_input`` when it has none."""
    _unpacker: Any

    def __init__(self, stream: Stream, head: bytes, expansion: Expansion) -> None:
        super().__init__(stream, head, expansion)
        self._produced = 0
        self._searched = 0
        self._tried = 0

    @abstractmethod
    def _begin(self) -> Any:
        """Return a decompressor for the next member."""

    def _left(self) -> int:
        """Return how many of the bytes fed were not read by the decompressor."""
        return 0

    @abstractmethod
    def _begins_record(self, window: memoryview) -> bool:
        """Return whether ``window`` begins a member that holds a WARC record."""

    def _trial_size(self, at: int) -> int:
        """Return the number of buffer bytes that a trial at ``at`` takes."""
        return self.trial

    def next(self) -> bool:
        if self._position >= len(self._buffer) and not self._extend():
            return False
        # ``Members.next`` inlined: this runs once per record.
        self.fault = self.detail = ""
        self._ended = False
        self._start, self._produced = self._position, 0
        self.offset = self._buffer_start + self._position
        self._unpacker = self._begin()
        return True

    def read_piece(self) -> bytes:
        if self._ended:
            return b""
        parts: list[bytes] = []
        size, feed, unpacker = 0, FIRST, self._unpacker
        while size < PIECE:
            needs_input = not self.buffers_input or unpacker.needs_input
            if needs_input and self._position >= len(self._buffer) and not self._extend():
                self._torn("truncated", f"the {self.kind} is incomplete")
                break
            fed = self._buffer[self._position : self._position + feed] if needs_input else _EMPTY
            feed = FEED
            try:
                part = unpacker.decompress(fed, PIECE)
            except self.broken:
                started = self.position > self.offset or fed[: len(self.magic)] == self.magic
                self._torn(f"{'bad' if started else 'not'}_{self.kind.partition(' ')[0]}", f"the {self.kind} is not whole")
                break
            parts.append(part)
            size += len(part)
            if unpacker.eof:
                self._position += len(fed) - len(unpacker.unused_data)
                self._ended = True
                break
            self._position += len(fed) - self._left()
        expansion = self._expansion
        expansion.left -= size
        if not self._ended or expansion.left < 0:
            self._count(size)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def abandon(self) -> None:
        if not self._ended:
            self._ended = True
            self._resync()

    def _count(self, size: int) -> None:
        """Count produced bytes, and abandon a member, or the archive, that expands too much."""
        self._produced += size
        if self._expansion.left < 0:
            self.fault, self.detail, self._ended = "too_large", "the archive is a bomb: the rest is not read", True
            self._position = len(self._buffer)
            self._stream, self.is_bomb = _EMPTY_STREAM, True
        elif not self._ended and self._expansion.member_is_bomb(self.position - self.offset, self._produced):
            self.fault, self.detail = "too_large", f"the {self.kind} expands beyond the decompression limit"
            self.abandon()

    def _torn(self, fault: str, detail: str) -> None:
        """Record a fault and search again one byte after the broken member's start, where the next member may be hidden."""
        self.fault, self.detail, self._ended = fault, detail, True
        self._searched += self._position - self._start
        # Bounds repeated reading of broken members that overlap.
        if self._searched <= RESEARCH_RATIO * self.position + KEEP:
            self._position = self._start
        self._position = min(self._position + 1, len(self._buffer))
        self._resync()

    def _resync(self) -> None:
        """Move to the next member that holds a WARC record, or to the archive's end."""
        self._start = self._position
        at_end = False
        while True:
            # Closer to the end, a trial needs bytes that are not read yet.
            safe_end = len(self._buffer) - (0 if at_end else self.trial)
            for match in self.head.finditer(self._buffer, self._position):
                at = match.start()
                if at >= safe_end:
                    break
                if self._try(at):
                    self._position = self._start = at
                    return
            if at_end:
                self._position = self._start = len(self._buffer)
                return
            self._position = self._start = max(self._position, safe_end)
            at_end = not self._extend()

    def _try(self, at: int) -> bool:
        size = self._trial_size(at)
        if self._tried > RESEARCH_RATIO * (self._buffer_start + at) + KEEP:
            return False
        self._tried += TRY + size
        return self._begins_record(self._buffer[at : at + size])


_EMPTY_STREAM, _EMPTY = io.BytesIO(), memoryview(b"")
