"""Checks of HTTP answers: heads, robots.txt, sitemaps, consent statements; and of the store's own files after a crash."""

from __future__ import annotations

import gzip
import io
import math
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from tests.fuzz.checks.common import PAGE, address, storable

ADDRESSES = (PAGE, "https://a.sample/", "http://a.sample/a/b*c$d?e=%20&f", "http://b.sample:8080/%E6%97%A5/x.html")


def robots(data: bytes) -> None:
    """Check that any robots.txt yields usable rules."""
    from components.web.robots import Rules

    for status in (200, 404, 429, 503):
        rules = Rules.of(status, data, "hearsight")
        for url in ADDRESSES:
            assert isinstance(rules.allow(url), bool)
            storable(rules.statements(url))
        assert math.isfinite(rules.delay) and rules.delay >= 0, "no delay can be kept"
        assert isinstance(rules.named, bool)
        storable(rules.sitemaps)


def sitemap(data: bytes) -> None:
    """Check that any sitemap, plain and gzipped, yields addresses or a problem."""
    from components.web.sitemaps import MAX_URLS, read_sitemap

    result = read_sitemap(data, "http://a.sample/sitemap.xml")
    storable(result)
    for listed in (result.pages, result.sitemaps):
        for url in listed:
            address(url)
    assert len(result.pages) + len(result.sitemaps) <= MAX_URLS
    assert result.problem or result.pages or result.sitemaps
    if data[:2] != b"\x1f\x8b":
        packed = read_sitemap(gzip.compress(data, 0), "http://a.sample/sitemap.xml")
        assert (packed.pages, packed.sitemaps) == (result.pages, result.sitemaps), "gzipped it lists something else"


def manners(data: bytes) -> None:
    """Check that any header, meta tag (first line) and tdmrep.json (the rest) yields consent statements or none."""
    from components.web.consent.policy import RULES, Policy
    from components.web.consent.reservations import Reservations
    from components.web.consent.statements import parse_header_statements, parse_meta_statements

    line, _, rest = data.partition(b"\n")
    result = line.decode("utf-8", "surrogateescape")
    for statements in (
        parse_header_statements(result.replace("\t", "\n"), result, f"content-usage: {result}\nlink: {result}"),
        parse_meta_statements([("robots", result), ("hearsight", result), ("tdm-reservation", result)], "hearsight"),
    ):
        refused = Policy().find_refusal(statements, "http://a.sample/")
        assert refused is None or refused[0] in RULES
        assert isinstance(Policy().gives_consent(statements, "http://a.sample/"), bool)
    rules = Reservations.of(rest)
    for url in ADDRESSES:
        assert rules.stated(url)[0] in (True, False, None)


def licence(data: bytes) -> None:
    """Check that any licence of RSL refuses and allows known uses, and none at once."""
    from components.web.consent.rsl import read_licence
    from components.web.consent.uses import ALL

    for url in ADDRESSES:
        refused, allowed = read_licence(data.decode("utf-8", "replace"), url)
        assert refused | allowed <= ALL and not refused & allowed


@cache
def _loop() -> Any:
    import asyncio

    return asyncio.new_event_loop()


def heads(data: bytes) -> None:
    """Check that any head that aiohttp accepts is stored and read back unchanged."""
    from aiohttp.base_protocol import BaseProtocol
    from aiohttp.http_exceptions import HttpProcessingError
    from aiohttp.http_parser import HttpResponseParser

    from components.core.digests import sha256_bytes
    from components.web.warc import (
        Entry,
        build_record,
        decode_wire,
        http_headers,
        index_headers,
        parse_entry,
        select_headers,
        split_record,
    )

    parser = HttpResponseParser(BaseProtocol(_loop()), _loop(), 2**16, read_until_eof=True, auto_decompress=False)
    try:
        messages, _, _ = parser.feed_data(data)
    except (HttpProcessingError, ValueError):  # what the fetcher takes for bad_http
        return
    body = b"body"
    for message, _ in messages:
        if message.code < 100:  # what the fetcher takes for bad_http, too
            continue
        headers = [(decode_wire(name), decode_wire(value)) for name, value in message.raw_headers]
        result = select_headers(index_headers(headers))
        entry = Entry(PAGE, message.code, sha256=sha256_bytes(body), bytes=len(body), **result)
        storable(entry)
        reason = decode_wire((message.reason or "").encode("utf-8", "surrogateescape"))
        record = gzip.decompress(build_record(entry, body, headers, reason))
        again = parse_entry(*split_record(record), "segment", 0, 0)
        assert again.status == entry.status and again.sha256 == entry.sha256
        assert {name: getattr(again, name) for name in result} == result, "an answer reads back as another"
        assert http_headers(record) == headers, "headers read back as others"


def segment(data: bytes) -> None:
    """Check that any stored record, damaged or not, is read as an entry or rejected."""
    from components.web.warc import Entry, http_headers, parse_entry, read_member, split_record

    member = read_member(io.BytesIO(gzip.compress(data, 0)))
    assert member is not None and member[0] == data
    try:
        entry = parse_entry(*split_record(data), "segment", 0, 0)
        http_headers(data)
    except (ValueError, KeyError, TypeError, IndexError):
        return
    assert isinstance(entry, Entry)
    read_member(io.BytesIO(data))


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None)


def index(data: bytes) -> None:
    """Check that any index file, damaged or not, yields entries whose records can be located."""
    from components.web.segments import read_index

    folder = Path(_folder().name)
    (folder / "index.jsonl").write_bytes(data)
    entries, whole = read_index(folder, {"0001.warc.gz": 10_000})
    assert isinstance(whole, bool)
    for entry in entries:
        assert entry.segment == "0001.warc.gz" and entry.offset + entry.length <= 10_000
