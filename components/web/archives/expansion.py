"""Limit how much an archive may expand when it is decompressed; above the limit it is a bomb and is abandoned."""

from __future__ import annotations

from dataclasses import dataclass

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
