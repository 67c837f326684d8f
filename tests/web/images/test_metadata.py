"""What is written inside an image's file goes, what draws it stays, and what cannot be taken apart is said to be so."""

from __future__ import annotations

import io
import struct
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


def segment(marker: int, body: bytes) -> bytes:
    return bytes([0xFF, marker]) + struct.pack(">H", 2 + len(body)) + body


def chunk(name: bytes, body: bytes) -> bytes:
    return name + struct.pack("<I", len(body)) + body + b"\0" * (len(body) % 2)


def riff(data: bytes) -> bytes:
    return b"RIFF" + struct.pack("<I", len(data) - 8) + data[8:]


JPEG, WEBP, MOVING, GIF = drawn_image(3), drawn_image(3, "WEBP"), frames("WEBP"), frames("GIF")
FRAME = chunk(b"C2PA", NAME)
HIDDEN = {
    **{f"JPEG marker {each:X}": (JPEG, JPEG[:2] + segment(each, NAME) + JPEG[2:]) for each in (0x02, 0xDC, 0xDE, 0xF0, 0xFD)},
    "JPEG thumbnail": (JPEG, JPEG[:2] + segment(0xE0, JPEG[6:18] + b"\1\4" + NAME + b"M") + JPEG[20:]),
    "JPEG Adobe": (
        JPEG[:20] + segment(0xEE, b"Adobe\0d\0\0\0\0\1") + JPEG[20:],
        JPEG[:20] + segment(0xEE, b"Adobe\0d\0\0\0\0\1" + NAME) + JPEG[20:],
    ),
    **{f"WEBP {name.decode()}": (WEBP, riff(WEBP + chunk(name, NAME))) for name in (b"C2PA", b"META", b"IPTC", b"xmp ")},
    "WEBP frame": (
        MOVING,
        riff(
            MOVING[: (at := MOVING.index(b"ANMF")) + 4]
            + struct.pack("<I", (size := int.from_bytes(MOVING[at + 4 : at + 8], "little")) + len(FRAME))
            + MOVING[at + 8 : at + 8 + size]
            + FRAME
            + MOVING[at + 8 + size :]
        ),
    ),
    "GIF loop": (GIF, GIF.replace(b"NETSCAPE2.0\3\1\0\0", b"NETSCAPE2.0\3\1\0\0" + bytes([len(NAME)]) + NAME)),
    "GIF control": (GIF, GIF[: (at := GIF.index(b"!\xf9\4")) + 7] + bytes([len(NAME)]) + NAME + GIF[at + 7 :]),
}  # fmt: skip


@pytest.mark.parametrize("name", HIDDEN)
def test_a_part_whose_use_is_not_known_is_removed(name: str) -> None:
    (plain, was), kind = HIDDEN[name], name.split()[0]
    assert NAME in was and without_metadata(was, kind) == without_metadata(plain, kind)
    assert pixels(without_metadata(was, kind)) == pixels(plain)


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
