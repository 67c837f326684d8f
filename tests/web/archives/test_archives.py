"""An archive is read to its end; each broken part is reported with a named failure."""

from __future__ import annotations

import gzip
import tracemalloc
from collections import Counter
from hashlib import sha256

import pytest
from backports import zstd
from hypothesis import given, settings
from hypothesis import strategies as st

from components.web.archives import read_stream
from components.web.archives.any_input import read_input
from components.web.budget import Budget
from tests.support.web.archive_samples import OK, PAGE, read, record, urls, warc
from tests.support.web.archived import wacz

LATIN = "<html lang=pt><img src=a.png alt='Maçã'></html>".encode("latin-1")


@pytest.mark.parametrize("gzipped", [True, False])
def test_every_page_has_its_candidates_and_the_offset_of_its_record(gzipped):
    parts = warc(gzipped=gzipped)
    pages = read(b"".join(parts))
    assert [page.url for page in pages] == [f"http://a.sample/{number}/p" for number in range(3)]
    assert [page.offset for page in pages] == [0, len(parts[0]), len(parts[0]) + len(parts[1])]
    assert pages[1].candidates[0].image_url == "http://a.sample/1/a.png"
    assert pages[1].candidates[0].alt == "A red kite"
    assert (pages[1].language, pages[1].statements, pages[1].archive) == ("en", (), "x.warc.gz")


def test_records_in_one_gzip_member_are_all_read():
    assert len(read(gzip.compress(b"".join(warc(50, gzipped=False))))) == 50


def test_records_longer_than_every_buffer_are_read_whole():
    long = b"<p>" + b"x y " * 900_000 + b"<img src=z.png alt=last>"
    for gzipped in (True, False):
        data = record("http://a.sample/0", body=long, gzipped=gzipped) + record("http://a.sample/1", gzipped=gzipped)
        pages = read(data)
        assert [page.candidates[0].alt for page in pages] == ["last", "A red kite"]


def other(number, kind, content_type, body=PAGE):
    return record(f"http://a.sample/{number}", kind=kind, content_type=content_type, body=body, gzipped=False)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_html_answers_of_success_resources_and_conversions_are_pages_and_the_others_are_counted(pack):
    parts = (
        record("http://a.sample/1", status=("404 Not Found", OK[1]), gzipped=False),
        record("http://a.sample/2", status=("200 OK", [("Content-Type", "image/png")]), gzipped=False),
        other(3, "resource", "text/html; charset=iso-8859-1", LATIN),
        other(4, "conversion", "Application/XHTML+XML"),
        other(4, "conversion", "text/plain"),
        other(4, "resource", "text/dns", b"a.sample. 300 IN A 192.0.2.1"),
        record("http://a.sample/5", gzipped=False).replace(b"WARC-Type: response", b"WARC-Type: revisit"),
        other(5, "metadata", "application/warc-fields"),
        other(6, "novelty", "text/html"),
        record("http://a.sample/7", gzipped=False),
    )
    data = b"".join(pack(part) for part in parts)
    skipped = Counter()
    pages = read(data, skipped=skipped)
    assert urls(pages) == [f"http://a.sample/{number}" for number in (3, 4, 7)]
    assert pages[0].candidates[0].alt == "Maçã" and pages[1].candidates[0].image_url == "http://a.sample/a.png"
    assert skipped == {
        "answers with another status": 1,
        "answers that are not HTML": 3,
        "revisit records": 1,
        "records of unknown types": 1,
    }


@pytest.mark.parametrize("kind", ["response", "resource"])
def test_a_segmented_page_is_refused_and_its_other_segments_are_counted(kind):
    options = {"kind": kind, "content_type": "text/html" if kind == "resource" else None, "gzipped": False}
    first, image = (
        record(f"http://a.sample/{name}", **options | more).replace(b"WARC-Type", b"WARC-Segment-Number: 1\r\nWARC-Type", 1)
        for name, more in (("p", {}), ("i", {"kind": "resource", "content_type": "image/png"}))
    )
    rest = record("http://a.sample/p", kind="continuation", body=PAGE, gzipped=False)
    skipped = Counter()
    pages = read(first + image + rest + rest + record("http://a.sample/q", gzipped=False), skipped=skipped)
    assert urls(pages) == ["segmented", "http://a.sample/q"] and pages[0].url == "http://a.sample/p"
    assert skipped == {"answers that are not HTML": 1, "continuation records": 2}


ARC = b"""filedesc://old.arc 0.0.0.0 20010101000000 text/plain 76
1 0 InternetArchive
URL IP-address Archive-date Content-type Archive-length

http://one.sample/ 192.0.2.1 20010101000000 text/html 90
HTTP/1.1 200 OK
Content-Type: text/html

<html lang=en><img src=/a.png alt="A red kite"></html>
"""


@pytest.mark.parametrize("packed", [bytes, gzip.compress, zstd.compress, lambda data: wacz({"old.arc": data})])
@pytest.mark.parametrize(
    "data",
    [
        ARC,
        ARC[ARC.index(b"http:") :],
        ARC.replace(b"0.0.0.0", b"::").replace(b"192.0.2.1", b"2001:db8::1"),
        b"filedesc://a.arc.gz 0.0.0.0 19960923142103 text/plain 200 - - 0 a.arc 122\n2 0 Alexa\n" + ARC,
    ],
)
def test_an_arc_file_is_refused_in_one_line(data, packed, tmp_path):
    (failure,) = read(packed(data))
    assert failure.failure == "arc_file" and "warcio recompress" in failure.detail
    (tmp_path / "old").write_bytes(packed(data))
    assert [page.failure for page in read_input(str(tmp_path / "old"))] == ["arc_file"]


