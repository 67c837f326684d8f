"""Which format an image has by its first bytes, and whether its size is one that is decoded. Nothing is decoded here."""

from __future__ import annotations

FORMATS = {"JPEG": "jpg", "PNG": "png", "GIF": "gif", "WEBP": "webp"}
"""Formats understood, with the extension their media members get."""
_SIGNATURES = (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF87a", b"GIF89a")
_OTHERS = {"TIFF": (b"II*\x00", b"MM\x00*"), "BMP": (b"BM",), "ICO": (b"\x00\x00\x01\x00",), "MNG": (b"\x8aMNG",)}


def detect_format(data: bytes) -> str:
    """The image format that the first bytes announce, or ''."""
    if data.startswith(_SIGNATURES[0]):
        return "JPEG"
    if data.startswith(_SIGNATURES[1]):
        return "PNG"
    if data.startswith(_SIGNATURES[2:]):
        return "GIF"
    if data[:4] == b"RIFF":
        return "WEBP" if data[8:12] == b"WEBP" else ""
    for name, marks in _OTHERS.items():
        if data.startswith(marks):
            return name
    if data[4:8] == b"ftyp":
        return "AVIF/HEIF"
    # Not before all the marks above could have come, so that more bytes change nothing.
    return "SVG" if len(data) >= 12 and b"<svg" in data[:1024].lower() else ""


def guess_content(data: bytes) -> str:
    """What bytes that are no image seem to be: empty, html or unknown."""
    if not data:
        return "empty"
    start = data[:512].lstrip().lower()
    return "html" if start.startswith((b"<!doctype", b"<html", b"<?xml", b"<head", b"<body")) else "unknown"


def find_exceeded_limit(width: int, height: int, *, pixels: int, side: int) -> str:
    """The limit that an image of ``width`` × ``height`` px passes, in the ledger's words; '' when it passes none."""
    if width * height > pixels:
        return f"{pixels} px in all"
    return f"{side} px a side" if max(width, height) > side else ""
