"""One look at an image's bytes: is it whole, what is it, how large, and what does it look like.

Decoding is the validation: a file is what its content says, whatever its name or its header claims. JPEGs are decoded at
a reduced scale (libjpeg's scaled DCT): every coded byte is still read, or stepped over in a structure known to be whole
(``jpeg_scans``), so a cut is still found, and the hash and the thumbnail need no more pixels. Not in scope: which formats and
sizes a dataset wants (the filter stage, ``web.early``).
"""

from __future__ import annotations

import base64
import io
import warnings
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

from components.core.digests import sha256_bytes
from components.crawl.jpeg_scans import means_only

FORMATS = {"JPEG": "jpg", "PNG": "png", "GIF": "gif", "WEBP": "webp"}
"""Formats understood, with the extension their media members get."""
MAX_PIXELS = 89_000_000
"""Above this a small file can fill the memory (a decompression bomb)."""
THUMBNAIL = 128
"""px of a thumbnail's larger side, at most."""
_ENOUGH = 96
"""px of the smaller side that hash and thumbnail are made from, at least: three times what the hash looks at. Of 492 sample JPEGs
482 keep their hash to 4 bits of 64; those that move further are checkerboards and gratings, whose low frequencies are noise."""
_SIGNATURES = (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF87a", b"GIF89a")
_OTHERS = {"TIFF": (b"II*\x00", b"MM\x00*"), "BMP": (b"BM",), "ICO": (b"\x00\x00\x01\x00",), "MNG": (b"\x8aMNG",)}


@dataclass(frozen=True)
class Facts:
    """What one image is; ``reason`` is empty for a good one, else the rule that drops it."""

    reason: str = ""
    """'' | not_an_image | foreign_image | truncated_image | image_too_large."""
    detail: str = ""
    format: str = ""
    width: int = 0
    """px"""
    height: int = 0
    """px"""
    phash: str = ""
    """16 hexadecimal digits; see :func:`perceptual_hash`."""
    bytes: int = 0
    sha256: str = ""
    thumbnail: str = ""
    """A JPEG of at most ``THUMBNAIL`` px a side, upright, over white, in base64. Kept with the other facts, since the decode is
    what costs: made again it takes ten times as long as it took to encode, and needs the picture at hand."""


def look(data: bytes) -> Facts:
    """Decode ``data`` wholly and tell what it is; never raises for bad data."""
    from PIL import Image, UnidentifiedImageError

    size: dict[str, Any] = {"bytes": len(data), "sha256": sha256_bytes(data)}
    kind = signature(data)
    if kind not in FORMATS:
        rule = "foreign_image" if kind else "not_an_image"
        return Facts(rule, kind or seems(data), **size)
    with warnings.catch_warnings():
        # A file just above Pillow's own bomb limit only warns; the limit here is checked by hand.
        warnings.simplefilter("ignore")
        try:
            with Image.open(io.BytesIO(data), formats=list(FORMATS)) as picture:
                shape: dict[str, Any] = {"format": str(picture.format), "width": picture.width, "height": picture.height}
                if picture.width * picture.height > MAX_PIXELS:
                    return Facts("image_too_large", f"{picture.width} x {picture.height} px", **shape, **size)
                means = None
                if picture.info.get("progressive") and min(picture.size) >= 8 * _ENOUGH:
                    means = means_only(data)
                if means is None:
                    return Facts(**_seen(picture), **shape, **size)
            with Image.open(io.BytesIO(means), formats=["JPEG"]) as picture:
                return Facts(**_seen(picture), **shape, **size)
        except UnidentifiedImageError:
            return Facts("truncated_image", f"begins as {kind} and ends before it says anything", **size)
        except Exception as error:  # decoders raise OSError, SyntaxError, ValueError, EOFError, struct.error and more
            return Facts("truncated_image", f"{kind}: {' '.join(str(error).split())[:120]}", **size)


def _seen(picture: Any) -> dict[str, Any]:
    """Decode a picture just opened: its hash and its thumbnail; raises what its decoder raises."""
    picture.draft(None, (_ENOUGH, _ENOUGH))
    picture.load()
    small = _small(picture)
    return {"phash": perceptual_hash(small), "thumbnail": _thumbnail(small, picture)}


def signature(data: bytes) -> str:
    """The image format that the first bytes announce, or ''."""
    if data.startswith(_SIGNATURES[0]):
        return "JPEG"
    if data.startswith(_SIGNATURES[1]):
        return "PNG"
    if data.startswith(_SIGNATURES[2:]):
        return "GIF"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "WEBP"
    for name, marks in _OTHERS.items():
        if data.startswith(marks):
            return name
    if data[4:8] == b"ftyp":
        return "AVIF/HEIF"
    return "SVG" if b"<svg" in data[:1024].lower() else ""


def seems(data: bytes) -> str:
    """What bytes that are no image seem to be: empty, html or unknown."""
    if not data:
        return "empty"
    start = data[:512].lstrip().lower()
    return "html" if start.startswith((b"<!doctype", b"<html", b"<?xml", b"<head", b"<body")) else "unknown"


def _small(picture: Any) -> Any:
    """A decoded picture in grey or colour, over white, its smaller side ``_ENOUGH`` to twice that where it was larger."""
    from PIL import Image

    clear = picture.mode in ("RGBA", "LA", "PA") or "transparency" in picture.info
    if clear:
        picture = picture if picture.mode == "RGBA" else picture.convert("RGBA")
    elif picture.mode not in ("L", "RGB", "CMYK"):
        # Palettes and 1-bit pictures cannot be averaged, and deeper greys have no place in a thumbnail.
        picture = picture.convert("RGB" if picture.mode in ("P", "YCbCr", "LAB", "HSV") else "L")
    factor = min(picture.size) // _ENOUGH
    if factor > 1:
        picture = picture.reduce(factor)
    if clear:
        white = Image.new("RGBA", picture.size, (255, 255, 255, 255))
        picture = Image.alpha_composite(white, picture)
    return picture if picture.mode in ("L", "RGB") else picture.convert("RGB")


def _thumbnail(small: Any, picture: Any) -> str:
    from PIL import Image

    factor = min(1.0, THUMBNAIL / max(small.size))
    size = (max(1, round(small.width * factor)), max(1, round(small.height * factor)))
    thumbnail = small.resize(size, Image.Resampling.HAMMING)
    turn = _turn(picture) if "exif" in picture.info else None
    if turn is not None:
        thumbnail = thumbnail.transpose(turn)
    buffer = io.BytesIO()
    # JPEG and not WEBP: a quarter of the time for a third more bytes.
    thumbnail.save(buffer, "JPEG", quality=75)
    return base64.b64encode(buffer.getvalue()).decode("ascii")


def _turn(picture: Any) -> Any:
    """How EXIF asks for a picture to be turned before it is shown; None for not at all."""
    from PIL.Image import Transpose

    ways = (
        Transpose.FLIP_LEFT_RIGHT,
        Transpose.ROTATE_180,
        Transpose.FLIP_TOP_BOTTOM,
        Transpose.TRANSPOSE,
        Transpose.ROTATE_270,
        Transpose.TRANSVERSE,
        Transpose.ROTATE_90,
    )
    try:
        return dict(enumerate(ways, start=2)).get(picture.getexif().get(0x0112))
    except Exception:  # EXIF is as wild as the rest of the web: an image with a broken one is whole, and lies as it lies
        return None


@cache
def _cosines() -> Any:
    """The 8 lowest rows of the DCT-II of 32 points, unscaled: (8, 32)."""
    import numpy as np

    steps = np.arange(32)
    return np.cos(np.pi * (2 * steps[None, :] + 1) * steps[:8, None] / 64)


def perceptual_hash(picture: Any) -> str:
    """A 64-bit DCT hash of how a picture (grey or colour, without transparency) looks; near-equal ones differ in few bits.

    The picture is made grey and 32×32 px, its two-dimensional DCT-II taken, and each of
    the 8×8 lowest frequencies gives a bit: above the median of them or not. The constant term, which only tells
    the brightness, is left out of the median. Method: C. Zauner, "Implementation and Benchmarking of Perceptual
    Image Hash Functions", 2010, section 3.2.1. Returns 16 hexadecimal digits, rows first, most significant first.
    """
    import numpy as np
    from PIL import Image

    small = picture.convert("L").resize((32, 32), Image.Resampling.LANCZOS)
    pixels = np.asarray(small, dtype=np.float64)
    # Rounded, so that the last bits of a sum (which differ between machines) cannot turn a hash bit.
    low = np.round(_cosines() @ pixels @ _cosines().T, 3).ravel()
    bits = low > np.sort(low[1:])[31]  # the median of 63
    return np.packbits(bits).tobytes().hex()


def hamming(one: str, other: str) -> int:
    """How many of 64 bits two hashes differ in."""
    return (int(one, 16) ^ int(other, 16)).bit_count()


class ImageLook:
    """:func:`look` as an annotator: kept by the image's sha256, so no image is ever decoded twice."""

    name = "image.look"
    version = 3
    model = "pillow-12"
    codec = "json"

    def compute(self, payload: bytes) -> dict[str, Any]:
        """The facts about one image's bytes, as plain values."""
        return asdict(look(payload))
