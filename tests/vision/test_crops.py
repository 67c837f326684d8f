"""Images of any size are cropped or padded as the paper of retrieval says, and always come out side × side."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from PIL import Image

from components.core.errors import HearsightError
from components.vision.crops import (
    LEAST_AREA,
    Window,
    crop_window,
    distort,
    evaluation_view,
    evaluation_window,
    training_view,
    training_window,
)
from components.vision.training_images import open_image

SIDES = st.integers(1, 100_000)
SEEDS = st.integers(0, 2**32)


def brute_covered(window: Window, width: int, height: int, points: int = 400) -> float:
    """The share of an image's points that lie in the window, counted on a grid."""
    across, down = ((np.arange(points) + 0.5) / points * length for length in (width, height))
    inside_x = (across >= window.left) & (across <= window.left + window.side)
    inside_y = (down >= window.top) & (down <= window.top + window.side)
    return float(inside_x.mean() * inside_y.mean())


@given(SIDES, SIDES, SEEDS, st.floats(0.01, 1.0))
@settings(max_examples=300, deadline=None)
@example(1, 1, 0, LEAST_AREA)
@example(100_000, 1, 0, LEAST_AREA)
def test_a_training_window_covers_the_requested_area_for_every_size_and_draw(
    width: int, height: int, seed: int, least: float
) -> None:
    for asked in (LEAST_AREA, least):
        window = training_window(width, height, Random(seed), asked)
        assert asked - 1e-9 <= window.covered(width, height) <= 1 + 1e-9
        assert window.side <= max(width, height) + 1e-9
        assert abs(window.covered(width, height) - brute_covered(window, width, height)) < 0.01


@given(SIDES, SIDES, SEEDS)
@settings(max_examples=100, deadline=None)
def test_a_window_cuts_or_pads_each_way_and_never_both(width: int, height: int, seed: int) -> None:
    window = training_window(width, height, Random(seed))
    for begin, length in ((window.left, width), (window.top, height)):
        within = begin >= -1e-6 and begin + window.side <= length + 1e-6
        around = begin <= 1e-6 and begin + window.side >= length - 1e-6
        assert within or around


def test_the_share_covered_is_uniform_and_squares_are_cropped_long_images_padded() -> None:
    source = Random(5)
    for width, height in ((300, 300), (400, 300), (900, 300)):
        shares = np.sort([training_window(width, height, source).covered(width, height) for _ in range(2000)])
        expected = LEAST_AREA + (1 - LEAST_AREA) * (np.arange(2000) + 0.5) / 2000
        # Kolmogorov and Smirnov's bound at 1 in a million for 2000 draws is .061 of the range.
        assert np.abs(shares - expected).max() < 0.061 * (1 - LEAST_AREA)
        sides = [training_window(width, height, source).side for _ in range(500)]
        padded = sum(side > height for side in sides)
        assert padded == 0 if width == height else padded == 500 if width == 900 else 0 < padded < 500


@given(SIDES, SIDES)
@settings(max_examples=100, deadline=None)
def test_evaluation_uses_the_central_square_or_the_whole_image(width: int, height: int) -> None:
    centre, whole = evaluation_window(width, height), evaluation_window(width, height, "whole")
    assert centre.side == min(width, height) and whole.covered(width, height) == 1.0
    assert centre.covered(width, height) == pytest.approx(min(width, height) / max(width, height))
    for window in (centre, whole):
        assert 2 * window.left + window.side == width and 2 * window.top + window.side == height


def thirds(width: int, height: int) -> Image.Image:
    """Red, green and blue from left to right."""
    image = Image.new("RGB", (width, height))
    for number, colour in enumerate(("red", "lime", "blue")):
        image.paste(colour, (number * width // 3, 0, (number + 1) * width // 3, height))
    return image


def test_the_pixels_are_those_of_the_window() -> None:
    image = thirds(90, 30)
    # The outermost pixels are mixed with what lies just outside.
    assert (evaluation_view(image, 16)[:, 1:-1] == (0, 255, 0)).all()
    whole = evaluation_view(image, 30, "whole")
    assert (whole[:10] == 255).all() and (whole[20:] == 255).all()
    assert [tuple(whole[15, x]) for x in (3, 15, 27)] == [(255, 0, 0), (0, 255, 0), (0, 0, 255)]
    left = np.asarray(crop_window(image, Window(-30, 0, 30 + 30), 20))
    assert (left[:, :10] == 255).all() and (left[:10, 10:-1] == (255, 0, 0)).all() and (left[10:] == 255).all()


@given(st.integers(1, 3000), st.integers(1, 60), st.booleans(), st.integers(1, 80), SEEDS)
@settings(max_examples=60, deadline=None)
@example(1, 1, False, 1, 0)
def test_any_image_is_resized_to_the_requested_size(width: int, height: int, turned: bool, side: int, seed: int) -> None:
    image = Image.new("RGB", (height, width) if turned else (width, height), "teal")
    for result in (
        training_view(image, side, Random(seed)),
        evaluation_view(image, side),
        evaluation_view(image, side, "whole"),
    ):
        assert result.shape == (side, side, 3) and result.dtype == np.uint8
        # However thin it is, something of the image is left.
        assert (result[..., 0] < 200).any()


def test_equal_draws_give_equal_pixels_and_others_do_not() -> None:
    image = thirds(70, 50)
    one, again, other = (training_view(image, 40, Random(seed)) for seed in (1, 1, 2))
    assert (one == again).all() and not (one == other).all()
    assert (evaluation_view(image, 40) == evaluation_view(image, 40)).all()


@given(st.binary(min_size=30, max_size=30), SEEDS)
@settings(max_examples=100, deadline=None)
def test_distortion_keeps_hue_and_is_of_the_strength_stated(raw: bytes, seed: int) -> None:
    pixels = np.frombuffer(raw, dtype=np.uint8).reshape(10, 3)
    result = distort(pixels, Random(seed)).astype(int)
    grey = pixels.astype(int)
    order = np.argsort(grey, axis=-1, kind="stable")
    ranked = np.take_along_axis(result, order, axis=-1)
    # Which channel is strongest stays; a value moves by the brightness alone, and by what is clipped.
    assert (np.diff(ranked, axis=-1) >= -1).all()
    assert (np.abs(result.max(-1) - grey.max(-1)) <= 33).all()
    flat = np.repeat(pixels[:, :1], 3, axis=1)
    assert (distort(flat, Random(seed)).max(-1) == distort(flat, Random(seed)).min(-1)).all()


@pytest.mark.parametrize("data", [b"", b"no image"])
def test_invalid_images_give_a_one_line_error(data: bytes) -> None:
    with pytest.raises(HearsightError, match="cannot be decoded as an image") as caught:
        open_image(data, 16, "k1")
    assert "\n" not in str(caught.value)
