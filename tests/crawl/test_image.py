"""One decode tells what an image is; nothing about it is believed."""

from __future__ import annotations

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from components.crawl.image import hamming, look
from tests.crawl.fixture_web import picture

SCENE, OTHER = ("red", "house", "on a green field"), ("blue", "fish", "in the snow at night")
JPEG, PNG = picture(SCENE), picture(SCENE, kind="PNG")


def test_a_whole_image_is_measured_by_its_content():
    facts = look(JPEG)
    with Image.open(io.BytesIO(JPEG)) as image:
        assert (facts.reason, facts.format, facts.width, facts.height, facts.bytes) == ("", "JPEG", *image.size, len(JPEG))
    assert len(facts.phash) == 16 and look(PNG).format == "PNG"


@pytest.mark.parametrize("data", [JPEG, PNG], ids=["jpeg", "png"])
@pytest.mark.parametrize("part", [0.02, 0.3, 0.6, 0.95])
def test_a_truncated_image_is_told(data, part):
    assert look(data[: int(len(data) * part)]).reason == "truncated_image"


@pytest.mark.parametrize(
    ("data", "reason", "detail"),
    [
        (b"", "not_an_image", "empty"),
        (b"<!DOCTYPE html><p>x", "not_an_image", "html"),
        (b"hello", "not_an_image", "unknown"),
        (b'<svg xmlns="x">', "foreign_image", "SVG"),
        (b"II*\x00", "foreign_image", "TIFF"),
        (b"\0\0\0\x20ftypavif", "foreign_image", "AVIF/HEIF"),
    ],
)
def test_what_is_no_image_or_a_foreign_one_is_told(data, reason, detail):
    assert (look(data).reason, look(data).detail) == (reason, detail)


def test_a_decompression_bomb_is_not_opened():
    buffer = io.BytesIO()
    Image.new("1", (12_000, 12_000)).save(buffer, "PNG")
    assert look(buffer.getvalue()).reason == "image_too_large"


@settings(max_examples=60)
@given(
    st.binary(max_size=60),
    st.sampled_from([b"", b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF89a", b"RIFF\0\0\0\0WEBP"]),
    st.integers(0, 3000),
)
def test_no_bytes_raise(noise, start, cut):
    assert look(start + noise).reason
    look(PNG[:cut] + noise + PNG[cut + len(noise) :])


def test_the_hash_is_near_for_the_same_picture_and_far_for_another():
    with Image.open(io.BytesIO(PNG)) as image:
        small = io.BytesIO()
        image.resize((image.width // 2, image.height // 2)).save(small, "JPEG", quality=60)
    assert hamming(look(PNG).phash, look(JPEG).phash) <= 2
    assert hamming(look(PNG).phash, look(small.getvalue()).phash) <= 6
    assert hamming(look(PNG).phash, look(picture(OTHER)).phash) >= 16


def test_transparency_is_seen_over_white():
    clear, white = io.BytesIO(), io.BytesIO()
    Image.new("RGBA", (50, 50), (0, 0, 0, 0)).save(clear, "PNG")
    Image.new("RGB", (50, 50), (255, 255, 255)).save(white, "PNG")
    assert look(clear.getvalue()).phash == look(white.getvalue()).phash
