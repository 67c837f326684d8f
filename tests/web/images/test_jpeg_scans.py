"""The means of a progressive JPEG are the image's, and what steps over its detail misses no fault a decoder tells."""

from __future__ import annotations

import io
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from components.web.images import image, opening
from components.web.images.image import decode_image
from components.web.images.jpeg_scans import extract_mean_scans
from tests.support.crawl.fixture_web import drawn_image, hamming

SIDE = 8 * 96
"""px from which on an image is decoded at an eighth."""


def progressive(mode: str = "RGB", **how: object) -> bytes:
    """A grainy progressive JPEG of 800 × 768 px."""
    with Image.open(io.BytesIO(drawn_image(("red", "house", "on a green field"), kind="PNG"))) as small:
        large = small.convert("RGB").resize((800, SIDE), Image.Resampling.BICUBIC)
    grain = Image.effect_noise(large.size, 30).convert("RGB")
    buffer = io.BytesIO()
    Image.blend(large, grain, 0.2).convert(mode).save(buffer, "JPEG", progressive=True, quality=80, **how)
    return buffer.getvalue()


WHOLE = progressive()
KINDS = {
    "colour": WHOLE,
    "full colour": progressive(subsampling=0),
    "grey": progressive("L"),
    "print": progressive("CMYK"),
    "restarts": progressive(restart_marker_rows=1),
    "exif": progressive(exif=b"Exif\0\0II*\0\x08\0\0\0\1\0\x12\1\3\0\1\0\0\0\6\0\0\0\0\0\0\0"),
}


def decoded_wholly(data: bytes) -> image.Facts:
    """What a look at every byte says."""
    with mock.patch.object(opening, "extract_mean_scans", lambda _: None):
        return decode_image(data)


def eighth(data: bytes) -> np.ndarray:
    """The brightness at an eighth of the size."""
    with Image.open(io.BytesIO(data)) as opened:
        opened.draft(None, (96, 96))
        return np.asarray(opened.convert("YCbCr" if opened.mode == "RGB" else opened.mode))[..., :1].astype(int)


@pytest.mark.parametrize("kind", KINDS)
def test_the_means_equal_those_of_a_full_decode(kind):
    data = KINDS[kind]
    means = extract_mean_scans(data)
    assert means is not None and len(means) < len(data) / 4
    assert np.abs(eighth(means) - eighth(data)).max() <= 1
    facts, whole = decode_image(data), decoded_wholly(data)
    size = (SIDE, 800) if kind == "exif" else (800, SIDE)
    assert (facts.reason, facts.width, facts.height, facts.sha256) == ("", *size, whole.sha256)
    assert hamming(facts.phash, whole.phash) <= 2


def test_only_a_progressive_file_has_means():
    plain = drawn_image(("red", "house", "on a green field"))
    assert extract_mean_scans(plain) is None and extract_mean_scans(b"") is None and extract_mean_scans(plain[:2]) is None


@pytest.mark.parametrize("part", [0.01, 0.1, 0.3, 0.6, 0.9, 0.999])
def test_a_truncated_progressive_jpeg_is_reported(part):
    assert decode_image(WHOLE[: int(len(WHOLE) * part)]).reason == "truncated_image"


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_a_damaged_jpeg_has_the_verdict_of_a_full_decode(data):
    at = data.draw(st.one_of(st.integers(0, 800), st.integers(0, len(WHOLE))))
    cut = data.draw(st.integers(0, 40))
    noise = data.draw(st.binary(max_size=12))
    damaged = WHOLE[:at] + noise + WHOLE[at + cut :]
    assert decode_image(damaged).reason == decoded_wholly(damaged).reason


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_a_damaged_marker_has_the_verdict_of_a_full_decode(data):
    marks = [at for at in range(len(WHOLE) - 1) if WHOLE[at] == 0xFF and WHOLE[at + 1] not in (0, 0xFF)]
    at = data.draw(st.sampled_from(marks)) + data.draw(st.integers(1, 40))
    damaged = bytearray(WHOLE)
    damaged[min(at, len(WHOLE) - 1)] = data.draw(st.integers(0, 255))
    assert decode_image(bytes(damaged)).reason == decoded_wholly(bytes(damaged)).reason


def test_a_jpeg_of_very_many_scans_is_decoded_completely():
    at, end = WHOLE.rindex(b"\xff\xda"), WHOLE.rindex(b"\xff\xd9")
    many = [WHOLE[:end] + WHOLE[at:end] * count + WHOLE[end:] for count in (50, 150)]
    assert extract_mean_scans(many[0]) == extract_mean_scans(WHOLE) and extract_mean_scans(many[1]) is None
