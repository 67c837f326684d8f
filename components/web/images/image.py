"""Decode an image to check that it is complete, and to get its format, size, perceptual hash and thumbnail.

Decoding is the validation: the content decides, not the name or the header. JPEGs are decoded at a reduced scale (libjpeg's
scaled DCT): every coded byte is read, or skipped in a structure known to be complete (``jpeg_scans``).
"""

from __future__ import annotations

import base64
import io
import mmap
import warnings
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from PIL import Image
from PIL.Image import Transpose

from components.core.digests import sha256_bytes
from components.web.budget import Budget
from components.web.images.head import FORMATS, Head, detect_format, find_exceeded_limit, guess_content, read_head
from components.web.images.jpeg_scans import extract_mean_scans

__all__ = ["FORMATS", "DecodeResult", "decode_image", "perceptual_hash"]

REDUCED_SIDE = 96
"""Minimum px of the smaller side for hash and thumbnail: three times what the hash uses. Of 492 sample JPEGs 482 keep their hash
to 4 bits of 64; the others are checkerboards and gratings, whose low frequencies are noise."""
_BAND = 1 << 20
"""Approximate px of a band."""
_REDUCIBLE = ("L", "RGB", "CMYK")
"""Modes that are averaged without conversion."""
THUMBNAIL = 128
"""Maximum px of a thumbnail's larger side."""
_DEFAULT = Budget()
_PNG_LIMITS = ("MAX_TEXT_CHUNK", "MAX_TEXT_MEMORY")
"""Names in Pillow's messages of its limits on compressed texts and profiles in a PNG."""
_MEMORY_PER_PIXEL = {"JPEG": 8, "WEBP": 20}
"""Maximum bytes per px of decoders that report a lack of memory as bad data."""


@dataclass(frozen=True)
class DecodeResult:
    """The result of decoding one image; ``reason`` is empty for a good image, else the rule that drops it."""

    reason: str = ""
    """'' | not_an_image | foreign_image | truncated_image | image_too_large | image_over_budget."""
    detail: str = ""
    """What was found instead; for ``image_over_budget``: cpu | memory | crash."""
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
    """A JPEG of at most ``THUMBNAIL`` px a side, upright, over white, in base64. It is stored because decoding is the cost:
    making it later takes ten times as long as encoding it, and needs the picture."""
    seconds: float = 0.0
    """CPU seconds that did not suffice (``image_over_budget``); else 0."""
    memory: int = 0
    """Bytes of memory that did not suffice (``image_over_budget``); else 0."""


def decode_image(data: bytes, budget: Budget = _DEFAULT) -> DecodeResult:
    """Decode ``data`` completely and return the result; bad data never raises.

    Only the px limits of ``budget`` apply here; limits on time and memory need a process (``inspection``).

    Raises:
        MemoryError: there is not enough memory.
    """
    size: dict[str, Any] = {"bytes": len(data), "sha256": sha256_bytes(data)}
    kind = detect_format(data)
    if kind not in FORMATS:
        return DecodeResult("foreign_image" if kind else "not_an_image", kind or guess_content(data), **size)
    if kind != "JPEG":  # other decoders may allocate on opening
        head = read_head(data, last=True) or Head(kind)
        if refusal := _too_large(head.width, head.height, budget):
            return DecodeResult(**refusal, format=kind, **size)
    try:
        return DecodeResult(**_decode(data, budget), **size)
    except MemoryError:
        raise
    except Exception as error:  # decoders raise OSError, SyntaxError, ValueError, EOFError, struct.error and more
        message, head = " ".join(str(error).split())[:120], read_head(data, last=True) or Head(kind)
        if any(name in message for name in _PNG_LIMITS):
            return DecodeResult("image_over_budget", "memory", kind, head.width, head.height, **size)
        if "out of memory" in message or not _has_memory(head.width * head.height * _MEMORY_PER_PIXEL.get(kind, 0)):
            raise MemoryError(message) from error
        if type(error).__name__ == "UnidentifiedImageError":
            return DecodeResult("truncated_image", f"has the signature of a {kind} but ends within its header", **size)
        return DecodeResult("truncated_image", f"{kind}: {message}", **size)


def _too_large(width: int, height: int, budget: Budget) -> dict[str, Any]:
    """Return the result fields that refuse an image of that size; empty when it may be decoded."""
    if not find_exceeded_limit(width, height, pixels=budget.image_pixels, side=budget.image_side):
        return {}
    return {"reason": "image_too_large", "detail": f"{width} x {height} px", "width": width, "height": height}


def _decode(data: bytes, budget: Budget) -> dict[str, Any]:
    """Return the result fields from the pixels; raises what decoders raise."""
    with warnings.catch_warnings():
        # Pillow warns above its own limit; the budget's limit applies here.
        warnings.simplefilter("ignore")
        with Image.open(io.BytesIO(data), formats=list(FORMATS)) as picture:
            shape: dict[str, Any] = {"format": str(picture.format), "width": picture.width, "height": picture.height}
            if refusal := _too_large(picture.width, picture.height, budget):
                return shape | refusal
            means = None
            if picture.info.get("progressive") and min(picture.size) >= 8 * REDUCED_SIDE:
                means = extract_mean_scans(data)
            if means is None:
                return shape | _summarise(picture)
        with Image.open(io.BytesIO(means), formats=["JPEG"]) as picture:
            return shape | _summarise(picture)


