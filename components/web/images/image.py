"""One look at an image's bytes: is it whole, what is it, how large, and what does it look like.

Decoding is the validation: a file is what its content says, whatever its name or its header claims. JPEGs are decoded at
a reduced scale (libjpeg's scaled DCT): every coded byte is still read, or stepped over in a structure known to be whole
(``jpeg_scans``), so a cut is still found, and the hash and the thumbnail need no more pixels. Not in scope: which formats and
sizes a dataset wants (the filter stage, ``web.early``).
"""

from __future__ import annotations

import base64
import io
import mmap
import warnings
from dataclasses import dataclass
from functools import cache
from typing import Any

from components.core.digests import sha256_bytes
from components.web.budget import Budget
from components.web.images.head import Head, read_head
from components.web.images.jpeg_scans import extract_mean_scans
from components.web.images.kinds import FORMATS, detect_format, find_exceeded_limit, guess_content
from components.web.images.thumbnail import ENOUGH, shrink

__all__ = ["FORMATS", "DecodeResult", "decode_image", "perceptual_hash"]

THUMBNAIL = 128
"""px of a thumbnail's larger side, at most."""
_DEFAULT = Budget()
_PACKED = ("MAX_TEXT_CHUNK", "MAX_TEXT_MEMORY")
"""Pillow's names, in its messages, for its limits on the texts and profiles packed into a PNG."""
_UNTOLD = {"JPEG": 8, "WEBP": 20}
"""Bytes a px, at most, of decoders that tell a lack of memory as bad data."""


@dataclass(frozen=True)
class DecodeResult:
    """What decoding one image gives; ``reason`` is empty for a good one, else the rule that drops it."""

    reason: str = ""
    """'' | not_an_image | foreign_image | truncated_image | image_too_large | image_over_budget."""
    detail: str = ""
    """What was found instead; of ``image_over_budget``: cpu | memory | crash."""
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
    """A JPEG of at most ``THUMBNAIL`` px a side, upright, over white, in base64. Kept with the rest, since the decode is
    what costs: made again it takes ten times as long as it took to encode, and needs the picture at hand."""
    seconds: float = 0.0
    """CPU seconds that were not enough (``image_over_budget``); else 0."""
    memory: int = 0
    """Bytes of memory that were not enough (``image_over_budget``); else 0."""


def decode_image(data: bytes, budget: Budget = _DEFAULT) -> DecodeResult:
    """Decode ``data`` wholly and tell what it is; never raises for bad data.

    Of ``budget`` only the limits on px count here; those on time and memory need a process of its own (``image_look``).

    Raises:
        MemoryError: there is not enough to decode it.
    """
    size: dict[str, Any] = {"bytes": len(data), "sha256": sha256_bytes(data)}
    kind = detect_format(data)
    if kind not in FORMATS:
        return DecodeResult("foreign_image" if kind else "not_an_image", kind or guess_content(data), **size)
    if kind != "JPEG":  # other decoders may take their memory on opening
        head = read_head(data, last=True) or Head(kind)
        if refused := _too_large(head.width, head.height, budget):
            return DecodeResult(**refused, format=kind, **size)
    try:
        return DecodeResult(**_decoded(data, budget), **size)
    except MemoryError:
        raise
    except Exception as error:  # decoders raise OSError, SyntaxError, ValueError, EOFError, struct.error and more
        told, head = " ".join(str(error).split())[:120], read_head(data, last=True) or Head(kind)
        if any(name in told for name in _PACKED):
            return DecodeResult("image_over_budget", "memory", kind, head.width, head.height, **size)
        if "out of memory" in told or not _room(head.width * head.height * _UNTOLD.get(kind, 0)):
            raise MemoryError(told) from error
        if type(error).__name__ == "UnidentifiedImageError":
            return DecodeResult("truncated_image", f"begins as {kind} and ends before it says anything", **size)
        return DecodeResult("truncated_image", f"{kind}: {told}", **size)


def _too_large(width: int, height: int, budget: Budget) -> dict[str, Any]:
    """The fields of the result that refuses an image of that size; empty when it may be decoded."""
    if not find_exceeded_limit(width, height, pixels=budget.image_pixels, side=budget.image_side):
        return {}
    return {"reason": "image_too_large", "detail": f"{width} x {height} px", "width": width, "height": height}


def _decoded(data: bytes, budget: Budget) -> dict[str, Any]:
    """What the pixels tell; raises what decoders raise."""
    from PIL import Image

    with warnings.catch_warnings():
        # Of a file just above its own limit Pillow warns; the limit here is the budget's.
        warnings.simplefilter("ignore")
        with Image.open(io.BytesIO(data), formats=list(FORMATS)) as picture:
            shape: dict[str, Any] = {"format": str(picture.format), "width": picture.width, "height": picture.height}
            if refused := _too_large(picture.width, picture.height, budget):
                return shape | refused
            means = None
            if picture.info.get("progressive") and min(picture.size) >= 8 * ENOUGH:
                means = extract_mean_scans(data)
            if means is None:
                return shape | _seen(picture)
        with Image.open(io.BytesIO(means), formats=["JPEG"]) as picture:
            return shape | _seen(picture)


def _seen(picture: Any) -> dict[str, Any]:
    """Decode a picture just opened: its hash and its thumbnail; raises what its decoder raises."""
    picture.draft(None, (ENOUGH, ENOUGH))
    picture.load()
    small = shrink(picture)
    return {"phash": perceptual_hash(small), "thumbnail": _thumbnail(small, picture)}


def _room(size: int) -> bool:
    """Whether this process may still take ``size`` bytes of memory; none of them is touched."""
    try:
        mmap.mmap(-1, max(1, size), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()
    except OSError:
        return False
    return True


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
    except MemoryError:
        raise
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
