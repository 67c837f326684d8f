"""Random generators seeded by the purpose of a draw.

A draw depends on its key and not on a position in a loop: adding or removing a record changes no draw of another, and a resumed
run draws the same as an uninterrupted one.
"""

from __future__ import annotations

import hashlib
import random


def seeded_rng(*parts: str | int) -> random.Random:
    """Return a generator seeded by the sha256 of ``parts``, e.g. ``seeded_rng(seed, record_key, "voice")``."""
    seed = hashlib.sha256("\x1f".join(str(part) for part in parts).encode()).digest()
    return random.Random(int.from_bytes(seed[:16], "big"))
