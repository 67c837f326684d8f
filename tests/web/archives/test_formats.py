"""The same records give the same pages as plain WARC, gzip, zstd with and without a dictionary, and WACZ."""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
import zipfile
from dataclasses import replace

import pytest
from backports import zstd
from hypothesis import example, given, settings
from hypothesis import strategies as st

from components.core.errors import HearsightError
from components.web.archives import opening as opened
from components.web.archives import read_archive, read_stream, reading
from components.web.archives.any_input import read_input
from tests.support.web.archive_samples import PAGE, read, record, urls, warc
from tests.support.web.archived import skippable, wacz, zstd_frames

FORMS = [
    "plain", "gzip", "one gzip member", "zstd", "zstd, dictionary", "zstd, packed dictionary", "one zstd frame", "wacz",
    "deflated wacz", "wacz of zstd",
]  # fmt: skip


def members(records, form):
    """The records in that form: of compressed ones, the members."""
    if form == "gzip":
        return [gzip.compress(one) for one in records]
    if form == "one gzip member":
        return [gzip.compress(b"".join(records))]
    if form.startswith("zstd"):
        return zstd_frames(records, {"zstd": "", "zstd, dictionary": "plain"}.get(form, "packed"))
    if form == "one zstd frame":
        return [zstd.compress(b"".join(records))]
    if form == "wacz":
        return [wacz({"data.warc.gz": b"".join(members(records, "gzip"))})]
    if form == "deflated wacz":
        return [wacz({"data.warc": b"".join(records)}, zipfile.ZIP_DEFLATED)]
    if form == "wacz of zstd":
        return [wacz({"data.warc.zst": b"".join(zstd_frames(records))})]
    return list(records)


def same(pages):
    """Pages without their places."""
    return [replace(page, archive="", inner="", offset=0) for page in pages]


BODY = st.one_of(
    st.binary(max_size=300), st.just(PAGE), st.text(max_size=50).map(lambda alt: f"<img src=a alt='{alt}'>".encode())
)


@pytest.mark.long
@settings(max_examples=30, deadline=None)
@given(st.lists(BODY, min_size=1, max_size=4))
@example([PAGE + b"<p>" + b"long " * 400_000 + b"<img src=z alt=last>", PAGE])
def test_equal_records_give_equal_pages_in_every_form(bodies):
    records = [record(f"http://a.sample/{at}", body=body, gzipped=False) for at, body in enumerate(bodies)]
    expected = same(read(b"".join(records)))
    assert len(expected) == len(bodies)
    for form in FORMS:
        assert same(read(b"".join(members(records, form)))) == expected, form


@pytest.mark.parametrize("form", ["zstd", "zstd, dictionary", "zstd, packed dictionary"])
def test_a_page_in_a_frame_has_the_offset_of_its_frame(form):
    parts = members(warc(3, gzipped=False), form)
    places = [sum(map(len, parts[:at])) for at in range(len(parts))]
    assert [page.offset for page in read(b"".join(parts))] == places[-3:]


def test_other_skippable_frames_are_ignored_and_dictionaries_replaced():
    first, second = (members(warc(2, gzipped=False), "zstd, dictionary") for _ in range(2))
    data = b"".join([skippable(b"x" * 1000, 0x50), *first, skippable(b"", 0x5E), *second, skippable(b"y", 0x51)])
    assert urls(read(data)) == ["http://a.sample/0/p", "http://a.sample/1/p"] * 2


