"""Every hostile answer to an image request ends as a classified ledger row, and the run continues."""

from __future__ import annotations

import gzip
import itertools
import time
import zlib
from functools import cache

import pytest

from tests.support.web.image_answers import GOOD, LARGE, crawl, drawn, fetched
from tests.support.web.raw_web import RawWeb, head, plain


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
    """A sound image's beginning, then nothing but zeros, packed small."""
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
    # aiohttp reports it at once only if it comes with the head; otherwise the request times out.
    "/bad-chunk": (
        lambda _: [head(200, "image/jpeg", None, "Transfer-Encoding: chunked"), b"zz\r\nx\r\n"],
        {"bad_http", "timeout"},
    ),
    "/trickle": (lambda _: itertools.chain([head(200, "image/jpeg", len(GOOD))], trickle(GOOD)), {"timeout"}),
    # Which of the two ends it first is chance: the time, or the head that began anew in the place of an image.
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


@pytest.mark.long
def test_every_hostile_answer_has_a_row_with_its_class_and_the_run_continues(tmp_path):
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
