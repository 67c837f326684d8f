"""The special words at the beginning of every vocabulary."""

from __future__ import annotations

PAD, START, END, UNKNOWN = 0, 1, 2, 3
SPECIAL = ("<PAD>", "<S>", "</S>", "<UNK>")
"""The first four entries of every vocabulary."""
NEVER_WRITTEN = (PAD, START, UNKNOWN)
"""Words that decoding never writes; UNKNOWN is among them, since it cannot be spoken or scored."""
