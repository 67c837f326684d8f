"""Tokens of Whisper's vocabulary as text: each is a piece of UTF-8, a byte written as a printable character (as GPT-2 does)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache


def text_of(tokens: Sequence[str]) -> str:
    """Return the text, white space made single; marks such as ``<|en|>`` are left out, and bytes that are no UTF-8 become U+FFFD."""
    written = "".join(token for token in tokens if not (token.startswith("<|") and token.endswith("|>")))
    return " ".join(bytes(_bytes()[char] for char in written).decode("utf-8", errors="replace").split())


@cache
def _bytes() -> dict[str, int]:
    """Character → byte: what prints in Latin-1 stands for itself, the others follow one another from U+0100."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    rest = [byte for byte in range(256) if byte not in plain]
    return {chr(byte): byte for byte in plain} | {chr(256 + n): byte for n, byte in enumerate(rest)}
