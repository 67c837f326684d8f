"""Decode CBOR (RFC 8949) of untrusted files, within limits of depth and size; C2PA writes definite lengths only."""

from __future__ import annotations

from typing import Any

_DEEPEST, _MOST = 16, 10_000


def decode_cbor(data: bytes) -> Any:
    """Return the first item as plain values; tags are dropped, and floats, null and undefined are None.

    Raises:
        ValueError: it is not well-formed, has an indefinite length, is too deep, or has too many items.
    """
    return _Decoder(data).item(0)


class _Decoder:
    def __init__(self, data: bytes) -> None:
        self._data, self._at, self._count = data, 0, 0

    def item(self, depth: int) -> Any:
        self._count += 1
        if depth > _DEEPEST or self._count > _MOST:
            raise ValueError("too deep, or too many items")
        first = self._take(1)[0]
        kind, short = first >> 5, first & 31
        if short > 27:
            raise ValueError("a reserved or indefinite length")
        size = short if short < 24 else int.from_bytes(self._take(1 << short - 24), "big")
        if kind < 2:
            return size if kind == 0 else -1 - size
        if kind < 4:
            content = self._take(size)
            return content if kind == 2 else content.decode("utf-8", "replace")
        if kind == 4:
            return [self.item(depth + 1) for _ in range(min(size, _MOST))]
        if kind == 5:
            return {str(self.item(depth + 1)): self.item(depth + 1) for _ in range(min(size, _MOST))}
        return self.item(depth + 1) if kind == 6 else {20: False, 21: True}.get(short)

    def _take(self, size: int) -> bytes:
        piece = self._data[self._at : self._at + size]
        if len(piece) < size:
            raise ValueError("truncated")
        self._at += size
        return piece
