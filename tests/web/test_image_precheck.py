"""Images are refused by their headers and first bytes before the rest of the body is fetched."""

from __future__ import annotations

import asyncio
import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.web.budget import Budget
from components.web.image_precheck import Refusal, check_headers, check_size, read_image
from components.web.settings import FetchSettings
from tests.support.web.image_answers import GOOD, LARGE, crawl, drawn, fetched
from tests.support.web.photographs import photograph
from tests.support.web.raw_web import RawWeb, head, plain

LIMITS = FetchSettings(max_image_bytes=1_000_000, min_side=100, max_aspect=2.5)


@pytest.mark.parametrize(
    ("kind", "refused"),
    [
        ("text/html; charset=utf-8", True),
        ("video/mp4", True),
        ("application/json", True),
        ("application/ld+json", True),
        ("APPLICATION/PDF", True),
        ("", False),
        ("image/jpeg", False),
        ("image/x-strange", False),
        ("text/plain", False),
        ("application/octet-stream", False),
        ("nonsense", False),
    ],
)
def test_only_types_that_cannot_be_images_are_refused(kind, refused):
    result = check_headers({"content-type": kind}, LIMITS)
    assert result == (Refusal("not_an_image", kind.partition(";")[0].lower(), "an image type") if refused else None)


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        ((100, 100), None),
        ((250, 100), None),
        ((99, 200), Refusal("image_side", "99 x 200 px", "at least 100 px")),
        ((100, 251), Refusal("image_ratio", "100 x 251 px", "at most 2.5")),
        ((20_000, 20_000), Refusal("image_too_large", "20000 x 20000 px", "89000000 px in all")),
        ((300, 20_001), Refusal("image_too_large", "300 x 20001 px", "20000 px a side")),
    ],
)
def test_a_refusal_states_value_and_threshold(size, expected):
    assert check_size(*size, LIMITS) == expected
    assert check_size(*size, FetchSettings()) == (expected if max(size) >= 20_000 else None)


@settings(max_examples=80, deadline=None)
@given(st.integers(1, 400), st.integers(1, 400), st.integers(1, 160_000), st.integers(1, 400))
def test_px_limits_follow_the_settings(width, height, pixels, side):
    refused = check_size(width, height, FetchSettings(budget=Budget(image_pixels=pixels, image_side=side)))
    assert (refused is None) is (width * height <= pixels and max(width, height) <= side)


def test_a_refused_image_has_a_rule_and_is_mostly_not_transferred(tmp_path):
    wide, bomb = photograph(4000, 700), bytearray(drawn(50, 50))
    bomb[16:24] = (60_000).to_bytes(4, "big") * 2
    large = bytes(3_000_000)
    paths = {
        "/page": lambda _: [head(200, "text/html", len(large)), b"<!doctype html>" + large],
        "/heavy": lambda _: [head(200, "image/jpeg", len(large)), LARGE + large],
        "/endless": lambda _: itertools.chain([head(200, "image/jpeg", None), LARGE], itertools.repeat(bytes(65536))),
        "/other": lambda _: [head(200, "image/jpeg", None), b"II*\0" + large],
        "/noise": lambda _: [head(200, "image/jpeg", None), b"noise" + large],
        "/wide": lambda _: [head(200, "image/jpeg", None), wide + large],
        "/small": lambda _: [head(200, "text/plain", None), drawn(50, 60) + large],
        "/bomb": lambda _: [head(200, "image/png", None), bytes(bomb) + large],
        "/long": lambda _: [head(200, "image/png", None), drawn(20_001, 300) + large],
        "/good": plain(GOOD),
    }
    outcomes, web = fetched(tmp_path, paths, max_image_bytes=2_900_000, min_side=100, max_aspect=2.5)
    assert {path: (o.rule, o.value, o.threshold) for path, o in outcomes.items()} == {
        "/page": ("not_an_image", "text/html", "an image type"),
        "/heavy": ("image_too_large", "3000000 bytes", "2900000 bytes"),
        "/endless": ("image_too_large", "over 2900000 bytes", "2900000 bytes"),
        "/other": ("foreign_image", "TIFF", "a whole JPEG PNG GIF WEBP"),
        "/noise": ("not_an_image", "unknown", "a whole JPEG PNG GIF WEBP"),
        "/wide": ("image_ratio", "4000 x 700 px", "at most 2.5"),
        "/small": ("image_side", "50 x 60 px", "at least 100 px"),
        "/bomb": ("image_too_large", "60000 x 60000 px", "89000000 px in all"),
        "/long": ("image_too_large", "20001 x 300 px", "20000 px a side"),
        "/good": ("", "", ""),
    }
    # The head was sent and, of the body, what the buffers of both sides held at most: sendall never came to its end.
    assert {path for path in paths if path not in ("/good", "/endless") and web.sent.get(path, 0) > 1000} == set()


