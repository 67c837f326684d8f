"""Images are refused by their headers and first bytes, the rest unfetched; what is hostile ends as a row and the run goes on."""

from __future__ import annotations

import asyncio
import gzip
import io
import itertools
import time
import zlib
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from components.web.fetch import Fetcher
from components.web.image_precheck import Limits, Refusal, check_headers, check_size, read_image
from components.web.store import FetchStore
from tests.stages.crawl.conftest import crawled, fetch_settings, fixture_params
from tests.stages.crawl.fixture_web import picture
from tests.support import make_stage
from tests.web.images.test_image import photograph
from tests.web.raw_web import RawWeb, head, plain

GOOD = picture(("red", "house", "on a green field"))
LARGE = photograph(1600, 1200)
LIMITS = Limits(1_000_000, 100, 2.5)


def fetched(tmp_path, paths, **changes):
    """Fetch every path of a raw web as an image; returns (path → outcome, the web)."""
    changes = {"allow_private": True, "retries": 0, "timeout": 3.0} | changes
    with (
        RawWeb(paths) as web,
        FetchStore(tmp_path / "store", writer=True) as store,
        Fetcher(store, fetch_settings(**changes)) as fetcher,
    ):
        fetcher.ensure([web.url(path) for path in paths], "image")
        outcomes = {path: fetcher.answers.outcome(web.url(path)) for path in paths}
        digest = store.digest()
    with FetchStore(tmp_path / "store", writer=True) as store:
        assert store.digest() == digest
    return outcomes, web


def drawn(width, height, name="PNG"):
    buffer = io.BytesIO()
    Image.effect_noise((width, height), 60).save(buffer, name)
    return buffer.getvalue()


# -- refusals ----------------------------------------------------------------------------------------------------------


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
    said = check_headers({"content-type": kind}, LIMITS)
    assert said == (Refusal("not_an_image", kind.partition(";")[0].lower(), "an image type") if refused else None)


@pytest.mark.parametrize(
    ("size", "said"),
    [
        ((100, 100), None),
        ((250, 100), None),
        ((99, 200), Refusal("image_side", "99 x 200 px", "at least 100 px")),
        ((100, 251), Refusal("image_ratio", "100 x 251 px", "at most 2.5")),
        ((20_000, 20_000), Refusal("image_too_large", "20000 x 20000 px", "89000000 px in all")),
        ((300, 20_001), Refusal("image_too_large", "300 x 20001 px", "20000 px a side")),
    ],
)
def test_a_refusal_states_value_and_threshold(size, said):
    assert check_size(*size, LIMITS) == said
    assert check_size(*size, Limits(1)) == (said if max(size) >= 20_000 else None)


@settings(max_examples=80, deadline=None)
@given(st.integers(1, 400), st.integers(1, 400), st.integers(1, 160_000), st.integers(1, 400))
def test_px_limits_follow_the_settings(width, height, pixels, side):
    refused = check_size(width, height, Limits(1, max_pixels=pixels, max_side=side))
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
    limits = Limits(most, 100, 2.5)
    whole, parts = Pieces([body] if body else []), Pieces(pieces)
    expected = asyncio.run(read_image(whole, {}, limits))
    assert asyncio.run(read_image(parts, {}, limits)) == expected
    assert parts.closed is (expected[0] is not None)


def crawl(tmp_path, web, name, alts, **changes):
    """The whole stage over a page of images; returns (alt → ledger row, digest of the output, the snapshot's)."""
    page = "".join(f'<img src="{path}" alt="{alt}">' for path, alt in alts.items())
    web.paths["/"] = plain(b"<!doctype html><title>x</title>" + page.encode(), "text/html")
    host = web.url("").removeprefix("http://")
    values = {"web": "open", "contact": "http://example.org/", "seeds": [web.url("/")], "hosts": [host], "allow_private": True}
    job = make_stage(
        tmp_path, "crawl", params=fixture_params(**values, **{"retries": 0, "snapshot": name, "timeout": 3.0} | changes)
    )
    output = crawled(job)
    rows = [row for row in output.ledger().to_pylist() if row["kind"] == "record"]
    by_path = {path: row for row in rows for path in alts if f"{web.url(path)} on" in row["detail"]}
    assert len(by_path) == len(rows) == len(alts)
    return by_path, output.digest, job.parents[0]["digest"]


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


# -- hostile answers ---------------------------------------------------------------------------------------------------


def trickle(data, pause=0.05):
    for at in range(len(data)):
        time.sleep(pause)
        yield data[at : at + 1]