def _summarise(picture: Any) -> dict[str, Any]:
    """Decode a picture just opened; return its hash and thumbnail. Raises what its decoder raises."""
    picture.draft(None, (REDUCED_SIDE, REDUCED_SIDE))
    picture.load()
    small = _shrink(picture)
    return {"phash": perceptual_hash(small), "thumbnail": _thumbnail(small, picture)}


def _shrink(picture: Any) -> Any:
    """Return a decoded picture in grey or colour, over white; a smaller side over ``REDUCED_SIDE`` becomes at most twice that.

    It is reduced in bands, since converting a large picture as a whole takes its memory again; the result is the same.
    """
    transparent = picture.mode in ("RGBA", "LA", "PA") or "transparency" in picture.info
    factor = max(1, min(picture.size) // REDUCED_SIDE)
    band_rows = max(1, _BAND // (picture.width * factor)) * factor
    if (picture.mode in _REDUCIBLE and not transparent) or band_rows >= picture.height:
        return _reduce(picture, factor, transparent=transparent)
    small = None
    for top in range(0, picture.height, band_rows):
        part = _reduce(
            picture.crop((0, top, picture.width, min(top + band_rows, picture.height))), factor, transparent=transparent
        )
        if small is None:
            small = Image.new(part.mode, (part.width, -(-picture.height // factor)))
        small.paste(part, (0, top // factor))
    return small


def _reduce(picture: Any, factor: int, *, transparent: bool) -> Any:
    if transparent:
        picture = picture if picture.mode == "RGBA" else picture.convert("RGBA")
    elif picture.mode not in _REDUCIBLE:
        # Palettes and 1-bit pictures cannot be averaged; deeper greys do not fit a thumbnail.
        picture = picture.convert("RGB" if picture.mode in ("P", "YCbCr", "LAB", "HSV") else "L")
    if factor > 1:
        picture = picture.reduce(factor)
    if transparent:
        white = Image.new("RGBA", picture.size, (255, 255, 255, 255))
        picture = Image.alpha_composite(white, picture)
    return picture if picture.mode in ("L", "RGB") else picture.convert("RGB")


def _has_memory(size: int) -> bool:
    """Return whether this process can allocate ``size`` bytes; none are touched."""
    try:
        mmap.mmap(-1, max(1, size), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()
    except OSError:
        return False
    return True


def _thumbnail(small: Any, picture: Any) -> str:
    factor = min(1.0, THUMBNAIL / max(small.size))
    size = (max(1, round(small.width * factor)), max(1, round(small.height * factor)))
    thumbnail = small.resize(size, Image.Resampling.HAMMING)
    rotation = _find_rotation(picture) if "exif" in picture.info else None
    if rotation is not None:
        thumbnail = thumbnail.transpose(rotation)
    buffer = io.BytesIO()
    # JPEG and not WEBP: a quarter of the time for a third more bytes.
    thumbnail.save(buffer, "JPEG", quality=75)
    return base64.b64encode(buffer.getvalue()).decode("ascii")


def _find_rotation(picture: Any) -> Any:
    transpositions = (
        Transpose.FLIP_LEFT_RIGHT,
        Transpose.ROTATE_180,
        Transpose.FLIP_TOP_BOTTOM,
        Transpose.TRANSPOSE,
        Transpose.ROTATE_270,
        Transpose.TRANSVERSE,
        Transpose.ROTATE_90,
    )
    try:
        return dict(enumerate(transpositions, start=2)).get(picture.getexif().get(0x0112))
    except MemoryError:
        raise
    except Exception:  # broken EXIF does not make an image unusable
        return None


@cache
def _cosines() -> Any:
    """Return the 8 lowest rows of the unscaled 32-point DCT-II: (8, 32)."""
    steps = np.arange(32)
    return np.cos(np.pi * (2 * steps[None, :] + 1) * steps[:8, None] / 64)


def perceptual_hash(picture: Any) -> str:
    """Return a 64-bit DCT hash of a grey or colour picture without transparency; similar pictures differ in few bits.

    The picture is converted to grey and 32×32 px and transformed by a two-dimensional DCT-II. Each of the 8×8 lowest frequencies
    gives a bit: above their median or not. The constant term (brightness) is left out of the median. Method: C. Zauner,
    "Implementation and Benchmarking of Perceptual Image Hash Functions", 2010, section 3.2.1. Returns 16 hexadecimal digits, rows
    first, most significant first.
    """
    small = picture.convert("L").resize((32, 32), Image.Resampling.LANCZOS)
    pixels = np.asarray(small, dtype=np.float64)
    # Rounded, since the last bits of a sum differ between machines and could change a hash bit.
    low = np.round(_cosines() @ pixels @ _cosines().T, 3).ravel()
    bits = low > np.sort(low[1:])[31]  # the median of 63
    return np.packbits(bits).tobytes().hex()