def test_small_and_wide_images_pass_without_limits(tmp_path):
    paths = {"/small": plain(drawn(20, 30), "image/png"), "/wide": plain(drawn(900, 20), "image/png")}
    outcomes, _ = fetched(tmp_path, paths)
    assert {outcome.rule for outcome in outcomes.values()} == {""}


class Pieces:
    """An answer whose body comes in pieces, as an ``aiohttp.ClientResponse`` gives it."""

    def __init__(self, pieces):
        self.content, self._pieces, self.closed = self, pieces, False

    async def iter_any(self):
        for piece in self._pieces:
            yield piece

    def is_eof(self):
        return False

    def close(self):
        self.closed = True


BODIES = [
    GOOD,
    LARGE,
    drawn(50, 60),
    drawn(400, 90),
    drawn(120, 120, "GIF"),
    b"<html>" + bytes(3000),
    b"x" * 90,
    b"",
    b"\xff\xd8" + b"\xff" * 5000,
]


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(BODIES), st.lists(st.integers(1, 3000), max_size=30), st.sampled_from([400, 5000, 10_000_000]))
def test_the_verdict_does_not_depend_on_how_a_body_is_split(body, steps, most):
    cuts = sorted({min(at, len(body)) for at in itertools.accumulate(steps)} | {0, len(body)})
    pieces = [body[one:two] for one, two in itertools.pairwise(cuts)]
    limits = FetchSettings(max_image_bytes=most, min_side=100, max_aspect=2.5)
    whole, parts = Pieces([body] if body else []), Pieces(pieces)
    expected = asyncio.run(read_image(whole, {}, limits))
    assert asyncio.run(read_image(parts, {}, limits)) == expected
    assert parts.closed is (expected[0] is not None)


def test_a_replay_equals_the_crawl_and_applies_the_current_limits(tmp_path):
    alts = {"/small": "a small one", "/wide": "a wide one", "/good": "a good one"}
    with RawWeb({"/small": plain(drawn(50, 60)), "/wide": plain(drawn(900, 120)), "/good": plain(GOOD)}) as web:
        first = crawl(tmp_path, web, "strict", alts, min_side=100, max_aspect=2.5)
        asked = len(web.asked)
        assert crawl(tmp_path, web, "strict", alts, min_side=100, max_aspect=2.5) == first and len(web.asked) == asked
        assert [first[0][path]["rule"] for path in alts] == ["image_side", "image_ratio", ""]
        assert (first[0]["/small"]["value"], first[0]["/small"]["threshold"]) == ("50 x 60 px", "at least 100 px")
        loose = crawl(tmp_path, web, "loose", alts)
        assert [loose[0][path]["rule"] for path in alts] == ["", "", ""] and loose[2] != first[2]
        assert crawl(tmp_path, web, "loose", alts, min_side=100, max_aspect=2.5)[:2] == first[:2]


def test_bytes_after_an_answer_do_not_change_it(tmp_path):
    smuggled = head(200, "image/jpeg", len(GOOD)).replace(b"Connection: close\r\n", b"")
    junk = b"HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\nContent-Length: 3\r\n\r\nabc"
    outcomes, _ = fetched(tmp_path, {"/smuggled": lambda _: [smuggled, GOOD + junk]})
    assert outcomes["/smuggled"].rule == ""
