"""Seeded draws keyed by what they are for.

A draw is a function of its key, never of a position in a loop, so that adding or losing one record changes
nothing about the others and a resumed run draws what the uninterrupted one would have drawn.
"""

from __future__ import annotations

import hashlib
import random


def seeded_rng(*parts: str | int) -> random.Random:
    """A random source seeded by the sha256 of ``parts``, e.g. ``draw(seed, record_key, "voice")``."""
    seed = hashlib.sha256("\x1f".join(str(part) for part in parts).encode()).digest()
    return random.Random(int.from_bytes(seed[:16], "big"))
