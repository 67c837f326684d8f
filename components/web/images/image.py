"""Decode an image to check that it is complete, and to get its format, size, perceptual hash and thumbnail.

Decoding is the validation: the content decides, not the name or the header. JPEGs are decoded at a reduced scale (libjpeg's
scaled DCT): every coded byte is read, or skipped in a structure known to be complete (``jpeg_scans``).
"""

from __future__ import annotations

import base64
import hashlib
import io
import mmap
from dataclasses import astuple, dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from PIL import Image

from components.core.digests import sha256_bytes
from components.web.budget import Budget
from components.web.consent.image_metadata import read_image_statements
from components.web.images.contrast import EXACT, has_contrast
from components.web.images.head import FORMATS, Head, detect_format, guess_content, read_head
from components.web.images.opening import TooLargeImageError, UnknownImageError, UnreadableImageError, read_image

__all__ = ["FORMATS", "DecodeResult", "decode_image", "perceptual_hash"]

MOST_COMPARED = 1 << 24
"""px of an image without contrast whose pixels are compared; a larger one is compared by its bytes, which takes less memory."""
REDUCED_SIDE = 96
"""Minimum px of the smaller side for hash and thumbnail: three times what the hash uses. Of 492 sample JPEGs 482 keep their hash
to 4 bits of 64; the others are checkerboards and gratings, whose low frequencies are noise."""
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
    """16 hexadecimal digits, see :func:`perceptual_hash`; of an image without contrast ``EXACT`` and 15 digits of its pixels."""
    bytes: int = 0
    sha256: str = ""
    thumbnail: str = ""
    """A JPEG of at most ``THUMBNAIL`` px a side, upright, over white, in base64. It is stored because decoding is the cost:
    making it later takes ten times as long as encoding it, and needs the image."""
    statements: tuple[tuple[str, ...], ...] = ()
    """Signal, place and text of each statement about use in a good image's file."""
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
    read = partial(read_image, data, max_pixels=budget.image_pixels, max_side=budget.image_side)
    try:
        _, width, height, small = read(enough=REDUCED_SIDE, grey=True)
        grey = small.convert("L")
        if has_contrast(grey):
            phash = perceptual_hash(grey)
        elif width * height > MOST_COMPARED:
            phash = EXACT + size["sha256"][:15]
        else:  # read again as a whole, since a small detail vanishes where sides are reduced
            phash = EXACT + _digest_pixels(read().pixels)
        statements = tuple(astuple(statement) for statement in read_image_statements(data))
        return DecodeResult("", "", kind, width, height, phash, thumbnail=_thumbnail(small), statements=statements, **size)
    except TooLargeImageError as error:
        return DecodeResult("image_too_large", str(error), kind, error.width, error.height, **size)
    except UnreadableImageError as error:
        message, head = str(error), read_head(data, last=True) or Head(kind)
        if any(name in message for name in _PNG_LIMITS):
            return DecodeResult("image_over_budget", "memory", kind, head.width, head.height, **size)
        if "out of memory" in message or not _has_memory(head.width * head.height * _MEMORY_PER_PIXEL.get(kind, 0)):
            raise MemoryError(message) from error
        return DecodeResult("truncated_image", message if isinstance(error, UnknownImageError) else f"{kind}: {message}", **size)


def _has_memory(size: int) -> bool:
    """Return whether this process can allocate ``size`` bytes; none are touched."""
    try:
        mmap.mmap(-1, max(1, size), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()
    except OSError:
        return False
    return True


def _thumbnail(small: Any) -> str:
    factor = min(1.0, THUMBNAIL / max(small.size))
    size = (max(1, round(small.width * factor)), max(1, round(small.height * factor)))
    buffer = io.BytesIO()
    # JPEG and not WEBP: a quarter of the time for a third more bytes.
    small.resize(size, Image.Resampling.HAMMING).save(buffer, "JPEG", quality=75)
    return base64.b64encode(buffer.getvalue()).decode("ascii")


@cache
def _cosines() -> Any:
    """Return the 8 lowest rows of the unscaled 32-point DCT-II: (8, 32)."""
    steps = np.arange(32)
    return np.cos(np.pi * (2 * steps[None, :] + 1) * steps[:8, None] / 64)


def perceptual_hash(image: Any) -> str:
    """Return a 64-bit DCT hash of a grey or colour image without transparency; similar images differ in few bits.

    The image is converted to grey and 32×32 px and transformed by a two-dimensional DCT-II. Each of the 8×8 lowest frequencies
    gives a bit: above their median or not. The constant term (brightness) is left out of the median. Method: C. Zauner,
    "Implementation and Benchmarking of Perceptual Image Hash Functions", 2010, section 3.2.1. Returns 16 hexadecimal digits, rows
    first, most significant first. It tells nothing of an image without contrast (:func:`has_contrast`).
    """
    grey = image if image.mode == "L" else image.convert("L")
    pixels = np.asarray(grey.resize((32, 32), Image.Resampling.LANCZOS), dtype=np.float64)
    # Rounded, since the last bits of a sum differ between machines and could change a hash bit.
    low = np.round(_cosines() @ pixels @ _cosines().T, 3).ravel()
    bits = low > np.sort(low[1:])[31]  # the median of 63
    return np.packbits(bits).tobytes().hex()


def _digest_pixels(image: Any) -> str:
    """Return 15 hexadecimal digits that only images with equal pixels share."""
    digest = hashlib.sha256(repr(image.size).encode())
    digest.update(image.tobytes())
    return digest.hexdigest()[:15]
