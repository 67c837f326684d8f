"""Decodes tokens of Whisper's vocabulary: pieces of UTF-8 with each byte written as a printable character, as in GPT-2."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache


def decode_tokens(tokens: Sequence[str]) -> str:
    """Return the text with single spaces; special tokens such as ``<|en|>`` are dropped, invalid UTF-8 becomes U+FFFD."""
    written = "".join(token for token in tokens if not (token.startswith("<|") and token.endswith("|>")))
    return " ".join(bytes(_bytes()[char] for char in written).decode("utf-8", errors="replace").split())


@cache
def _bytes() -> dict[str, int]:
    """Return character → byte: printable Latin-1 maps to itself, the other bytes to U+0100 onwards."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    rest = [byte for byte in range(256) if byte not in plain]
    return {chr(byte): byte for byte in plain} | {chr(256 + n): byte for n, byte in enumerate(rest)}