@cache
def bomb(size=400_000_000):
    packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    return b"".join(packer.compress(bytes(1_000_000)) for _ in range(size // 1_000_000)) + packer.flush()


@cache
def swollen(size=400_000_000):
    """A sound picture's beginning, then nothing but zeros, packed small."""
    packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    return packer.compress(GOOD) + b"".join(packer.compress(bytes(1_000_000)) for _ in range(size // 1_000_000)) + packer.flush()


JUNK = b"HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\nContent-Length: 3\r\n\r\nabc"

HOSTILE = {
    # path: (what is sent, the rules it may end with)
    "/short": (lambda _: [head(200, "image/jpeg", len(GOOD) + 500), GOOD], {"connection"}),
    # The half that was announced, or what comes after it, whichever is seen first.
    "/long": (lambda _: [head(200, "image/jpeg", len(GOOD) // 2), GOOD], {"truncated_image", "bad_http"}),
    "/cut": (lambda _: [head(200, "image/jpeg", None), GOOD[: len(GOOD) // 2]], {"truncated_image"}),
    "/endless": (
        lambda _: itertools.chain([head(200, "image/jpeg", None), LARGE], itertools.repeat(bytes(65536))),
        {"image_too_large"},
    ),
    "/chunks": (
        lambda _: itertools.chain([head(200, "image/jpeg", None, "Transfer-Encoding: chunked")], itertools.repeat(b"1\r\nx\r\n")),
        {"not_an_image"},
    ),
    # aiohttp tells of it at once only when it comes with the head; else the request's time runs out.
    "/bad-chunk": (
        lambda _: [head(200, "image/jpeg", None, "Transfer-Encoding: chunked"), b"zz\r\nx\r\n"],
        {"bad_http", "timeout"},
    ),
    "/trickle": (lambda _: itertools.chain([head(200, "image/jpeg", len(GOOD))], trickle(GOOD)), {"timeout"}),
    # Which of the two ends it first is chance: the time, or the head that began anew in the place of a picture.
    "/trickled-head": (lambda _: trickle(head(200, "image/jpeg", len(GOOD)) * 9, 0.2), {"timeout", "not_an_image"}),
    "/silent": (lambda _: trickle(b"x", 6), {"timeout"}),
    "/gzip-bomb": (lambda _: [head(200, "image/jpeg", len(bomb()), "Content-Encoding: gzip"), bomb()], {"not_an_image"}),
    "/gzip-swollen": (
        lambda _: [head(200, "image/jpeg", len(swollen()), "Content-Encoding: gzip"), swollen()],
        {"image_too_large"},
    ),
    "/gzip-lie": (lambda _: [head(200, "image/jpeg", len(GOOD), "Content-Encoding: gzip"), GOOD], {"bad_encoding"}),
    "/gzip-good": (
        lambda _: [head(200, "image/jpeg", len(gzip.compress(GOOD)), "Content-Encoding: gzip"), gzip.compress(GOOD)],
        {""},
    ),
    "/named-jpeg.jpg": (plain(b"<!doctype html><p>no"), {"not_an_image"}),
    "/said-png": (plain(GOOD, "image/png"), {""}),
    "/said-html": (plain(GOOD, "text/html"), {"not_an_image"}),
    "/lying-size": (
        plain(drawn(50, 60)[:16] + (5000).to_bytes(4, "big") * 2 + drawn(50, 60)[24:], "image/png"),
        {"truncated_image"},
    ),
    "/loop": (lambda _: [head(302, "text/html", 0, "Location: /loop")], {"redirect"}),
    "/to-file": (lambda _: [head(302, "text/html", 0, "Location: file:///etc/passwd")], {"unusable_url"}),
    "/part": (plain(GOOD, status=206), {"http_status"}),
    "/unchanged": (plain(b"", status=304), {"http_status"}),
    "/no-status": (lambda _: [b"\x00\xff\x00 hello\r\n\r\n"], {"bad_http"}),
    "/two-lengths": (
        lambda _: [head(200, "image/jpeg", len(GOOD), "Content-Length: 3"), GOOD],
        {"bad_http"},
    ),
    "/one-header": (lambda _: [b"HTTP/1.1 200 OK\r\nX: " + b"x" * 3_000_000 + b"\r\n\r\n"], {"bad_http"}),
    "/header-flood": (
        lambda _: itertools.chain([b"HTTP/1.1 200 OK\r\n"], (b"X-%d: y\r\n" % at for at in itertools.count())),
        {"bad_http"},
    ),
    "/reset": (lambda _: [head(200, "image/jpeg", len(LARGE)), LARGE[:200_000], None], {"connection"}),
    "/reset-at-once": (lambda _: [None], {"connection"}),
    "/good": (plain(GOOD), {""}),
}


def test_bytes_after_an_answer_do_not_change_it(tmp_path):
    """A web of its own: what comes late is taken for the answer to that server's next request, which is the server's to say."""
    smuggled = head(200, "image/jpeg", len(GOOD)).replace(b"Connection: close\r\n", b"")
    outcomes, _ = fetched(tmp_path, {"/smuggled": lambda _: [smuggled, GOOD + JUNK]})
    assert outcomes["/smuggled"].rule == ""


def test_every_hostile_answer_has_a_classified_row_and_the_run_continues(tmp_path):
    import resource

    bomb(), swollen()  # made before they are asked for: packing takes longer than an answer may
    alts = {path: f"a picture of {path[1:]}" for path in HOSTILE}
    with RawWeb({path: script for path, (script, _) in HOSTILE.items()}) as web:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        rows, digest, parent = crawl(tmp_path, web, "hostile", alts)
        # 400 MB of zeros came in each of two bodies: had one been unpacked whole, it would show here (KiB).
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000
        assert {path: row["rule"] for path, row in rows.items() if row["rule"] not in HOSTILE[path][1]} == {}
        assert all(row["verdict"] == "kept" or (row["value"] and row["threshold"]) for row in rows.values())
        assert crawl(tmp_path, web, "hostile", alts)[1:] == (digest, parent)
    assert {path for path, row in rows.items() if not row["rule"]} == {path for path, (_, may) in HOSTILE.items() if "" in may}
