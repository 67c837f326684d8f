"""Detect an image's format from its first bytes and check its size against limits. Nothing is decoded."""

from __future__ import annotations

FORMATS = {"JPEG": "jpg", "PNG": "png", "GIF": "gif", "WEBP": "webp"}
"""Supported formats, with the extension of their media members."""
_SIGNATURES = (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF87a", b"GIF89a")
_OTHER_SIGNATURES = {"TIFF": (b"II*\x00", b"MM\x00*"), "BMP": (b"BM",), "ICO": (b"\x00\x00\x01\x00",), "MNG": (b"\x8aMNG",)}


def detect_format(data: bytes) -> str:
    """Return the image format that the first bytes announce, or ''."""
    if data.startswith(_SIGNATURES[0]):
        return "JPEG"
    if data.startswith(_SIGNATURES[1]):
        return "PNG"
    if data.startswith(_SIGNATURES[2:]):
        return "GIF"
    if data[:4] == b"RIFF":
        return "WEBP" if data[8:12] == b"WEBP" else ""
    for name, signatures in _OTHER_SIGNATURES.items():
        if data.startswith(signatures):
            return name
    if data[4:8] == b"ftyp":
        return "AVIF/HEIF"
    # Only after all signatures above could have matched, so that more bytes do not change the result.
    return "SVG" if len(data) >= 12 and b"<svg" in data[:1024].lower() else ""


def guess_content(data: bytes) -> str:
    """Return what bytes that are no image seem to be: empty, html or unknown."""
    if not data:
        return "empty"
    start = data[:512].lstrip().lower()
    return "html" if start.startswith((b"<!doctype", b"<html", b"<?xml", b"<head", b"<body")) else "unknown"


def find_exceeded_limit(width: int, height: int, *, pixels: int, side: int) -> str:
    """Return the limit that an image of ``width`` × ``height`` px exceeds, as the ledger states it; '' when it exceeds none."""
    if width * height > pixels:
        return f"{pixels} px in all"
    return f"{side} px a side" if max(width, height) > side else ""
