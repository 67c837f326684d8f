"""An archive's bytes as members in pieces of bounded size: one long plain member, or compressed ones.

Web archives are gzip files of one member a record, or zstd files of one frame a record, so that any record can be read alone.
A torn or broken member is a named fault, and reading goes on at the next one. All work is linear in the bytes that are read
and decompressed, whatever they are. Not in scope: what members hold; the two formats (``gzip_members``, ``zstd_members``).
"""

from __future__ import annotations

import re
from abc import abstractmethod
from typing import Any

from components.web.archives.expansion import Expansion
from components.web.archives.opening import Stream, read_fully

CHUNK = 1 << 18
"""Bytes asked from the archive at once."""
FIRST, FEED = 1 << 12, 1 << 14
"""Compressed bytes given to the decompressor at first, and then: what it does not use, it copies."""
PIECE = 1 << 20
"""Decompressed bytes handed out at once."""
KEEP = 1 << 22
"""Compressed bytes of a member that are kept until it is known to be sound; a larger one is one of many records."""
AGAIN = 4
"""Bytes of torn members that are searched again, and bytes spent on trying where a member may begin, of each byte read."""
TRY = 512
"""What a trial costs beside its bytes."""


class Members:
    """The members of one archive, one after the other; here: the only one of a plain archive.

    ``next`` goes to the next member; ``piece`` gives the current one's content, piece by piece, b"" at its end;
    ``fault`` then tells whether the end was its real one.
    """

    packed = False
    """Whether the archive is compressed."""

    def __init__(self, stream: Stream, head: bytes, expansion: Expansion) -> None:
        self._stream, self._expansion = stream, expansion
        self._buffer = memoryview(head)
        self._position = 0
        self._start = 0
        """Where the current member begins in the buffer."""
        self._begins = 0
        """Bytes of the archive before the buffer."""
        self._over = False
        self.offset = 0
        """Where the current member begins, in bytes of the archive as stored."""
        self.fault = ""
        """'' or why the current member ended before its end; after ``piece`` gave b""."""
        self.detail = ""
        """One line for a person on the fault."""
        self.is_bomb = False
        """Whether the archive grew too much, and is not read on."""
        expansion.read(len(head))

    @property
    def place(self) -> int:
        """Bytes of the archive that are done with."""
        return self._begins + self._position

    @property
    def whole(self) -> bool:
        """Whether the last piece was the member's last, and the member is sound."""
        return self._over and not self.fault

    def next(self) -> bool:
        """Go to the next member; False when there is none."""
        self.fault = self.detail = ""
        self._over = False
        if not self._fill():
            return False
        self.offset = self.place
        self._start = self._position
        return True

    def piece(self) -> bytes:
        """Some of the current member's content, at most ``PIECE`` bytes and a feed's worth; b"" at its end."""
        if not self._fill():
            return b""
        taken = bytes(self._buffer[self._position :])
        self._start = self._position = len(self._buffer)
        return taken

    def abandon(self) -> None:
        """Leave the current member where it is, and go on at the next one that can be found."""

    def _fill(self) -> bool:
        """Whether there is a byte to read."""
        return self._position < len(self._buffer) or self._extend()

    def _extend(self) -> bool:
        """Read more; False at the archive's end. The current member's own bytes stay at hand up to ``KEEP``."""
        more = read_fully(self._stream, CHUNK)
        if not more:
            return False
        self._expansion.read(len(more))
        kept = self._start if len(self._buffer) - self._start <= KEEP else self._position
        self._begins += kept
        self._buffer = memoryview(bytes(self._buffer[kept:]) + more)
        self._position -= kept
        self._start = 0
        return True


