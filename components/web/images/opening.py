"""Open an image file as a browser shows it: upright, its first frame, in sRGB, transparency on white.

Every role reads images here. The content decides the format: a JPEG with further images behind the first (MPO) is a JPEG. Pixels
of 16 bits keep their high byte. Colours with an ICC profile (CMYK, grey, wide gamuts) are converted to sRGB; a profile that is
unusable or as good as sRGB is ignored.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from PIL import Image, ImageChops, ImageCms
from PIL.BmpImagePlugin import BmpImageFile
from PIL.GifImagePlugin import GifImageFile
from PIL.Image import Transpose
from PIL.JpegImagePlugin import JpegImageFile
from PIL.PngImagePlugin import PngImageFile
from PIL.TiffImagePlugin import TiffImageFile
from PIL.WebPImagePlugin import WebPImageFile

from components.web.images.head import detect_format, find_exceeded_limit, read_head
from components.web.images.jpeg_scans import extract_mean_scans

MAX_PIXELS = 89_000_000
"""Default maximum px of an image, as of a crawl (``Budget.image_pixels``)."""
MAX_SIDE = 1 << 16
"""Default maximum px of a side."""
# Not Image.open, which gives a JPEG with further images another format, and fails if their index is damaged.
_FILES: dict[str, Any] = {
    "JPEG": JpegImageFile,
    "PNG": PngImageFile,
    "GIF": GifImageFile,
    "WEBP": WebPImageFile,
    "BMP": BmpImageFile,
    "TIFF": TiffImageFile,
}
OPENED = tuple(_FILES)
"""Formats that are opened. Pillow knows others; some start programs (EPS) or have rarely tested decoders."""
_BAND = 1 << 20
"""Approximate px of a band."""
_SAME_COLOUR = 2
"""Levels of 255 by which the colours of a profile as good as sRGB differ from sRGB at most: other roundings of its curve."""
_ORIENTATION = 0x0112
_UPRIGHT = {
    2: Transpose.FLIP_LEFT_RIGHT,
    3: Transpose.ROTATE_180,
    4: Transpose.FLIP_TOP_BOTTOM,
    5: Transpose.TRANSPOSE,
    6: Transpose.ROTATE_270,
    7: Transpose.TRANSVERSE,
    8: Transpose.ROTATE_90,
}
"""EXIF's orientation → what makes the stored pixels upright."""


class UnreadableImageError(ValueError):
    """An image that cannot be decoded completely; the text says why in one line."""


class UnknownImageError(UnreadableImageError):
    """Bytes without a header of one of :data:`OPENED`."""


class TooLargeImageError(UnreadableImageError):
    """An image with more pixels than allowed."""

    def __init__(self, width: int, height: int) -> None:
        super().__init__(f"{width} x {height} px")
        self.width, self.height = width, height


class ReadImage(NamedTuple):
    """An image and the facts about its file."""

    format: str
    """One of :data:`OPENED`."""
    width: int
    """px of the upright image, before any reduction."""
    height: int
    """px"""
    pixels: Image.Image
    """Upright, without metadata; RGB, or L if grey was asked for and is enough."""


def open_header(data: bytes, *, max_pixels: int = MAX_PIXELS, max_side: int = MAX_SIDE) -> Any:
    """Return Pillow's image file of ``data``; its size is known, no pixel is decoded.

    Raises:
        UnknownImageError: no format of :data:`OPENED`, or the data end within the header.
        TooLargeImageError: more than ``max_pixels`` px, or ``max_side`` px a side.
        UnreadableImageError: the header is damaged.
    """
    with _one_kind_of_error():
        return _open(data, max_pixels, max_side)


