"""Transfer and content encodings of bodies are removed; broken and unknown ones are reported."""

from __future__ import annotations

import gzip
import zlib

import brotli
import pytest
from backports import zstd
from hypothesis import given, settings
from hypothesis import strategies as st

from components.web.archives.encodings import CODINGS
from tests.support.web.archive_samples import CHUNKED, OK, PAGE, bare, encoded, read, record, urls
from tests.support.web.archived import skippable


@pytest.mark.parametrize(
    ("coding", "body", "transfer"),
    [
        ("gzip", gzip.compress(PAGE, mtime=0), ""),
        ("deflate", zlib.compress(PAGE), ""),
        ("deflate", bare(PAGE), ""),
        ("gzip", PAGE, ""),  # decoded by the crawler, and the header left
        ("br", PAGE, ""),
        ("", CHUNKED, "chunked"),
        ("", PAGE, "chunked"),
        ("gzip, deflate", zlib.compress(gzip.compress(PAGE, mtime=0)), ""),
    ],
)
def test_content_encodings_are_removed_if_present(coding, body, transfer):
    status, body = encoded(coding, body, transfer)
    assert read(record(body=body, status=status))[0].candidates[0].alt == "A red kite"


@pytest.mark.parametrize(
    ("coding", "body", "transfer"),
    [
        ("gzip", gzip.compress(PAGE * 9, mtime=0)[:-20], ""),
        ("gzip", gzip.compress(PAGE, mtime=0)[:20] + b"\xff" * 30, ""),
        ("deflate", b"\x78\x9c\xff\xff\xff", ""),
        ("br", b"\x0b\x02\x80", ""),
        ("", CHUNKED[:30], "chunked"),
        ("", CHUNKED.replace(b"\r\n0\r\n", b"\r\nzz\r\n"), "chunked"),
    ],
)
def test_broken_encodings_are_reported_and_reading_continues(coding, body, transfer):
    status, body = encoded(coding, body, transfer)
    pages = read(record(body=body, status=status) + record())
    assert urls(pages) == ["bad_encoding", "http://a.sample/p"]
    assert pages[0].url == "http://a.sample/p" and pages[0].detail


def zipped(coding, data):
    if coding == "br":
        return brotli.compress(data)
    return zstd.compress(data) if coding == "zstd" else gzip.compress(data, mtime=0)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from(["br", "zstd", "gzip", "identity"]), min_size=1, max_size=CODINGS), st.booleans(), st.binary())
def test_nested_encodings_are_removed(codings, chunked, filling):
    body = PAGE + filling
    for coding in codings:
        body = zipped(coding, body) if coding != "identity" else body
    head = [*OK[1], ("Content-Encoding", ", ".join(codings))]
    if chunked:
        head.append(("Transfer-Encoding", "chunked"))
        body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    assert read(record(body=body, status=("200 OK", head)))[0].candidates[0].alt == "A red kite"


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("zstd", zstd.compress(PAGE[:9]) + skippable(b"x", 0x50) + zstd.compress(PAGE[9:])),
        ("zstd", PAGE),  # decoded by the crawler, and the header left
        ("br", b" \n" + PAGE),
    ],
)
def test_bodies_in_several_frames_or_decoded_already_are_read(coding, body):
    assert read(record(body=body, status=("200 OK", [*OK[1], ("Content-Encoding", coding)])))[0].candidates[0].alt == "A red kite"


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("zstd", zstd.compress(PAGE * 9)[:-4]),
        ("zstd", zstd.compress(b"")[:4] + b"\xff" * 30),
        ("zstd", skippable(b"x" * 99, 0x50)[:30]),
        ("br", brotli.compress(PAGE * 9)[:-4]),
        ("br", b"\xff" * 30),
        ("dcz", b"\x5e\x2a\x4d\x18"),
        (", ".join(["gzip"] * (CODINGS + 1)), zipped("gzip", PAGE)),
    ],
)
def test_broken_or_unknown_encodings_are_reported(coding, body):
    status = ("200 OK", [*OK[1], ("Content-Encoding", coding)])
    assert urls(read(record(body=body, status=status) + record())) == ["bad_encoding", "http://a.sample/p"]