def test_the_headers_charset_is_used():
    status = ("200 OK", [("Content-Type", "text/html; charset=iso-8859-2")])
    assert read(record(body=b"<img src=a alt='\xb1'>", status=status))[0].candidates[0].alt == "ą"


def test_a_truncated_last_member_loses_no_other_member():
    parts = warc()
    for cut in (1, 9, len(parts[2]) // 2, len(parts[2]) - 12):
        pages = read(b"".join(parts)[:-cut])
        assert urls(pages) == ["http://a.sample/0/p", "http://a.sample/1/p", "truncated"]
        assert pages[2].offset == len(parts[0] + parts[1])


def test_a_broken_member_loses_no_other_member():
    parts = warc()
    flipped = bytearray(parts[1])
    flipped[len(flipped) // 2] ^= 0xFF
    checksum = bytearray(parts[1])
    checksum[-6] ^= 0xFF
    for middle in (parts[1][:60], parts[1][:-9], bytes(flipped), bytes(checksum), b"rubbish between", bytes(600)):
        result = urls(read(parts[0] + middle + parts[2]))
        assert result[0] == "http://a.sample/0/p" and result[-1] == "http://a.sample/2/p", middle
        assert set(result[1:-1]) <= {"bad_gzip", "not_gzip", "bad_record", "truncated", "wrong_length"} and len(result) > 2


@pytest.mark.parametrize("wrong", [b"1", b"400", b"99999", b"-5", b"x", b"9" * 30, b""])
@pytest.mark.parametrize("gzipped", [True, False])
def test_a_wrong_content_length_loses_one_record_only(wrong, gzipped):
    parts = warc(gzipped=False)
    head, mark, rest = parts[1].partition(b"Content-Length: ")
    parts[1] = head + mark + wrong + rest[rest.index(b"\r") :]
    if gzipped:
        parts = [gzip.compress(part) for part in parts]
    result = urls(read(b"".join(parts)))
    assert result[0] == "http://a.sample/0/p" and result[-1] == "http://a.sample/2/p"
    assert result[1] in ("wrong_length", "bad_record", "too_large") and "http://a.sample/1/p" not in result


def test_a_decompression_bomb_is_too_large_and_uses_little_memory():
    bomb = gzip.compress(record(body=b"<p>" + bytes(80_000_000), gzipped=False))
    parts = warc(2)
    result = read(parts[0] + bomb + parts[1], budget=Budget(record_bytes=1 << 20))
    assert urls(result) == ["http://a.sample/0/p", "too_large", "http://a.sample/1/p"]
    inner = gzip.compress(bytes(50_000_000))
    zipped = record(body=inner, status=("200 OK", [*OK[1], ("Content-Encoding", "gzip")]))
    assert urls(read(zipped + parts[1], budget=Budget(record_bytes=1 << 20))) == ["too_large", "http://a.sample/1/p"]


def test_a_record_with_a_huge_stated_length_is_skipped():
    lying = record(gzipped=False).replace(b"Content-Length: ", b"Content-Length: 99999999", 1)
    assert urls(read(gzip.compress(lying) + record())) == ["too_large", "http://a.sample/p"]


class Endless:
    """An archive of ``rounds`` times the same members, none of it in memory."""

    def __init__(self, data, rounds):
        self.parts = (data[at : at + (1 << 18)] for _ in range(rounds) for at in range(0, len(data), 1 << 18))

    def read(self, size):
        return next(self.parts, b"")


@pytest.mark.long
@pytest.mark.parametrize("gzipped", [True, False])
def test_ten_times_the_input_takes_no_more_memory(gzipped):
    filling = "".join(sha256(b"%d" % number).hexdigest() for number in range(300)).encode()  # does not shrink much
    data = b"".join(warc(60, gzipped=gzipped, body=PAGE + filling))
    peaks = []
    for rounds in (3, 30):
        tracemalloc.start()
        assert sum(1 for _ in read_stream(Endless(data, rounds), "x", context=False)) == 60 * rounds
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.1 * peaks[0]


def test_a_response_without_headers_is_reported():
    broken = record(gzipped=False).replace(b"HTTP/1.1 200 OK", b"GARBAGE 200 OKE")
    assert urls(read(gzip.compress(broken) + record())) == ["bad_record", "http://a.sample/p"]


FOUR = {gzipped: warc(4, gzipped=gzipped) for gzipped in (True, False)}  # made once: records have ids of their own


@settings(max_examples=200, deadline=None)
@given(st.data(), st.booleans())
def test_undamaged_records_of_a_damaged_archive_are_read(data, gzipped):
    parts = FOUR[gzipped]
    whole = bytearray(b"".join(parts))
    begin, end = len(parts[0]), len(parts[0]) + len(parts[1])
    at = data.draw(st.integers(begin + 1, end - 1))  # what stands right behind a record may be its own too long body
    cut = data.draw(st.integers(0, end - at))
    whole[at : at + cut] = data.draw(st.binary(max_size=40))
    result = urls(read(bytes(whole)))
    assert result[0] == "http://a.sample/0/p"
    assert result[-1] == "http://a.sample/3/p" and "http://a.sample/2/p" in result
