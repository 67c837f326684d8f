"""Image files with statements about their use, written byte by byte as the specifications of their containers say."""

from __future__ import annotations

import json
import struct
import zlib
from typing import Any

from PIL import Image

JPEG_BASE = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00"


def encode_cbor(value: Any) -> bytes:
    """Return a value of dicts, lists, texts, bytes and whole numbers in CBOR (RFC 8949)."""
    if isinstance(value, bool):
        return b"\xf5" if value else b"\xf4"
    if isinstance(value, int):
        return _head(0, value) if value >= 0 else _head(1, -1 - value)
    if isinstance(value, bytes):
        return _head(2, len(value)) + value
    if isinstance(value, str):
        return _head(3, len(value.encode())) + value.encode()
    if isinstance(value, list):
        return _head(4, len(value)) + b"".join(map(encode_cbor, value))
    return _head(5, len(value)) + b"".join(encode_cbor(key) + encode_cbor(item) for key, item in value.items())


def _head(kind: int, size: int) -> bytes:
    for short, width, form in ((24, 1, ">B"), (25, 2, ">H"), (26, 4, ">I")):
        if size < 24:
            return bytes([kind << 5 | size])
        if size < 1 << 8 * width:
            return bytes([kind << 5 | short]) + struct.pack(form, size)
    return bytes([kind << 5 | 27]) + struct.pack(">Q", size)


def box(kind: bytes, content: bytes) -> bytes:
    """Return a box of ISO base media: size, type, content."""
    return struct.pack(">I", 8 + len(content)) + kind + content


def superbox(label: str, *contents: bytes) -> bytes:
    """Return a JUMBF superbox with a label."""
    described = box(b"jumd", bytes(16) + b"\x03" + label.encode() + b"\x00")
    return box(b"jumb", described + b"".join(contents))


def manifest_store(label: str, entries: Any, *, as_json: bool = False) -> bytes:
    """Return a C2PA manifest store with one assertion; entries that are a text are bytes that cannot be read."""
    if isinstance(entries, str):
        content = box(b"json" if as_json else b"cbor", entries.encode())
    else:
        assertion = {"entries": entries}
        content = box(b"json", json.dumps(assertion).encode()) if as_json else box(b"cbor", encode_cbor(assertion))
    return superbox("c2pa", superbox("urn:uuid:1", superbox("c2pa.assertions", superbox(label, content))))


def write_image(base: bytes, kind: str, *, xmp: str = "", store: bytes = b"", packet: int = 60_000) -> bytes:
    """Return an image file with XMP and a manifest store.

    Args:
        base: the file without them; for JPEG b'' gives a header alone.
        packet: bytes of the store in one APP11 segment.
    """
    if kind == "jpeg":
        base = base or JPEG_BASE
        segments = [(0xE1, b"http://ns.adobe.com/xap/1.0/\x00" + xmp.encode())] if xmp else []
        for number, start in enumerate(range(8, max(len(store), 9), packet), 1) if store else ():
            head = b"JP" + struct.pack(">HI", 1, number) + store[:8]
            segments.append((0xEB, head + store[start : start + packet]))
        added = b"".join(bytes([0xFF, code]) + struct.pack(">H", 2 + len(data)) + data for code, data in segments)
        return base[:2] + added + base[2:]
    if kind == "png":
        chunks = [(b"iTXt", b"XML:com.adobe.xmp\x00\x00\x00\x00\x00" + xmp.encode())] if xmp else []
        chunks += [(b"caBX", store)] if store else []
        added = b"".join(
            struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in chunks
        )
        return base[:33] + added + base[33:]
    chunks = ([(b"XMP ", xmp.encode())] if xmp else []) + ([(b"C2PA", store)] if store else [])
    added = b"".join(name + struct.pack("<I", len(data)) + data + b"\x00" * (len(data) & 1) for name, data in chunks)
    return base[:4] + struct.pack("<I", len(base) - 8 + len(added)) + base[8:] + added


def drawn(kind: str) -> bytes:
    """Return a small image without statements."""
    import io

    target = io.BytesIO()
    Image.new("RGB", (64, 48), "teal").save(target, kind.upper())
    return target.getvalue()
