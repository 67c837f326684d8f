"""One decode tells what an image is; nothing about it is believed."""

from __future__ import annotations

import base64
import io

import pytest
from PIL import Image

from components.web.images.image import decode_image, perceptual_hash
from tests.support.crawl.fixture_web import drawn_image, hamming
from tests.support.web.photographs import photograph

SCENE, OTHER = ("red", "house", "on a green field"), ("blue", "fish", "in the snow at night")
JPEG, PNG = drawn_image(SCENE), drawn_image(SCENE, kind="PNG")


def test_a_whole_image_is_measured_by_its_content():
    facts = decode_image(JPEG)
    with Image.open(io.BytesIO(JPEG)) as image:
        assert (facts.reason, facts.format, facts.width, facts.height, facts.bytes) == ("", "JPEG", *image.size, len(JPEG))
    assert len(facts.phash) == 16 and decode_image(PNG).format == "PNG"


@pytest.mark.parametrize("data", [JPEG, PNG], ids=["jpeg", "png"])
@pytest.mark.parametrize("part", [0.02, 0.3, 0.6, 0.95])
def test_a_truncated_image_is_reported(data, part):
    assert decode_image(data[: int(len(data) * part)]).reason == "truncated_image"


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
def test_other_content_and_foreign_formats_are_reported(data, reason, detail):
    assert (decode_image(data).reason, decode_image(data).detail) == (reason, detail)


def test_a_decompression_bomb_is_not_opened():
    buffer = io.BytesIO()
    Image.new("1", (12_000, 12_000)).save(buffer, "PNG")
    assert decode_image(buffer.getvalue()).reason == "image_too_large"


def test_the_hash_distance_is_small_for_the_same_image_and_large_for_another():
    with Image.open(io.BytesIO(PNG)) as image:
        small = io.BytesIO()
        image.resize((image.width // 2, image.height // 2)).save(small, "JPEG", quality=60)
    assert hamming(decode_image(PNG).phash, decode_image(JPEG).phash) <= 2
    assert hamming(decode_image(PNG).phash, decode_image(small.getvalue()).phash) <= 6
    assert hamming(decode_image(PNG).phash, decode_image(drawn_image(OTHER)).phash) >= 16


KINDS = {
    "baseline": {},
    "progressive": {"progressive": True},
    "full colour": {"subsampling": 0},
    "restart marks": {"restart_marker_rows": 1},
}


@pytest.mark.parametrize("kind", KINDS)
def test_truncation_is_detected_at_a_reduced_scale(kind):
    data = photograph(1200, 900, **KINDS[kind])
    assert decode_image(data).reason == ""
    cuts = [len(data) * part // 20 for part in range(1, 20)] + [len(data) - 200, len(data) - 50]
    assert {decode_image(data[:cut]).reason for cut in cuts} == {"truncated_image"}


def test_truncation_is_detected_wherever_a_full_decode_detects_it():
    """Even in the last bytes, where an image may be whole without them."""
    for options in KINDS.values():
        data = photograph(700, 500, **options)
        for cut in range(len(data) - 60, len(data)):
            try:
                with Image.open(io.BytesIO(data[:cut])) as image:
                    image.load()
                whole = True
            except OSError:
                whole = False
            assert (decode_image(data[:cut]).reason == "") is whole, (options, len(data) - cut)


@pytest.mark.parametrize("size", [(1200, 900), (640, 480), (3000, 400), (257, 300)])
def test_the_hash_of_a_reduced_decode_is_close_to_that_of_a_full_one(size):
    data = photograph(*size)
    with Image.open(io.BytesIO(data)) as image:
        assert hamming(decode_image(data).phash, perceptual_hash(image)) <= 4


def test_a_thumbnail_is_close_to_its_image():
    facts = decode_image(photograph(1200, 900))
    with Image.open(io.BytesIO(base64.b64decode(facts.thumbnail))) as small:
        assert small.size == (128, 96) and hamming(perceptual_hash(small), facts.phash) <= 4