def read_image(
    data: bytes, *, enough: int = 0, grey: bool = False, max_pixels: int = MAX_PIXELS, max_side: int = MAX_SIDE
) -> ReadImage:
    """Return the decoded image.

    Args:
        enough: px to which the smaller side may be reduced, up to twice that; JPEGs are decoded at that scale, which is faster.
            0 for the whole image.
        grey: return a grey image in mode L instead of RGB.
        max_pixels, max_side: see :func:`open_header`.

    Raises:
        MemoryError: there is not enough memory.
        UnreadableImageError: the data cannot be decoded completely; or as :func:`open_header`.
    """
    with _one_kind_of_error():
        opened = _open(data, max_pixels, max_side)
        kind, (width, height) = opened.format, opened.size
        if enough and opened.info.get("progressive") and min(opened.size) >= 8 * enough:
            means = extract_mean_scans(data)
            opened = opened if means is None else JpegImageFile(io.BytesIO(means))
        if enough:
            opened.draft(None, (enough, enough))
        frame = _first_frame(opened, data)
        plain = _reduce(frame, max(1, min(frame.size) // enough) if enough else 1)
        turn = _UPRIGHT.get(read_orientation(opened.info["exif"])) if "exif" in opened.info else None
        if turn is not None:
            plain = plain.transpose(turn)
    if turn in (Transpose.TRANSPOSE, Transpose.ROTATE_270, Transpose.TRANSVERSE, Transpose.ROTATE_90):
        width, height = height, width
    plain = plain if grey or plain.mode == "RGB" else plain.convert("RGB")
    plain.info = {}  # a profile or comment that Pillow would write to a file made of the pixels
    return ReadImage(kind, width, height, plain)


def make_thumbnail(data: bytes, side: int) -> bytes:
    """Return an image as an upright JPEG on white, with a longer side of at most ``side`` px."""
    image = read_image(data, enough=2 * side).pixels
    image.thumbnail((side, side))
    target = io.BytesIO()
    image.save(target, "JPEG", quality=85)
    return target.getvalue()


def read_orientation(exif: bytes) -> int:
    """Return EXIF's orientation, 1 to 8; 1 where it is missing or damaged."""
    tags = Image.Exif()
    try:
        tags.load(exif)
        value = tags.get(_ORIENTATION)
    except MemoryError:
        raise
    except Exception:  # broken EXIF does not make an image unusable
        return 1
    return value if isinstance(value, int) and value in _UPRIGHT else 1


@contextmanager
def _one_kind_of_error() -> Iterator[None]:
    """Raise UnreadableImageError for what decoders raise: OSError, SyntaxError, ValueError, EOFError, struct.error and more."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Pillow's, of damaged metadata
            yield
    except (MemoryError, UnreadableImageError):
        raise
    except Exception as error:
        raise UnreadableImageError(" ".join(str(error).split())[:120] or type(error).__name__) from error


def _open(data: bytes, max_pixels: int, max_side: int) -> Any:
    kind = detect_format(data)
    if kind not in _FILES:
        raise UnknownImageError("cannot identify the image's format")
    if kind != "JPEG" and (head := read_head(data, last=True)):  # other decoders may allocate on opening
        _require_size((head.width, head.height), max_pixels, max_side)
    try:
        opened = _FILES[kind](io.BytesIO(data))
    except SyntaxError as error:
        raise UnknownImageError(f"has the signature of a {kind} but ends within its header") from error
    _require_size(opened.size, max_pixels, max_side)
    return opened


def _require_size(size: tuple[int, int], pixels: int, side: int) -> None:
    if find_exceeded_limit(*size, pixels=pixels, side=side):
        raise TooLargeImageError(*size)


def _first_frame(opened: Any, data: bytes) -> Any:
    """Decode the first frame; where it is smaller than the canvas, the rest of the canvas is white."""
    box = None
    if opened.format == "GIF":
        box = opened.tile[0][1]
    elif opened.format == "WEBP" and opened.rawmode == "RGBX" and opened.is_animated:
        opened.rawmode = opened._mode = "RGBA"  # the canvas is transparent even if no frame is
    elif opened.format == "PNG":
        if opened.info.get("default_image"):  # browsers show the animation instead of this image
            opened.seek(1)
            opened._prev_im, box = None, opened.dispose_extent
        _scale_clear_colour(opened, data[24])
    opened.load()
    if box is None or box == (0, 0, *opened.size):
        return opened
    canvas = Image.new("RGB", opened.size, "white")
    canvas.paste(_reduce(opened.crop(box), 1), box[:2])
    return canvas


def _scale_clear_colour(opened: Any, depth: int) -> None:
    """Give the transparent colour of a PNG the 8 bits that its pixels are decoded to."""
    clear = opened.info.get("transparency")
    if opened.mode == "L" and isinstance(clear, int):
        opened.info["transparency"] = clear * 255 // (2**depth - 1)
    elif opened.mode == "RGB" and depth == 16 and clear:
        opened.info["transparency"] = tuple(level >> 8 for level in clear)


def _reduce(image: Any, factor: int) -> Any:
    """Return an image in sRGB (L or RGB) on white, with sides divided by ``factor``.

    It is converted in bands, since converting a large image as a whole takes its memory again; the result is the same.
    """
    rows = max(1, _BAND // (image.width * factor)) * factor
    if (image.mode in ("L", "RGB", "CMYK", "I", "F") and "transparency" not in image.info) or rows >= image.height:
        return _plain(image, factor)
    whole = None
    for top in range(0, image.height, rows):
        part = _plain(image.crop((0, top, image.width, min(top + rows, image.height))), factor)
        if whole is None:
            whole = Image.new(part.mode, (part.width, -(-image.height // factor)))
        whole.paste(part, (0, top // factor))
    return whole


def _plain(image: Any, factor: int) -> Any:
    profile = image.info.get("icc_profile")
    if factor > 1:
        averaged = image.mode in ("L", "RGB", "CMYK", "RGBA") and "transparency" not in image.info
        image = (image if averaged else _on_white(image)).reduce(factor)
    plain = _on_white(image)
    if profile and (conversion := _to_srgb(profile, plain.mode)):
        plain = conversion.apply(plain)
    return plain.convert("RGB") if plain.mode == "CMYK" else plain


def _on_white(image: Any) -> Any:
    """Return an image in L, RGB or CMYK of 8 bits, without transparency."""
    if image.mode.startswith("I;16"):  # Pillow would clip values above 255 to white
        values = np.asarray(image)
        return Image.fromarray(np.where(values == image.info.get("transparency", -1), 255, values >> 8).astype(np.uint8))
    if image.mode in ("I", "F"):  # TIFFs of measurements, whose range nothing states
        values = np.nan_to_num(np.asarray(image, np.float64))
        least, most = (values.min(), values.max()) if values.min() < 0 or values.max() > 255 else (0.0, 255.0)
        return Image.fromarray(np.rint((values - least) * (255 / (most - least))).astype(np.uint8))
    if image.has_transparency_data:
        clear = image.convert("RGBA")
        plain = Image.new("RGB", image.size, "white")
        plain.paste(clear, mask=clear)
        return plain
    return image if image.mode in ("L", "RGB", "CMYK") else image.convert("L" if image.mode == "1" else "RGB")


@lru_cache(maxsize=32)
def _to_srgb(profile: bytes, mode: str) -> Any:
    """Return the conversion of pixels in ``mode`` from an ICC profile to sRGB; None for a profile to ignore."""
    try:
        made = ImageCms.buildTransform(io.BytesIO(profile), ImageCms.createProfile("sRGB"), mode, "RGB")
    except (ImageCms.PyCMSError, OSError, TypeError, ValueError):
        return None
    if mode == "CMYK":
        return made
    levels = [*product(range(0, 256, 51), repeat=3)] if mode == "RGB" else [(level,) for level in range(256)]
    colours = bytes(level for colour in levels for level in colour)
    probe = Image.frombytes(mode, (len(levels), 1), colours)
    difference = np.asarray(ImageChops.difference(probe.convert("RGB"), made.apply(probe)))
    return made if difference.max() > _SAME_COLOUR else None
