"""No archive takes more than time and memory in proportion to its size: sizes here took minutes or hours before."""

from __future__ import annotations

import gzip
import io
import tracemalloc
import zipfile
import zlib

import brotli
import pytest
from backports import zstd

from components.web.archives import encodings, members, read_stream, records, zstd_members
from components.web.archives.encodings import BadRecord
from components.web.archives.members import Expansion
from components.web.archives.opening import read_fully
from components.web.archives.records import FAULTS, open_members
from components.web.archives.responses import CHUNKS, parse_response
from components.web.budget import Budget
from components.web.charset import find_codec
from tests.support.web.archive_samples import OK, dumped, envelope, read, record, urls, warc
from tests.support.web.archived import skippable, wacz

START = b"WARC/1.0\r\n"
PAIR = record(gzipped=False)


def limited_faults(pages):
    """The failures, of which a row is not told one by one without end."""
    result = urls(pages)
    assert len(result) <= FAULTS + 10
    return result


HEADS = [
    START,
    b"WARC/1.0\n",
    START + b"a:b\r\n",
    b"WARC/1.0\nContent-Length: 9999999\n\n",
    b"WARC/1.0\r\nContent-Length: 99\r\n\r\n",
    b"WARC/",
    b"x",
]


@pytest.mark.long
@pytest.mark.parametrize("packed", [bytes, gzip.compress, zstd.compress])
@pytest.mark.parametrize("head", HEADS)
def test_a_record_after_two_megabytes_of_heads_is_read(head, packed):
    result = limited_faults(read(packed(head * (2_000_000 // len(head))) + (record() if packed is gzip.compress else b"")))
    assert result and (packed is not gzip.compress or result[-1] == "http://a.sample/p")


def test_many_consecutive_faults_are_summarised():
    pages = read(START * 100_000 + PAIR)
    assert urls(pages)[-1] == "http://a.sample/p" and len(pages) == FAULTS + 2
    assert pages[-2].detail.startswith(f"{100_000 - FAULTS} more consecutive faults") and pages[-2].offset == 10 * 99_999


@pytest.mark.parametrize("limit", [records.HEAD_LIMIT, 10 * records.HEAD_LIMIT])
def test_a_head_over_its_limit_is_refused_before_parsing(limit, monkeypatch):
    seen = []
    monkeypatch.setattr(
        records, "parse_fields", lambda data, at, over, real=records.parse_fields: seen.append(over - at) or real(data, at, over)
    )
    assert urls(read(START + b"a: b\r\n" * (limit // 6) + b"\r\n" + PAIR)) == ["bad_record", "http://a.sample/p"]
    assert max(seen) <= records.HEAD_LIMIT


def test_equal_headers_are_joined_and_their_number_is_limited():
    joined = START + b"Content-Encoding: a\r\n" * 900 + PAIR.partition(b"\r\n")[2]
    assert urls(read(joined)) == ["http://a.sample/p"]
    many = b"HTTP/1.1 200 OK\r\n" + b"content-type:" + b"x" * 200 + b"\r\n"
    for lines in (100_000, 1_000_000):
        with pytest.raises(BadRecord, match="no head"):
            parse_response(b"HTTP/1.1 200 OK\r\n" + b"content-type:\n" * lines + b"\r\n")
    assert parse_response(many + b"Content-Type: y\r\n\r\nz").headers[b"content-type"] == b"x" * 200 + b", y"


def test_a_charset_after_very_many_spaces_is_ignored():
    for blank in (b" ", b"\t"):
        block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=" + blank * 250_000 + b"!\r\n\r\n"
        assert find_codec(b"\xe9", parse_response(block).charset)[0].name == "cp1252"


@pytest.mark.long
@pytest.mark.parametrize(
    "magic",
    [
        b"\x1f\x8b\x08",
        b"\x1f\x8b\x08\0\0\0\0\0\0\xff",
        b"\x1f\x8b\x08\0\0\0\0\0\0\xff\x05\xc0",
        b"\x28\xb5\x2f\xfd",
        b"\x28\xb5\x2f\xfd\x20\x05",
    ],
)
def test_attempts_at_false_member_starts_are_limited(magic, monkeypatch):
    tried = []
    kind = encodings.GzipMembers if magic[:1] == b"\x1f" else zstd_members.ZstdMembers
    begins = kind._begins_record
    monkeypatch.setattr(kind, "_begins_record", lambda self, window: tried.append(len(window)) or begins(self, window))
    data = magic * (5_000_000 if len(magic) == 3 else 1_000_000)
    assert limited_faults(read(data))
    assert sum(size + members.TRY for size in tried) <= members.RESEARCH_RATIO * len(data) + members.KEEP + (1 << 18)


def stored(size, last=False):
    """The head of a stored block."""
    return bytes([last]) + size.to_bytes(2, "little") + (size ^ 0xFFFF).to_bytes(2, "little")


def nested(count, blocks):
    """A gzip member that breaks after many stored blocks, with ``count`` others in its first block that end as it does."""
    inner = 10 + 5 + 10
    heads = b"".join(
        b"\x1f\x8b\x08" + bytes(6) + b"\xff" + stored(inner * (count - at) - 15 + 100) + b"WARC/1.0\r\n" for at in range(count)
    )
    return heads + b"x" * 100 + (stored(65_000) + b"y" * 65_000) * blocks + b"\xff\xff"


def test_rereading_of_overlapping_broken_members_is_bounded(monkeypatch):
    fed = []
    piece = members.PackedMembers.read_piece
    monkeypatch.setattr(members.PackedMembers, "read_piece", lambda self: fed.append(len(data := piece(self))) or data)
    data = nested(2500, 60)
    assert zlib.decompressobj(31).decompress(data[:100_000])[:5] == b"WARC/"
    result = limited_faults(read(data + record()))
    assert result[-1] == "http://a.sample/p"
    assert sum(fed) <= (members.RESEARCH_RATIO + 3) * len(data) + members.KEEP


class Trickle:
    """A stream that gives a byte at a time."""

    def __init__(self, data):
        self.data, self.at, self.most = data, 0, 1

    def read(self, size):
        self.at += min(size, self.most)
        return self.data[self.at - min(size, self.most) : self.at]


def test_single_byte_reads_are_joined():
    stream = Trickle(b"x" * 300_000)
    assert len(read_fully(stream, 1 << 18)) == 1 << 18 and len(read_fully(stream, 1 << 18)) == 300_000 - (1 << 18)
    data = b"".join(warc(20))
    assert len(list(read_stream(Trickle(data), "x"))) == 20


# bombs


def bomb(kind, size):
    """That many bytes, made small."""
    if kind == "brotli":
        return brotli.compress(bytes(size), quality=5)
    return zstd.compress(bytes(size)) if kind == "zstd" else gzip.compress(bytes(size))


def peak(call):
    """Its result, and the most memory it held."""
    tracemalloc.start()
    try:
        return call(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.long
@pytest.mark.parametrize(("kind", "coding"), [("brotli", "br"), ("zstd", "zstd"), ("gzip", "gzip"), ("gzip", "gzip, gzip")])
def test_a_compression_bomb_in_a_body_is_refused_with_little_memory(kind, coding):
    body = bomb(kind, 200_000_000)
    if "," in coding:
        body = gzip.compress(body)
    data = record(body=body, status=("200 OK", [*OK[1], ("Content-Encoding", coding)])) + record()
    result, most = peak(lambda: urls(read(data, budget=Budget(record_bytes=1 << 20))))
    assert result == ["too_large", "http://a.sample/p"] and most < 20_000_000


@pytest.mark.long
@pytest.mark.parametrize("kind", ["gzip", "zstd"])
def test_a_member_that_is_a_bomb_is_skipped_and_the_next_is_read(kind, monkeypatch):
    given = []
    piece = members.PackedMembers.read_piece
    monkeypatch.setattr(members.PackedMembers, "read_piece", lambda self: given.append(len(data := piece(self))) or data)
    pack = gzip.compress if kind == "gzip" else zstd.compress
    data = pack(PAIR) + bomb(kind, 500_000_000) + pack(PAIR)
    result, most = peak(lambda: urls(read(data, budget=Budget(record_bytes=1 << 20))))
    assert result[0] == result[-1] == "http://a.sample/p" and set(result[1:-1]) <= {"bad_record", "too_large"} and len(result) > 2
    assert max(given) <= members.PIECE + (1 << 25) and sum(given) < 2 * members.FREE_MEMBER and most < 80_000_000


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
def test_many_bombs_stop_reading(kind, monkeypatch):
    monkeypatch.setattr(members, "FREE", 1 << 26)
    monkeypatch.setattr(Expansion.__init__, "__defaults__", (float(1 << 26), 1.0))
    given = []
    piece = members.PackedMembers.read_piece
    monkeypatch.setattr(members.PackedMembers, "read_piece", lambda self: given.append(len(data := piece(self))) or data)
    pack = gzip.compress if kind == "gzip" else zstd.compress
    lies = pack(b"WARC/1.0\r\nContent-Length: 20000000\r\n\r\n" + bytes(20_000_000))
    pages = read(lies * 40 + pack(PAIR))
    assert urls(pages)[-1] == "too_large" and len(pages) < 40 and "bomb" in pages[-1].detail
    assert sum(given) < (1 << 26) + members.RATIO * len(lies) * 40 + 2 * members.PIECE


def test_a_bomb_of_valid_records_stops_reading(monkeypatch):
    small = b"WARC/1.0\r\nWARC-Type: request\r\nContent-Length: 0\r\n\r\n\r\n\r\n"
    monkeypatch.setattr(members, "FREE_MEMBER", 1 << 22)
    pages = read(zstd.compress(small * 200_000))
    assert urls(pages) == ["too_large"]


def test_dictionaries_count_as_decompressed_bytes(monkeypatch):
    dictionary = zstd.compress(bytes(zstd_members.DICTIONARY_LIMIT))
    data = skippable(dictionary) * 100 + zstd.compress(PAIR)
    assert limited_faults(read(data))[-1] == "too_large"
    assert urls(read(skippable(bytes(9))[:4] + b"\xff\xff\xff\xff" + bytes(99) + zstd.compress(PAIR))) == [
        "bad_zstd",
        "http://a.sample/p",
    ]


def test_the_files_of_a_wacz_share_one_expansion_limit(monkeypatch):
    lies = gzip.compress(b"WARC/1.0\r\nContent-Length: 20000000\r\n\r\n" + bytes(20_000_000))
    data = wacz({f"{at}.warc.gz": lies for at in range(40)})
    assert "bomb" in read(data)[-1].detail
    once = Expansion()
    assert list(records.read_records(io.BytesIO(lies), 1 << 24, expansion=once)) and once.left < Expansion().left
    deflated = wacz({"a.warc": PAIR + bytes(60_000_000)}, zipfile.ZIP_DEFLATED)
    assert urls(read(deflated))[0] == "http://a.sample/p"


def test_the_number_of_chunks_is_limited():
    def answer(count):
        return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * count + b"0\r\n\r\n"

    assert parse_response(answer(CHUNKS - 1)).body(1 << 24) == b"x" * (CHUNKS - 1)
    with pytest.raises(BadRecord, match="chunks"):
        parse_response(answer(1_000_000)).body(1 << 24)


def test_the_number_of_frames_in_a_body_is_limited():
    block = b"HTTP/1.1 200 OK\r\nContent-Encoding: zstd\r\n\r\n"
    for frame in (zstd.compress(b""), skippable(b"", 0x50)):
        with pytest.raises(BadRecord, match="not whole"):
            parse_response(block + frame * 1_000_000).body(1 << 24)


def test_any_number_of_empty_members_and_frames_is_skipped():
    assert urls(read(gzip.compress(b"") * 100_000 + record())) == ["http://a.sample/p"]
    assert urls(read(skippable(b"", 0x50) * 200_000 + zstd.compress(PAIR))) == ["http://a.sample/p"]
    assert urls(read(b"\r\n" * 2_000_000 + PAIR)) == ["http://a.sample/p"]
    assert open_members(io.BytesIO(b""), Expansion()).next() is False


# the budget of a page


def test_pages_with_too_many_images_are_reported():
    images = b"<img src=a>" * 20
    wat = dumped(envelope([{"path": "IMG@/src", "url": f"{at}.png"} for at in range(20)]))
    data = record(body=images) + record(body=wat, kind="metadata", content_type="application/json") + record()
    result = read(data, budget=Budget(page_images=19))
    assert urls(result) == ["page_over_budget", "page_over_budget", "http://a.sample/p"] and "20 images" in result[1].detail
    assert urls(read(data, budget=Budget(page_images=20))) == ["http://a.sample/p"] * 3
