"""Every role sees an image as a browser shows it, whatever its format, mode and orientation."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageCms, ImageOps
from PIL.Image import Transpose

from components.stages.build_rating_items.run import shown_image
from components.stages.dedup.sketches import flatten as sketched
from components.stages.extract_features.run import make_thumbnail
from components.stages.posts_report.figures import _thumbnail
from components.vision.features import ImageFeatures
from components.vision.image_files import require_image
from components.vision.nsfw import OpenNsfw
from components.vision.recognition import ImageRecognizer
from components.vision.training_images import open_image
from components.web.images.image import decode_image
from components.web.images.opening import (
    TooLargeImageError,
    UnknownImageError,
    UnreadableImageError,
    open_header,
    read_image,
)

STORED = {
    2: Transpose.FLIP_LEFT_RIGHT,
    3: Transpose.ROTATE_180,
    4: Transpose.FLIP_TOP_BOTTOM,
    5: Transpose.TRANSPOSE,
    6: Transpose.ROTATE_90,
    7: Transpose.TRANSVERSE,
    8: Transpose.ROTATE_270,
}
"""Orientation → how a camera that was held so stores the upright image."""
LOSSLESS: dict[str, dict[str, Any]] = {"PNG": {}, "WEBP": {"lossless": True, "exact": True}}


def scene(width: int = 96, height: int = 64) -> Image.Image:
    """An image that no turn or mirroring leaves as it is."""
    levels = np.random.default_rng(3).integers(0, 255, (4, 6, 3), np.uint8)
    return Image.fromarray(levels).resize((width, height), Image.Resampling.BICUBIC)


def encoded(image: Image.Image, kind: str = "PNG", orientation: int = 1, **options: Any) -> bytes:
    """A file of ``image``, which is stored turned if an orientation is given."""
    target = io.BytesIO()
    if orientation > 1:
        exif = Image.Exif()
        exif[0x0112] = orientation
        image, options = image.transpose(STORED[orientation]), {**options, "exif": exif}
    image.save(target, kind, **options)
    return target.getvalue()


def pixels(data: bytes) -> np.ndarray:
    return np.asarray(read_image(data).pixels)


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(sorted(LOSSLESS)),
    st.sampled_from(["1", "L", "LA", "P", "RGB", "RGBA"]),
    st.integers(1, 8),
    st.integers(1, 40),
    st.integers(1, 40),
)
def test_any_orientation_gives_the_pixels_size_and_hash_of_the_upright_image(kind, mode, orientation, width, height):
    image = scene(width, height).convert(mode)
    turned, upright = (decode_image(encoded(image, kind, number, **LOSSLESS[kind])) for number in (orientation, 1))
    assert (turned.width, turned.height, turned.phash, turned.thumbnail) == (width, height, upright.phash, upright.thumbnail)
    assert np.array_equal(*(pixels(encoded(image, kind, number, **LOSSLESS[kind])) for number in (orientation, 1)))


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("options", [{}, {"progressive": True}, {"subsampling": 0}], ids=str)
def test_a_turned_jpeg_is_upright_at_any_scale(orientation, options):
    data = encoded(scene(1200, 840), "JPEG", orientation, **options)
    with Image.open(io.BytesIO(data)) as opened:
        whole = ImageOps.exif_transpose(opened.convert("RGB"))
    read, small = read_image(data), read_image(data, enough=96)
    assert np.array_equal(np.asarray(read.pixels), np.asarray(whole)) and (read.width, read.height) == (1200, 840)
    assert (small.width, small.height) == (1200, 840) and 96 <= min(small.pixels.size) < 192
    assert np.abs(np.asarray(small.pixels.resize((12, 8)), int) - np.asarray(whole.resize((12, 8)), int)).mean() < 6


ROLES: dict[str, Callable[[bytes], Any]] = {
    "hash": lambda data: decode_image(data).phash,
    "features": lambda data: ImageFeatures().compute((data, "", 0)).tobytes(),
    "labels": lambda data: ImageRecognizer().compute(data).tobytes(),
    "pornography": OpenNsfw().compute,
    "sketches": lambda data: sketched(data).tobytes(),
    "thumbnails": lambda data: make_thumbnail(data, 32),
    "reports": lambda data: _thumbnail(data).tobytes(),  # type: ignore[union-attr]
    "rating": lambda data: shown_image(data, "centre"),
    "training": lambda data: open_image(data, 32).tobytes(),
    "description": lambda data: require_image(data, "").pixels.tobytes(),
}


NETWORKS = ("features", "labels")
"""Roles whose networks take seconds to load."""


@pytest.mark.parametrize("role", [pytest.param(role, marks=pytest.mark.long if role in NETWORKS else ()) for role in ROLES])
def test_every_role_sees_the_upright_image(role):
    see, stored = ROLES[role], scene().transpose(Transpose.ROTATE_90)
    assert see(encoded(scene(), orientation=6)) == see(encoded(scene()))
    assert role == "pornography" or see(encoded(stored)) != see(encoded(scene()))


def test_the_turning_of_xmp_and_of_damaged_exif_is_ignored_as_browsers_ignore_it():
    xmp = b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:Description tiff:Orientation="6"/></x:xmpmeta>'
    for options in ({"xmp": xmp}, {"exif": b"Exif\0\0MM\0*\xff\xff"}, {"exif": b"Exif\0\0nothing"}):
        assert read_image(encoded(scene(), "JPEG", **options)).pixels.size == (96, 64)


@pytest.mark.parametrize("broken", [False, True])
def test_a_jpeg_with_a_second_image_is_a_jpeg(broken):
    data = encoded(scene(), "MPO", save_all=True, append_images=[scene().rotate(180)])
    with Image.open(io.BytesIO(data)) as opened:
        assert opened.format == "MPO"
    if broken:  # the index of the images
        data = data.replace(b"MPF\0II", b"MPF\0XX").replace(b"MPF\0MM", b"MPF\0XX")
    result = decode_image(data)
    assert (result.reason, result.format, result.width, result.height) == ("", "JPEG", 96, 64)
    assert np.array_equal(pixels(data), pixels(encoded(scene(), "JPEG")))


def png(width: int, height: int, depth: int, colour: int, rows: bytes, *chunks: tuple[bytes, bytes]) -> bytes:
    """A PNG by its parts, since Pillow writes few depths."""
    head = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    parts = [(b"IHDR", head), *chunks, (b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
    body = (struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in parts)
    return b"\x89PNG\r\n\x1a\n" + b"".join(body)


@pytest.mark.parametrize(
    ("depth", "colour", "samples", "clear"),
    [
        (1, 0, b"\x40", 1),
        (2, 0, b"\x10", 1),
        (4, 0, b"\x03", 3),
        (8, 0, b"\x00\x07", 7),
        (16, 0, struct.pack(">HH", 0, 25_700), 25_700),
        (8, 2, bytes([0, 0, 0, 7, 8, 9]), (7, 8, 9)),
        (16, 2, struct.pack(">6H", 0, 0, 0, 25_700, 25_701, 9), (25_700, 25_701, 9)),
    ],
)
def test_the_transparent_colour_of_a_png_is_white_at_every_depth(depth, colour, samples, clear):
    levels = clear if isinstance(clear, tuple) else (clear,)
    data = png(2, 1, depth, colour, b"\0" + samples, (b"tRNS", struct.pack(f">{len(levels)}H", *levels)))
    assert pixels(data).tolist() == [[[0, 0, 0], [255, 255, 255]]]


def test_16_bits_keep_their_shade_and_nothing_is_clipped():
    ramp = np.linspace(0, 65_535, 256).astype(np.uint16)[None]
    assert pixels(encoded(Image.fromarray(ramp)))[0, :, 0].tolist() == (ramp[0] >> 8).tolist()
    assert pixels(encoded(Image.fromarray(ramp), "TIFF"))[0, :, 0].tolist() == (ramp[0] >> 8).tolist()
    coloured = png(1, 1, 16, 2, b"\0" + struct.pack(">3H", 51_400, 25_700, 257))
    assert pixels(coloured).tolist() == [[[200, 100, 1]]]
    measured = pixels(encoded(Image.fromarray(np.array([[0.0, 500.0, 1000.0]], np.float32)), "TIFF"))
    assert measured[0, :, 0].tolist() == [0, 128, 255]


@pytest.mark.parametrize("kind", ["PNG", "GIF", "WEBP"])
def test_transparency_of_palettes_and_alpha_is_white(kind):
    image = Image.new("RGBA", (4, 4), (200, 0, 0, 0))
    image.paste((0, 0, 255, 255), (0, 0, 2, 4))
    versions = [image, image.quantize(4)] if kind == "PNG" else [image]
    for version in versions:
        shown = pixels(encoded(version, kind, **LOSSLESS.get(kind, {})))
        assert shown[0, 0].tolist() == [0, 0, 255] and shown[0, 3].tolist() == [255, 255, 255]


# -- animations ------------------------------------------------------------------------------------------------------------


def gif_with_small_frame(clear: bool) -> bytes:
    """A canvas of 4×4 whose first frame, black, covers its left upper quarter; disposal to the background."""
    frame = encoded(Image.new("P", (2, 2)), "GIF")
    at = frame.index(b",")
    control = b"\x21\xf9\x04" + bytes([0x09 if clear else 0x08, 1, 0, 1, 0])
    return frame[:6] + struct.pack("<HH", 4, 4) + frame[10:13] + frame[13:at].split(b"\x21\xf9")[0] + control + frame[at:]


def small_webp_frame() -> bytes:
    """The same as an animated WebP without an alpha channel."""
    still = encoded(Image.new("RGB", (2, 2)), "WEBP", lossless=True)[12:]
    frames = b"".join(chunk(b"ANMF", bytes(6) + b"\1\0\0\1\0\0" + b"\x64\0\0\2" + still) for _ in range(2))
    return (
        b"RIFF"
        + struct.pack(
            "<I", len(body := b"WEBP" + chunk(b"VP8X", b"\2\0\0\0\3\0\0\3\0\0") + chunk(b"ANIM", b"\0\0\0\xff\0\0") + frames)
        )
        + body
    )


def chunk(name: bytes, data: bytes) -> bytes:
    return name + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)


@pytest.mark.parametrize("data", [gif_with_small_frame(False), gif_with_small_frame(True), small_webp_frame()])
def test_what_a_small_first_frame_leaves_of_the_canvas_is_white(data):
    shown = read_image(data)
    assert (shown.width, shown.height) == (4, 4)
    assert np.asarray(shown.pixels)[2:].min() == 255 and np.asarray(shown.pixels)[:, 2:].min() == 255


@pytest.mark.parametrize("kind", ["GIF", "PNG", "WEBP"])
def test_the_first_frame_of_an_animation_is_shown(kind):
    first, *others = (Image.new("RGB", (8, 8), (level, 0, 0)) for level in (250, 120, 10))
    options = {"save_all": True, "append_images": others, **LOSSLESS.get(kind, {})}
    assert pixels(encoded(first, kind, **options))[0, 0].tolist() == [250, 0, 0]


def test_of_an_animated_png_the_animation_is_shown_and_not_its_fallback():
    fallback, *frames = (Image.new("RGB", (8, 8), (level, 0, 0)) for level in (250, 120, 10))
    data = encoded(fallback, save_all=True, append_images=frames, default_image=True)
    assert pixels(data)[0, 0].tolist() == [120, 0, 0]


# -- colours ---------------------------------------------------------------------------------------------------------------


def ink_profile() -> bytes:
    """An ICC profile of a printer with four inks: cyan prints as a grey of L* 50, black as black, the others as nothing."""
    curve = bytes(range(256))
    table = b"".join(bytes([0 if number & 1 else 255 - 127 * (number >> 3), 128, 128]) for number in range(16))
    identity = b"".join(struct.pack(">i", 65_536 * (place in (0, 4, 8))) for place in range(9))
    lut = b"mft1" + bytes(4) + bytes([4, 3, 2, 0]) + identity + curve * 4 + table + curve * 3
    lut += b"\0" * (-len(lut) % 4)
    head = bytearray(128)
    head[8:12], head[12:16], head[16:20], head[20:24] = b"\2\x40\0\0", b"prtr", b"CMYK", b"Lab "
    head[36:40], head[68:80] = b"acsp", struct.pack(">3i", 63_190, 65_536, 54_061)
    body = struct.pack(">I", 1) + b"A2B0" + struct.pack(">II", 144, len(lut)) + lut
    head[0:4] = struct.pack(">I", 128 + len(body))
    return bytes(head) + body


def test_cmyk_is_shown_by_its_profile_and_without_one_as_browsers_do():
    for profile, cyan in ((None, [0, 255, 255]), (ink_profile(), [119, 119, 119])):
        options = {"icc_profile": profile} if profile else {}
        for ink, colour in (((255, 0, 0, 0), cyan), ((0, 0, 0, 0), [255, 255, 255])):
            data = encoded(Image.new("CMYK", (16, 16), ink), "JPEG", quality=100, **options)
            assert np.abs(pixels(data)[5, 5].astype(int) - colour).max() <= 2, (profile, ink)


def gamma_profile() -> bytes:
    """An RGB profile with the primaries of sRGB mixed up: red is shown as green."""
    data = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    tags = {bytes(data[at : at + 4]): at for at in range(132, 132 + 12 * struct.unpack_from(">I", data, 128)[0], 12)}
    red, green = tags[b"rXYZ"], tags[b"gXYZ"]
    data[red : red + 4], data[green : green + 4] = b"gXYZ", b"rXYZ"
    return bytes(data)


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_colours_of_another_profile_are_converted_to_srgb_and_srgb_and_broken_ones_are_not(kind):
    image, options = Image.new("RGB", (16, 16), (255, 0, 0)), {"quality": 100} if kind != "PNG" else {}
    srgb = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    plain = encoded(image, kind, **options)
    for profile in (srgb, b"no profile", ink_profile()):
        assert np.array_equal(pixels(encoded(image, kind, icc_profile=profile, **options)), pixels(plain))
    other = read_image(encoded(image, kind, icc_profile=gamma_profile(), **options))
    assert np.abs(np.asarray(other.pixels)[5, 5].astype(int) - [0, 255, 0]).max() <= 6
    assert "icc_profile" not in other.pixels.info, "a file made of the pixels would be converted again"


# -- limits and errors -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "GIF", "WEBP", "BMP", "TIFF"])
def test_the_limit_of_pixels_applies_before_anything_is_decoded(kind):
    data = encoded(scene(100, 50), kind)
    assert open_header(data, max_pixels=5000).size == (100, 50) and read_image(data, max_pixels=5000).format == kind
    for read in (open_header, read_image):
        with pytest.raises(TooLargeImageError, match="100 x 50 px"):
            read(data, max_pixels=4999)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(["JPEG", "PNG", "GIF", "WEBP", "BMP", "TIFF"]), st.data())
def test_damaged_files_give_one_kind_of_error(kind, data):
    whole = bytearray(encoded(scene(), kind))
    for place in data.draw(st.lists(st.integers(0, len(whole) - 1), max_size=4)):
        whole[place] = data.draw(st.integers(0, 255))
    try:
        assert read_image(bytes(whole[: data.draw(st.integers(0, len(whole)))])).pixels.mode == "RGB"
    except UnreadableImageError as error:
        assert str(error) and "\n" not in str(error)


@pytest.mark.parametrize("data", [b"", b"<svg xmlns=''/>", b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"%!PS-Adobe-3.0 EPSF-3.0"])
def test_bytes_without_a_header_of_an_image_are_unknown(data):
    with pytest.raises(UnknownImageError):
        open_header(data)
