"""Archives are read to their end, whatever is broken in them; what is broken has a name."""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
import tracemalloc
import zlib
from hashlib import sha256

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from components.core.errors import HearsightError
from components.stages.crawl.sources.inputs import draw_inputs
from components.web.archives import read_archive, read_paths, read_stream, wat
from components.web.archives.responses import BadResponse, parse_response
from components.web.archives.wat import BadMetadata, read_wat_page

PAGE = b"<html lang=en><img src=a.png alt='A red kite'></html>"
OK = ("200 OK", [("Content-Type", "text/html; charset=utf-8")])


def record(url="http://a.sample/p", body=PAGE, status=OK, gzipped=True, kind="response", content_type=None):
    out = io.BytesIO()
    writer = WARCWriter(out, gzip=gzipped)
    http = StatusAndHeaders(status[0], status[1], protocol="HTTP/1.1") if kind == "response" else None
    writer.write_record(writer.create_warc_record(url, kind, io.BytesIO(body), http_headers=http, warc_content_type=content_type))
    return out.getvalue()


def warc(count=3, gzipped=True, **more):
    return [record(f"http://a.sample/{number}/p", gzipped=gzipped, **more) for number in range(count)]


def read(data, **more):
    return list(read_stream(io.BytesIO(data), "x.warc.gz", **more))


def urls(pages):
    return [page.failure or page.url for page in pages]


@pytest.mark.parametrize("gzipped", [True, False])
def test_every_page_has_its_candidates_and_the_offset_of_its_record(gzipped):
    parts = warc(gzipped=gzipped)
    pages = read(b"".join(parts))
    assert [page.url for page in pages] == [f"http://a.sample/{number}/p" for number in range(3)]
    assert [page.offset for page in pages] == [0, len(parts[0]), len(parts[0]) + len(parts[1])]
    assert pages[1].candidates[0].image_url == "http://a.sample/1/a.png"
    assert pages[1].candidates[0].alt == "A red kite"
    assert (pages[1].language, pages[1].noindex, pages[1].archive) == ("en", False, "x.warc.gz")


def test_records_in_one_gzip_member_are_all_read():
    assert len(read(gzip.compress(b"".join(warc(50, gzipped=False))))) == 50


def test_records_longer_than_every_buffer_are_read_whole():
    long = b"<p>" + b"x y " * 900_000 + b"<img src=z.png alt=last>"
    for gzipped in (True, False):
        data = record("http://a.sample/0", body=long, gzipped=gzipped) + record("http://a.sample/1", gzipped=gzipped)
        pages = read(data)
        assert [page.candidates[0].alt for page in pages] == ["last", "A red kite"]


def test_only_html_answers_of_success_are_pages():
    data = b"".join(
        (
            record("http://a.sample/1", status=("404 Not Found", OK[1])),
            record("http://a.sample/2", status=("200 OK", [("Content-Type", "image/png")])),
            record("http://a.sample/3", kind="resource", content_type="text/html"),
            record("dns:a.sample", body=b"a.sample. 300 IN A 192.0.2.1", kind="resource", content_type="text/dns"),
            record("http://a.sample/4"),
        )
    )
    assert urls(read(data)) == ["http://a.sample/4"]


def test_noindex_by_header_or_meta():
    header = ("200 OK", [*OK[1], ("X-Robots-Tag", "otherbot: noindex, nofollow")])
    pages = read(record(status=header) + record(body=b"<meta name=Robots content='NOINDEX'>" + PAGE) + record())
    assert [page.noindex for page in pages] == [True, True, False]


def test_the_headers_charset_is_used():
    status = ("200 OK", [("Content-Type", "text/html; charset=iso-8859-2")])
    assert read(record(body=b"<img src=a alt='\xb1'>", status=status))[0].candidates[0].alt == "ą"


