"""What is written inside an image's file goes, what draws it stays, and what cannot be taken apart is said to be so."""

from __future__ import annotations

import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageOps, PngImagePlugin

from components.web.images.metadata import Unreadable, without_metadata
from tests.support.release.posts_project import drawn_image

NAME = b"Maria Silva"


def exif(orientation: int = 0) -> Image.Exif:
    result = Image.Exif()
    result[0x013B] = NAME.decode()
    if orientation:
        result[0x0112] = orientation
    return result


def text() -> PngImagePlugin.PngInfo:
    result = PngImagePlugin.PngInfo()
    result.add_text("Author", NAME.decode())
    result.add_itxt("Comment", NAME.decode())
    return result


def frames(kind: str, **info: Any) -> bytes:
    out = io.BytesIO()
    images = [Image.open(io.BytesIO(drawn_image(n, "PNG"))) for n in range(3)]
    images[0].save(out, kind, save_all=True, append_images=images[1:], loop=0, **info)
    return out.getvalue()


SIGNED = {
    "JPEG": drawn_image(1, exif=exif(), comment=NAME, xmp=NAME),
    "JPEG progressive": drawn_image(1, exif=exif(), comment=NAME, progressive=True),
    "JPEG with restarts": drawn_image(1, comment=NAME, restart_marker_blocks=1),
    "PNG": drawn_image(1, "PNG", pnginfo=text(), exif=exif()),
    "PNG animated": frames("PNG", pnginfo=text()),
    "WEBP": drawn_image(1, "WEBP", exif=exif(), xmp=NAME),
    "WEBP animated": frames("WEBP", exif=exif()),
    "GIF": frames("GIF", comment=NAME),
}


def pixels(data: bytes) -> list[bytes]:
    with Image.open(io.BytesIO(data)) as image:
        result = []
        for number in range(getattr(image, "n_frames", 1)):
            image.seek(number)
            result.append(image.convert("RGBA").tobytes())
        return result


@pytest.mark.parametrize("name", SIGNED)
def test_metadata_is_removed_and_every_pixel_and_frame_kept(name: str) -> None:
    was, kind = SIGNED[name], name.split()[0]
    assert NAME in was, "the fixture is signed"
    now = without_metadata(was, kind)
    assert NAME not in now and pixels(now) == pixels(was)
    assert without_metadata(now, kind) == now


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_an_image_with_an_exif_rotation_keeps_its_orientation(kind: str, orientation: int) -> None:
    was = drawn_image(1, kind, exif=exif(orientation))
    now = without_metadata(was, kind)
    assert NAME not in now and without_metadata(now, kind) == now
    with Image.open(io.BytesIO(was)) as one, Image.open(io.BytesIO(now)) as two:
        assert ImageOps.exif_transpose(one).tobytes() == ImageOps.exif_transpose(two).tobytes()


def test_colour_profiles_are_kept_and_trailing_bytes_removed() -> None:
    from PIL import ImageCms

    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    for kind in ("JPEG", "PNG", "WEBP"):
        was = drawn_image(2, kind, icc_profile=profile)
        now = without_metadata(was + (NAME if kind != "WEBP" else b""), kind)
        with Image.open(io.BytesIO(now)) as image:
            assert image.info["icc_profile"] == profile
        assert NAME not in now


@pytest.mark.parametrize("name", SIGNED)
@given(data=st.data())
def test_a_damaged_file_is_unreadable_or_clean_and_never_crashes_the_scan(name: str, data: st.DataObject) -> None:
    whole, kind = SIGNED[name], name.split()[0]
    cut = data.draw(st.integers(0, len(whole) - 1))
    swapped = bytearray(whole)
    swapped[cut] ^= data.draw(st.integers(1, 255))
    for spoiled in (whole[:cut], bytes(swapped)):
        try:
            without_metadata(spoiled, kind)
        except Unreadable:
            pass