def test_a_broken_frame_loses_no_other_frame():
    parts = members(warc(4, gzipped=False, body=PAGE + bytes(range(256)) * 8), "zstd, dictionary")
    flipped = bytearray(parts[2])
    flipped[len(flipped) // 2] ^= 0xFF
    for middle in (
        parts[2][: len(parts[2]) // 2],
        parts[2][:-3],
        bytes(flipped),
        b"rubbish between",
        bytes(600),
        skippable(b"x" * 99)[:20],
    ):
        result = urls(read(b"".join([*parts[:2], middle, *parts[3:]])))
        assert result[0] == "http://a.sample/0/p" and result[-2:] == ["http://a.sample/2/p", "http://a.sample/3/p"], middle
        assert set(result[1:-2]) <= {"bad_zstd", "not_zstd", "truncated", "wrong_length", "bad_record"} and len(result) > 3
    assert urls(read(b"".join(parts)[:-4])) == [f"http://a.sample/{at}/p" for at in range(3)] + ["truncated"]


@pytest.mark.parametrize("content", [b"", b"no dictionary at all", b"\x37\xa4\x30\xec", zstd.compress(b"no dictionary")[:-2]])
def test_a_broken_dictionary_is_reported_and_other_frames_are_read(content):
    result = urls(read(skippable(content) + b"".join(members(warc(2, gzipped=False), "zstd"))))
    assert result == ["bad_zstd", "http://a.sample/0/p", "http://a.sample/1/p"]


def test_frames_with_a_missing_dictionary_are_reported():
    parts = members(warc(3, gzipped=False), "zstd, dictionary")
    assert set(urls(read(b"".join(parts[1:])))) == {"bad_zstd"}


FOUR = {form: members(warc(4, gzipped=False), form) for form in ("zstd", "zstd, dictionary")}


@settings(max_examples=200, deadline=None)
@given(st.data(), st.sampled_from(list(FOUR)))
def test_frames_after_a_damaged_one_are_read(data, form):
    parts = FOUR[form]
    whole = bytearray(b"".join(parts))
    begin = len(b"".join(parts[:-3]))
    end = begin + len(parts[-3])
    at = data.draw(st.integers(begin + 1, end - 1))
    cut = data.draw(st.integers(0, end - at))
    whole[at : at + cut] = data.draw(st.binary(max_size=40))
    result = urls(read(bytes(whole)))
    assert result[0] == "http://a.sample/0/p"
    assert result[-1] == "http://a.sample/3/p" and "http://a.sample/2/p" in result


def test_pages_of_a_wacz_state_inner_file_and_offset():
    one, two = warc(2), warc(3)
    pages = read(wacz({"one.warc.gz": b"".join(one), "two.warc.gz": b"".join(two)}))
    assert [(page.archive, page.inner, page.offset) for page in pages[::2]] == [
        ("x.warc.gz/archive/one.warc.gz", "archive/one.warc.gz", 0),
        ("x.warc.gz/archive/two.warc.gz", "archive/two.warc.gz", 0),
        ("x.warc.gz/archive/two.warc.gz", "archive/two.warc.gz", len(two[0] + two[1])),
    ]


@pytest.mark.long
@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_wacz_is_read_from_a_file_a_pipe_and_s3(compression, tmp_path, bucket, monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)
    data = wacz({"a.warc": b"".join(warc(300, gzipped=False)), "b.warc.gz": b"".join(warc(2))}, compression)
    path = tmp_path / "no-name-of-a.warc"
    path.write_bytes(data)
    bucket.put_object(Bucket="archive", Key="set.wacz", Body=data, ACL="public-read")
    expected = same(read_archive(str(path)))
    assert len(expected) == 302
    assert same(read_archive("s3://archive/set.wacz")) == expected
    command = [sys.executable, "-m", "components.cli.main", "pairs", "-"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        out, err = process.communicate(data)
    lines = [json.loads(line) for line in out.splitlines()]
    assert err == b"" and len(lines) == 302 and lines[-1]["archive"] == "-/archive/b.warc.gz"


def zipped(files, compression=zipfile.ZIP_STORED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data, compression)
    return out.getvalue()


ONE, OTHERS = (
    b"".join(warc(2)),
    {"pages/pages.jsonl": b"{}", "datapackage.json": b"{}", "indexes/index.cdx.gz": gzip.compress(b"x")},
)
PACKED = OTHERS | {"archive/": b"", "archive/data.warc.gz": ONE}


@pytest.mark.parametrize("above", ["", "crawl/", "archive/", "a/b/archive/", ".\\crawl\\"])
@pytest.mark.parametrize("separator", ["/", "\\"])
@pytest.mark.parametrize("without", ["", "datapackage.json"])
def test_a_wacz_that_was_packed_again_is_read(above, separator, without):
    if without and "archive" in above:
        return  # nothing says which of both folders it is
    files = {f"{above}{name}".replace("/", separator): data for name, data in PACKED.items() if name != without}
    hidden = {
        f"__MACOSX/{above}archive/._data.warc.gz": b"x",
        f"{above}archive/.DS_Store": b"x",
        "__MACOSX/._datapackage.json": b"x",
    }
    pages = read(zipped(files | hidden, zipfile.ZIP_DEFLATED))
    assert urls(pages) == ["http://a.sample/0/p", "http://a.sample/1/p"]
    assert "\\" not in pages[0].inner and pages[0].inner.endswith("archive/data.warc.gz")


def test_packages_beside_each_other_in_one_wacz_are_all_read():
    files = {f"{above}{name}": data for above in ("a/", "longer/") for name, data in PACKED.items()}
    assert urls(read(zipped(files, zipfile.ZIP_STORED))) == ["http://a.sample/0/p", "http://a.sample/1/p"] * 2


@pytest.mark.parametrize("before", [b"\r\n\r\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n"])
@pytest.mark.parametrize("packed", [bytes, gzip.compress])
def test_a_warc_with_line_ends_or_a_byte_order_mark_before_it_is_no_page(before, packed, tmp_path):
    (tmp_path / "a").write_bytes(packed(before + gzip.decompress(ONE)))
    pages = [page for page in read_input(str(tmp_path / "a")) if not page.failure]
    assert urls(pages) == ["http://a.sample/0/p", "http://a.sample/1/p"]


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_wacz_in_a_wacz_is_read_up_to_a_depth(compression):
    data = zipped(PACKED)
    for depth in range(2, reading.DEEPEST + 3):
        broken = zipped({"one.wacz": b"PK\x03\x04 no", "two.WACZ": data, "three.wacz": zipped({"a": b"x"})}, compression)
        data = zipped(OTHERS | {f"all/{depth}.wacz": data}, compression)
        if depth <= reading.DEEPEST:
            assert urls(read(broken)) == ["bad_zip", "http://a.sample/0/p", "http://a.sample/1/p", "bad_zip"]
            assert read(data)[1].archive.endswith(".wacz/archive/data.warc.gz")
        else:
            (failure,) = read(data)
            assert failure.failure == "bad_zip" and "inside" in failure.detail


def test_a_wacz_in_a_wacz_that_expands_too_much_is_refused():
    data = zipped({"archive/a.warc": bytes(60_000_000)}, zipfile.ZIP_DEFLATED)
    zeros = zipped({"one.wacz": zipped({"archive/a.warc": bytes(60_000_000)})}, zipfile.ZIP_DEFLATED)
    for bomb in (zeros, zipped({"two.wacz": zeros}), zipped({"one.wacz": data} | {f"{at}.wacz": data for at in range(3)})):
        failures = read(bomb)
        assert failures and {page.failure for page in failures} <= {"bad_zip", "bad_record", "too_large"}


def test_a_wacz_too_large_to_copy_raises(monkeypatch):
    class Pipe(io.BytesIO):
        def seekable(self):
            return False

    monkeypatch.setattr(opened, "SPOOL_LIMIT", 1000)
    with pytest.raises(HearsightError, match="more than 1000 bytes"):
        list(read_stream(Pipe(wacz({"a.warc.gz": b"".join(warc(5))})), "-"))


def overlapping():
    """Two entries of a ZIP file that share one file's bytes."""
    data = bytearray(wacz({"a.warc.gz": b"".join(warc(2)), "b.warc.gz": b"".join(warc(2))}))
    with zipfile.ZipFile(io.BytesIO(bytes(data))) as archive:
        first, second = (archive.getinfo(f"archive/{name}.warc.gz").header_offset for name in "ab")
        directory = archive.start_dir
    data[directory:] = data[directory:].replace(second.to_bytes(4, "little"), first.to_bytes(4, "little"))
    return bytes(data)


def with_password():
    data = bytearray(wacz({"a.warc.gz": b"".join(warc(2))}))
    with zipfile.ZipFile(io.BytesIO(bytes(data))) as archive:
        directory = archive.start_dir
    for at in range(directory, len(data)):
        if data[at : at + 4] == b"PK\x01\x02":
            data[at + 8] |= 1
    return bytes(data)


def broken_checksum():
    archived = b"".join(warc(2))
    data = wacz({"a.warc.gz": archived, "b.warc.gz": archived})
    at = data.index(archived)
    return data[: at + len(archived) // 4] + b"\xff\x00" + data[at + len(archived) // 4 + 2 :]


@pytest.mark.parametrize("data", [overlapping(), with_password(), wacz({"a": bytes(70_000_000)}, zipfile.ZIP_DEFLATED)])
def test_a_refused_file_in_a_wacz_is_reported(data):
    assert {page.failure for page in read(data)} == {"bad_zip"}


def test_a_broken_file_in_a_wacz_loses_no_other_file():
    pages = read(broken_checksum())
    assert "bad_zip" in urls(pages[:-2]) and urls(pages)[-2:] == ["http://a.sample/0/p", "http://a.sample/1/p"]


@pytest.mark.parametrize(
    "data",
    [
        b"PK\x03\x04 and no more",
        b"PK\x05\x06" + bytes(18),
        wacz({"a.warc.gz": b"".join(warc(2))})[:-30],
        wacz({})[:200] + wacz({}),
        b"PK\x03\x04" + b"PK\x05\x06" + b"\0" * 8 + b"\xff\xff\xff\x7f" + b"\0\0\0\0\0\0",
    ],
)
def test_an_invalid_wacz_raises(data):
    with pytest.raises(HearsightError, match="ZIP file"):
        read(data)


@pytest.mark.long
def test_an_oversized_zip_directory_is_refused(tmp_path):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for at in range(80_000):
            archive.writestr(zipfile.ZipInfo(f"archive/{at:06d}.warc.gz"), b"")
    with pytest.raises(HearsightError, match="directory"):
        read(out.getvalue())


def test_the_input_type_is_detected_from_its_bytes(tmp_path):
    path = tmp_path / "x.html"
    plain = warc(3, gzipped=False)
    for form in FORMS:
        path.write_bytes(b"".join(members(plain, form)))
        assert len(list(read_input(str(path)))) == 3, form
    for page in (PAGE, gzip.compress(PAGE), zstd.compress(PAGE)):
        path.write_bytes(page)
        assert [candidate.alt for result in read_input(str(path)) for candidate in result.candidates] == ["A red kite"]
    path.write_bytes(zstd.compress(PAGE * 90)[:-9])
    assert [result.failure for result in read_input(str(path))] == ["truncated"]