class PackedMembers(Members):
    """The compressed members of one archive."""

    packed = True
    kind: str
    """Its name, as faults tell it."""
    magic: bytes
    """What a member begins with."""
    head: re.Pattern[bytes]
    """Finds where a member may begin."""
    trial: int
    """Bytes that a trial takes at most."""
    broken: tuple[type[Exception], ...]
    """What unpacking raises over broken input."""
    holds: bool
    """Whether the decompressor holds the input that it has not read yet, and says in ``needs_input`` whether that is so."""
    _unpacker: Any

    def __init__(self, stream: Stream, head: bytes, expansion: Expansion) -> None:
        super().__init__(stream, head, expansion)
        self._given = 0
        self._searched = 0
        self._tried = 0

    @abstractmethod
    def _begin(self) -> Any:
        """A decompressor for the next member."""

    def _left(self) -> int:
        """How many of the bytes that were fed the decompressor has left unread."""
        return 0

    @abstractmethod
    def _begins_record(self, window: memoryview) -> bool:
        """Whether a member begins there that holds a WARC record."""

    def _trial_size(self, at: int) -> int:
        """Bytes of the buffer that a trial at ``at`` takes."""
        return self.trial

    def next(self) -> bool:
        if self._position >= len(self._buffer) and not self._extend():
            return False
        # What ``Members.next`` does, without its calls: this runs once a record.
        self.fault = self.detail = ""
        self._over = False
        self._start, self._given = self._position, 0
        self.offset = self._begins + self._position
        self._unpacker = self._begin()
        return True

    def piece(self) -> bytes:
        if self._over:
            return b""
        parts: list[bytes] = []
        size, feed, unpacker = 0, FIRST, self._unpacker
        while size < PIECE:
            hungry = not self.holds or unpacker.needs_input
            if hungry and self._position >= len(self._buffer) and not self._extend():
                self._torn("truncated", f"the {self.kind} is not whole")
                break
            fed = self._buffer[self._position : self._position + feed] if hungry else _EMPTY
            feed = FEED
            try:
                part = unpacker.decompress(fed, PIECE)
            except self.broken:
                begun = self.place > self.offset or fed[: len(self.magic)] == self.magic
                self._torn(f"{'bad' if begun else 'not'}_{self.kind.partition(' ')[0]}", f"the {self.kind} is not whole")
                break
            parts.append(part)
            size += len(part)
            if unpacker.eof:
                self._position += len(fed) - len(unpacker.unused_data)
                self._over = True
                break
            self._position += len(fed) - self._left()
        expansion = self._expansion
        expansion.left -= size
        if not self._over or expansion.left < 0:
            self._count(size)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def abandon(self) -> None:
        if not self._over:
            self._over = True
            self._resync()

    def _count(self, size: int) -> None:
        """Leave a member, or all of the archive, that grows too much."""
        self._given += size
        if self._expansion.left < 0:
            self.fault, self.detail, self._over = "too_large", "the archive is a bomb: the rest is not read", True
            self._position = len(self._buffer)
            self._stream, self.is_bomb = _NOTHING, True
        elif not self._over and self._expansion.member_is_bomb(self.place - self.offset, self._given):
            self.fault, self.detail = "too_large", f"the {self.kind} grows more than any text would"
            self.abandon()

    def _torn(self, fault: str, detail: str) -> None:
        """Go to the next member, though the broken one may have swallowed its beginning."""
        self.fault, self.detail, self._over = fault, detail, True
        self._searched += self._position - self._start
        # Torn members that overlap would be read again and again: after a while none is searched for what it swallowed.
        if self._searched <= AGAIN * self.place + KEEP:
            self._position = self._start
        self._position = min(self._position + 1, len(self._buffer))
        self._resync()

    def _resync(self) -> None:
        """Go to where a member that holds a WARC record begins, or to the end."""
        self._start = self._position
        ended = False
        while True:
            # Nearer to the edge a trial wants bytes that are not there yet.
            sure = len(self._buffer) - (0 if ended else self.trial)
            for match in self.head.finditer(self._buffer, self._position):
                at = match.start()
                if at >= sure:
                    break
                if self._try(at):
                    self._position = self._start = at
                    return
            if ended:
                self._position = self._start = len(self._buffer)
                return
            self._position = self._start = max(self._position, sure)
            ended = not self._extend()

    def _try(self, at: int) -> bool:
        size = self._trial_size(at)
        if self._tried > AGAIN * (self._begins + at) + KEEP:
            return False
        self._tried += TRY + size
        return self._begins_record(self._buffer[at : at + size])


class _Nothing:
    def read(self, size: int, /) -> bytes:
        return b""


_NOTHING, _EMPTY = _Nothing(), memoryview(b"")
