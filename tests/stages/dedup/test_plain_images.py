"""A hash without contrast is no evidence: plain images are the same only if their pixels are."""

from __future__ import annotations

import io
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as trying
from hypothesis import strategies as st
from PIL import Image

from components.stages.dedup import PerceptualHash
from components.vision.features import ImageFeatures
from components.web.images.contrast import EXACT, has_contrast
from components.web.images.image import decode_image
from tests.stages.dedup.support import dedup, encoded, post, settings, verdicts
from tests.stages.dedup.support import drawn_image as shapes

COLOURS = {"white": (255, 255, 255), "blue": (20, 40, 200), "red": (200, 30, 30), "pale": (250, 250, 255)}
BY_HASH = settings(signal=PerceptualHash(max_distance=6), posts=None)


def sheet(colour: tuple[int, int, int], size: tuple[int, int] = (200, 150)) -> Image.Image:
    return Image.new("RGB", size, colour)


def barred(image: Image.Image, across: int, down: int) -> Image.Image:
    """Between black bars at the sides and above and below."""
    ground = Image.new("RGB", (image.width + 2 * across, image.height + 2 * down))
    ground.paste(image, (across, down))
    return ground


def noisy(image: Image.Image, seed: int = 0) -> Image.Image:
    grain = np.random.default_rng(seed).normal(0, 3, (image.height, image.width, 3))
    return Image.fromarray((np.asarray(image) + grain).clip(0, 255).astype(np.uint8))


def saved(image: Image.Image, kind: str, **options: object) -> bytes:
    target = io.BytesIO()
    image.save(target, kind, **options)
    return target.getvalue()


def phash(image: Image.Image, kind: str = "PNG") -> str:
    return decode_image(encoded(image, kind)).phash


BORDERS = st.integers(0, 90)


@trying(deadline=None, max_examples=60)
@given(st.tuples(*[st.integers(0, 255)] * 3), BORDERS, BORDERS, st.sampled_from(["PNG", "JPEG", "WEBP", "GIF"]))
def test_plain_sheets_have_no_contrast_whatever_their_colour_bars_and_format(colour, across, down, kind):
    assert phash(barred(sheet(colour), across, down), kind).startswith(EXACT)


@pytest.mark.parametrize("colour", COLOURS.values())
def test_noise_does_not_give_a_plain_sheet_contrast(colour):
    assert not has_contrast(noisy(sheet(colour))) and not has_contrast(barred(noisy(sheet(colour)), 30, 20))


def test_transparent_images_and_empty_first_frames_have_no_contrast():
    clear = Image.new("RGBA", (64, 64), (9, 9, 9, 0))
    animation = saved(sheet(COLOURS["white"]), "GIF", save_all=True, append_images=[shapes(1).resize((200, 150))])
    assert phash(clear).startswith(EXACT) and decode_image(animation).phash.startswith(EXACT)


@pytest.mark.parametrize("seed", range(6))
def test_images_with_shapes_have_contrast_between_bars_too_and_when_faint(seed):
    for image in (shapes(seed), barred(shapes(seed), 0, 40), shapes(seed).point(lambda level: 200 + level // 8)):
        assert has_contrast(image) and len(phash(image)) == 16 and not phash(image).startswith(EXACT)


def test_a_small_detail_makes_another_image_of_a_large_plain_one():
    large = sheet((255, 255, 255), (1600, 1200))
    marked = large.copy()
    marked.putpixel((1300, 900), (0, 0, 0))
    hashes = [phash(large), phash(marked), phash(sheet((255, 255, 255)))]
    assert all(text.startswith(EXACT) for text in hashes) and len(set(hashes)) == 3


def test_equal_pixels_have_equal_digests_in_any_format_and_mode():
    grey, files = sheet((90, 90, 90)), {"WEBP": {"lossless": True}, "PNG": {}, "JPEG": {}}
    versions = [saved(image, kind, **files[kind]) for image in (grey, grey.convert("L")) for kind in files]
    assert len({decode_image(data).phash for data in [*versions, encoded(grey.quantize(4), "GIF")]}) == 1


# -- in dedup --------------------------------------------------------------------------------------------------------------


def shown(name: str, data: bytes, shard: int, words: str = "Uma folha de papel lisa sobre a mesa") -> dict:
    return post(name, data, words, shard, phash=decode_image(data).phash)


SIGNALS = {
    "hash": BY_HASH,
    "aligned": settings(posts=None),
    "posts": settings(posts=settings().posts.model_copy(update={"image_distance": 0.9})),
    "posts by signal": settings(posts=settings().posts.model_copy(update={"image_distance": 0.9, "same_image": "signal"})),
}
"""Thresholds at which the features of any two sheets are close."""


@pytest.fixture(scope="module")
def network() -> None:
    """Loaded once, before the workers are forked."""
    ImageFeatures().compute((encoded(shapes(0)), "", 0))


def decided(tmp_path, params) -> None:
    sheets = {name: encoded(sheet(colour)) for name, colour in COLOURS.items()}
    again = {"white-bytes": sheets["white"], "white-jpeg": encoded(sheet(COLOURS["white"]), "JPEG")}
    barred_ones = {f"barred-{name}": encoded(barred(sheet(COLOURS[name]), 20, 30)) for name in ("blue", "red")}
    images = [*{**sheets, **again, **barred_ones}.items()]
    shards = [[shown(name, data, shard) for name, data in part] for shard, part in enumerate((images[:3], images[3:]))]
    done, _ = dedup(tmp_path, shards, params)
    dropped = {name: detail for name, (rule, *_, detail) in verdicts(done).items() if rule}
    assert sorted(dropped) == ["white-bytes", "white-jpeg"], dropped
    groups = {row["key"]: row["group"] for row in done.table().to_pylist()}
    assert len(set(groups.values())) == len(groups) == 6


def test_different_plain_sheets_with_one_caption_are_different_images_by_hash(tmp_path):
    decided(tmp_path, BY_HASH)


@pytest.mark.long
@pytest.mark.parametrize("signal", [name for name in SIGNALS if name != "hash"])
def test_different_plain_sheets_with_one_caption_are_different_images_by_every_signal(tmp_path, network, signal):
    decided(tmp_path, SIGNALS[signal])


def test_a_digest_is_near_no_hash(tmp_path):
    words = "Uma folha"
    digest, near = "=" + "0" * 15, "0" * 16
    rows = [post(f"{n}", f"{n}".encode(), words, phash=text) for n, text in enumerate((digest, near, "=" + "0" * 14 + "1"))]
    done, _ = dedup(tmp_path, [[{k: v for k, v in row.items() if k != "data"} for row in rows]], BY_HASH)
    assert [verdict[0] for verdict in verdicts(done).values()] == ["", "", ""]
    assert len({row["group"] for row in done.table().to_pylist()}) == len(list(itertools.pairwise("0123")))
