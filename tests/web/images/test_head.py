"""The header parser reads what a decoder reads, never past its bytes, and never raises."""

from __future__ import annotations

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from components.web.images.head import Head, read_head

OPTIONS = {
    "jpeg": ("JPEG", {}),
    "progressive": ("JPEG", {"progressive": True}),
    "camera jpeg": ("JPEG", {"exif": b"Exif\0\0" + bytes(40_000), "icc_profile": bytes(90_000), "comment": b"\xff\xc0" * 50}),
    "png": ("PNG", {}),
    "gif": ("GIF", {"comment": b"x" * 600}),
    "webp": ("WEBP", {}),
    "lossless webp": ("WEBP", {"lossless": True}),
    "extended webp": ("WEBP", {"exif": b"Exif\0\0" + bytes(30)}),
}


def drawn(kind: str, width: int, height: int) -> bytes:
    name, options = OPTIONS[kind]
    buffer = io.BytesIO()
    Image.effect_noise((width, height), 50).convert("P" if name == "GIF" else "RGB").save(buffer, name, **options)
    return buffer.getvalue()


SAMPLES = {kind: drawn(kind, 37, 21) for kind in OPTIONS}


@settings(max_examples=80, deadline=None)
@given(st.sampled_from(sorted(OPTIONS)), st.integers(1, 400), st.integers(1, 400))
def test_the_size_equals_the_decoders(kind, width, height):
    assert read_head(drawn(kind, width, height)) == Head(OPTIONS[kind][0], width, height)


def test_a_gif_frame_beyond_its_screen_enlarges_it():
    data = bytearray(drawn("gif", 60, 50))
    data[6:10] = b"\x01\0\x01\0"
    with Image.open(io.BytesIO(data)) as image:
        head = read_head(bytes(data))
        assert head is not None and (head.width, head.height) == image.size == (60, 50)


def test_reading_a_jpeg_of_fill_bytes_terminates():
    assert read_head(b"\xff\xd8" + b"\xff" * 200_000) is None
    assert read_head(b"\xff\xd8" + b"\xff" * 200_000, last=True) == Head("JPEG")


def test_any_number_of_fill_bytes_before_a_marker_is_skipped():
    data = SAMPLES["jpeg"]
    assert read_head(data[:2] + b"\xff" * 200_000 + data[2:]) == Head("JPEG", 37, 21)


@pytest.mark.parametrize(
    ("kind", "start", "step"),
    [
        ("jpeg", 2, b"\xff\xd0"),
        ("jpeg", 2, b"\xff\xfe\0\2"),
        ("gif", -1, b"\x21\xfe\0"),
        ("gif", -1, b"\x21\xfe" + b"\1x" * 9 + b"\0"),
    ],
)
def test_the_number_of_header_parts_is_limited(kind, start, step):
    data = SAMPLES[kind]
    start = start if start > 0 else 13 + (3 << (data[10] & 7) + 1)  # behind the screen's palette
    assert read_head(data[:start] + step * 300 + data[start:]) == Head(OPTIONS[kind][0], 37, 21)
    endless = data[:start] + step * 200_000 + data[start:]
    assert read_head(endless) == Head(OPTIONS[kind][0]) == read_head(endless, last=True)
