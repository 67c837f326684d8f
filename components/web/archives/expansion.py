"""How much an archive may grow when it is decompressed: what grows more is a bomb, and is left."""

from __future__ import annotations

from dataclasses import dataclass

RATIO = 200
"""Decompressed bytes of a stored one, above ``FREE``. (HTML shrinks to a fifth, deflate shrinks zeros to a thousandth.)"""
FREE_MEMBER = 1 << 26
"""Decompressed bytes of one member that no ratio is asked of."""
FREE = 1 << 28
"""Decompressed bytes of one archive that no ratio is asked of: some bombs cost themselves alone, many end the reading."""


@dataclass
class Expansion:
    """What one archive may still give; the files inside a WACZ share one of these."""

    left: float = FREE
    """Bytes that may still come out of it; below 0 it is a bomb. Those of a member that is read twice count twice."""
    scale: float = 1.0
    """Stored bytes of one read: less than 1 in a deflated file of a WACZ."""

    def read(self, size: int) -> None:
        """Count bytes read."""
        self.left += RATIO * self.scale * size

    def member_is_bomb(self, read: int, given: int) -> bool:
        """Whether a member that gave so many bytes, of so many that were read, grows too much."""
        return given > FREE_MEMBER and given > RATIO * self.scale * read