def test_a_truncated_last_member_is_the_only_loss():
    parts = warc()
    for cut in (1, 9, len(parts[2]) // 2, len(parts[2]) - 12):
        pages = read(b"".join(parts)[:-cut])
        assert urls(pages) == ["http://a.sample/0/p", "http://a.sample/1/p", "truncated"]
        assert pages[2].offset == len(parts[0] + parts[1])


def test_a_broken_member_in_the_middle_is_the_only_loss():
    parts = warc()
    flipped = bytearray(parts[1])
    flipped[len(flipped) // 2] ^= 0xFF
    checksum = bytearray(parts[1])
    checksum[-6] ^= 0xFF
    for middle in (parts[1][:60], parts[1][:-9], bytes(flipped), bytes(checksum), b"rubbish between", bytes(600)):
        found = urls(read(parts[0] + middle + parts[2]))
        assert found[0] == "http://a.sample/0/p" and found[-1] == "http://a.sample/2/p", middle
        assert set(found[1:-1]) <= {"bad_gzip", "not_gzip", "bad_record", "truncated", "wrong_length"} and len(found) > 2


@pytest.mark.parametrize("wrong", [b"1", b"400", b"99999", b"-5", b"x", b"9" * 30, b""])
@pytest.mark.parametrize("gzipped", [True, False])
def test_a_wrong_content_length_loses_one_record_only(wrong, gzipped):
    parts = warc(gzipped=False)
    head, mark, rest = parts[1].partition(b"Content-Length: ")
    parts[1] = head + mark + wrong + rest[rest.index(b"\r") :]
    if gzipped:
        parts = [gzip.compress(part) for part in parts]
    found = urls(read(b"".join(parts)))
    assert found[0] == "http://a.sample/0/p" and found[-1] == "http://a.sample/2/p"
    assert found[1] in ("wrong_length", "bad_record", "too_large") and "http://a.sample/1/p" not in found


def test_a_bomb_is_too_large_and_memory_stays_small():
    bomb = gzip.compress(record(body=b"<p>" + bytes(80_000_000), gzipped=False))
    parts = warc(2)
    found = read(parts[0] + bomb + parts[1], limit=1 << 20)
    assert urls(found) == ["http://a.sample/0/p", "too_large", "http://a.sample/1/p"]
    inner = gzip.compress(bytes(50_000_000))
    zipped = record(body=inner, status=("200 OK", [*OK[1], ("Content-Encoding", "gzip")]))
    assert urls(read(zipped + parts[1], limit=1 << 20)) == ["too_large", "http://a.sample/1/p"]


def test_a_record_with_a_huge_stated_length_is_skipped():
    lying = record(gzipped=False).replace(b"Content-Length: ", b"Content-Length: 99999999", 1)
    assert urls(read(gzip.compress(lying) + record())) == ["too_large", "http://a.sample/p"]


class Endless:
    """An archive of ``rounds`` times the same members, none of it in memory."""

    def __init__(self, data, rounds):
        self.parts = (data[at : at + (1 << 18)] for _ in range(rounds) for at in range(0, len(data), 1 << 18))

    def read(self, size):
        return next(self.parts, b"")


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


def encoded(coding, body, transfer=""):
    head = [*OK[1], ("Content-Encoding", coding)] if coding else [*OK[1]]
    return ("200 OK", head + ([("Transfer-Encoding", transfer)] if transfer else [])), body


def bare(data):
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


CHUNKED = b"5;x=y\r\n" + PAGE[:5] + b"\r\n" + f"{len(PAGE) - 5:X}\r\n".encode() + PAGE[5:] + b"\r\n0\r\n\r\n"


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


def test_a_response_without_a_head_is_reported():
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
    found = urls(read(bytes(whole)))
    assert found[0] == "http://a.sample/0/p"
    assert found[-1] == "http://a.sample/3/p" and "http://a.sample/2/p" in found


@settings(max_examples=200, deadline=None)
@given(
    st.binary(max_size=400), st.sampled_from([b"", b"WARC/1.0\r\n", b"\x1f\x8b\x08", b"WARC/1.0\r\nContent-Length: 9\r\n\r\n"])
)
def test_arbitrary_bytes_never_raise(data, start):
    for page in read(start + data):
        assert page.failure


@given(st.binary(max_size=300), st.sampled_from([b"gzip", b"deflate", b"", b"br"]), st.booleans())
def test_arbitrary_responses_raise_bad_response_only(body, coding, chunked):
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: " + coding + (b"\r\nTransfer-Encoding: chunked" if chunked else b"")
    try:
        parse_response(head + b"\r\n\r\n" + body).body(1000)
    except BadResponse as bad:
        assert bad.failure in ("bad_encoding", "too_large", "bad_record")


# WAT

LINKS = [
    {"path": "A@/href", "url": "/b", "text": 'say {"path":"IMG@/src"} "x"'},
    {"path": "IMG@/src", "url": "a b.png", "alt": ' A "red"\n kite \\'},
    {"path": "IMG@/src", "url": "//cdn.sample/c.png"},
    {"path": "IMG@/src", "url": "data:image/gif;base64,R0", "alt": ""},
]


def envelope(links=LINKS, head=None, headers=None):
    html = {"Head": head or {}, "Links": links}
    payload = {"HTTP-Response-Metadata": {"Headers": headers or {}, "HTML-Metadata": html}}
    return {"Container": {"Filename": "x"}, "Envelope": {"Payload-Metadata": payload}}


def dumped(value):
    return json.dumps(value, separators=(",", ":")).encode()


def test_a_wat_record_gives_its_image_links():
    page = read_wat_page(dumped(envelope()), "http://a.sample/x/y")
    found = [(c.image_url, c.alt, c.position, c.data_uri, c.has_alt) for c in page.candidates]
    assert found == [
        ("http://a.sample/x/a%20b.png", 'A "red" kite \\', 0, False, True),
        ("http://cdn.sample/c.png", "", 1, False, False),
        (None, "", 2, True, True),
    ]
    assert (page.language, page.noindex) == ("un", False)


def test_base_language_and_opt_outs_of_a_wat_record():
    metas = [{"name": "ROBOTS", "content": "noindex"}, {"http-equiv": "Content-Language", "content": "pt-BR"}]
    page = read_wat_page(dumped(envelope(head={"Base": "http://b.sample/z/", "Metas": metas})), "http://a.sample/x/y")
    assert page.candidates[0].image_url == "http://b.sample/z/a%20b.png"
    assert (page.language, page.noindex) == ("pt", True)
    assert read_wat_page(dumped(envelope(headers={"X-Robots-Tag": "googlebot: noindex"})), "http://a.sample/").noindex


TEXT = st.text(max_size=12) | st.sampled_from(['"IMG@/src"', '{"path":"IMG@/src"', '"}]', '"Head":{', "\\", '\\"', "robots"])
LINK = st.fixed_dictionaries(
    {"path": st.sampled_from(["IMG@/src", "A@/href", "IMG@/data-src"]), "url": TEXT}, optional={"alt": TEXT, "title": TEXT}
)


@settings(max_examples=300, deadline=None)
@given(st.lists(LINK, max_size=6), TEXT, st.booleans())
def test_the_fast_link_reader_equals_a_full_parse(links, title, spaced):
    record_ = envelope(links, head={"Title": title, "Metas": [{"name": "a", "content": title}]})
    block = json.dumps(record_).encode() if spaced else dumped(record_)
    page = read_wat_page(block, "http://a.sample/x/y")
    assert page.candidates == wat._candidates(links, "http://a.sample/x/y")


def test_other_metadata_is_skipped_and_broken_metadata_reported():
    assert read_wat_page(b'{"Envelope":{"Payload-Metadata":{"HTTP-Request-Metadata":{}}}}', "http://a.sample/") is None
    for broken in (
        dumped(envelope())[:-30],
        b'{"HTML-Metadata":1}',
        dumped(envelope(links=[3])),
        dumped(envelope(links={"a": 1})),
    ):
        with pytest.raises(BadMetadata):
            read_wat_page(broken, "http://a.sample/")
    whole, cut = dumped(envelope()), dumped(envelope())[:-30]
    records_ = [record(body=body, kind="metadata", content_type="application/json") for body in (whole, cut, whole)]
    assert urls(read(b"".join(records_))) == ["http://a.sample/p", "bad_metadata", "http://a.sample/p"]


# lists, S3, the command line


def test_a_list_of_paths_is_sampled_without_replacement_and_by_its_seed(tmp_path):
    names = [f"crawl-data/CC-MAIN-2026-01/warc/{number:05d}.warc.gz" for number in range(100)]
    listed = tmp_path / "warc.paths.gz"
    listed.write_bytes(gzip.compress("\n".join(names).encode() + b"\n"))
    paths = read_paths(str(listed), "s3://commoncrawl/")
    assert paths == [f"s3://commoncrawl/{name}" for name in names]
    drawn = draw_inputs(paths, 10, seed=7)
    assert len(set(drawn)) == 10 and drawn == sorted(drawn) and drawn == draw_inputs(paths, 10, seed=7)
    assert set(drawn) == set(draw_inputs(paths[::-1], 10, seed=7)) and drawn != draw_inputs(paths, 10, seed=8)
    assert draw_inputs(paths, len(paths), seed=1) == sorted(paths)
    listed.write_bytes(gzip.compress(b"x")[:-3])
    with pytest.raises(HearsightError):
        read_paths(str(listed))


@pytest.mark.parametrize("signed", [True, False])
def test_archives_and_lists_are_read_from_s3_signed_or_not(bucket, monkeypatch, signed):
    if signed:
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "k")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s")
    else:
        monkeypatch.delenv("AWS_ACCESS_KEY_ID", raising=False)
        monkeypatch.delenv("AWS_SECRET_ACCESS_KEY", raising=False)
    bucket.put_object(Bucket="archive", Key="w/1.warc.gz", Body=b"".join(warc(200)), ACL="public-read")
    bucket.put_object(Bucket="archive", Key="warc.paths", Body=b"w/1.warc.gz\n", ACL="public-read")
    (path,) = read_paths("s3://archive/warc.paths")
    pages = list(read_archive(path))
    assert len(pages) == 200 and pages[199].archive == "s3://archive/w/1.warc.gz"
    with pytest.raises(HearsightError, match="missing"):
        list(read_archive("s3://archive/missing"))


def test_a_broken_s3_transfer_is_resumed(bucket):
    from components.web.archives import opening

    data = b"".join(warc(3000))
    bucket.put_object(Bucket="archive", Key="big", Body=data, ACL="public-read")
    with opening.open_archive("s3://archive/big") as stream:
        first = stream.read(1000)
        stream._body.close()  # the connection is gone
        rest = b""
        while more := stream.read(1 << 16):
            rest += more
    assert first + rest == data


def hearsight(*words, stdin=b""):
    return subprocess.run(
        [sys.executable, "-m", "components.cli.main", "pairs", *map(str, words)], input=stdin, capture_output=True, timeout=900
    )


def test_pairs_prints_json_lines_and_reports_failures_at_the_end(tmp_path):
    archive, torn, page, other = (tmp_path / name for name in ("a.warc.gz", "torn.gz", "p.html", "x.bin"))
    archive.write_bytes(b"".join(warc(2)))
    torn.write_bytes(b"".join(warc(3))[:-20])
    page.write_bytes(PAGE + b"<img src=b.png>")
    other.write_bytes(bytes(range(256)) * 10)
    done = hearsight(archive, page)
    assert done.returncode == 0 and done.stderr == b""
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(line["page"], line["image"]) for line in lines[:2]] == [
        ("http://a.sample/0/p", "http://a.sample/0/a.png"),
        ("http://a.sample/1/p", "http://a.sample/1/a.png"),
    ]
    assert lines[2]["image"] == (tmp_path / "a.png").as_uri() and lines[2]["alt"] == "A red kite" and len(lines) == 3
    assert set(lines[0]) == {"page", "image", "alt", "position", "archive", "offset"}
    done = hearsight(torn, tmp_path / "none", other, page)
    assert done.returncode == 2 and len(done.stdout.splitlines()) == 3
    complaints = done.stderr.decode().splitlines()
    assert len(complaints) == 3 and all(line.startswith("hearsight: ") for line in complaints)
    assert [word in line for word, line in zip(("truncated", "No such file", "not HTML"), complaints, strict=True)] == [True] * 3


def test_pairs_reads_standard_input_and_addresses(tmp_path):
    from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
    from threading import Thread

    assert b"http://b.sample/a.png" in hearsight("-", "--base", "http://b.sample/", stdin=PAGE).stdout
    assert len(hearsight("-", stdin=b"".join(warc(5))).stdout.splitlines()) == 5
    (tmp_path / "p.html").write_bytes(PAGE)
    handler = lambda *args: SimpleHTTPRequestHandler(*args, directory=tmp_path)  # noqa: E731
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/p.html"
        done = hearsight(url, url + "x")
        server.shutdown()
    assert json.loads(done.stdout)["image"].endswith("/a.png") and json.loads(done.stdout)["page"] == url
    assert done.returncode == 2 and b"404" in done.stderr
