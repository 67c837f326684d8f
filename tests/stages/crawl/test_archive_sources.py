"""A crawl of WACZ and zstd archives: every page and fault has its own row and location."""

from __future__ import annotations

import gzip

import pytest
from backports import zstd

from components.web.budget import Budget
from tests.support.web.archive_samples import record
from tests.support.web.archived import archive_web, wacz, web_pages, zstd_frames


def page_rows(output):
    return [row for row in output.ledger().to_pylist() if row["kind"] == "page"]


def records_of(output):
    return {(row["page_url"], row["image_url"], row["alt"]) for row in output.table().to_pylist()}


def split(path):
    """The records of a gzip WARC."""
    return [b"WARC/1.0\r\n" + rest for rest in gzip.decompress(path.read_bytes()).split(b"WARC/1.0\r\n")[1:]]


@pytest.mark.long
def test_a_wacz_and_a_zstd_archive_give_the_records_of_the_warc_files(crawl, web, tmp_path):
    parts = archive_web(web, tmp_path / "warc", 2)
    (tmp_path / "set.wacz").write_bytes(wacz({part.name: part.read_bytes() for part in parts}))
    for part in parts:
        frames = zstd_frames(split(part), "packed")
        (tmp_path / f"{part.stem}.zst").write_bytes(b"".join(frames))
    expected = crawl("warc/*.warc.gz", snapshot="warcs")
    in_wacz, in_frames = crawl("set.wacz", snapshot="wacz"), crawl("*.zst", snapshot="frames")
    assert records_of(in_wacz) == records_of(in_frames) == records_of(expected) and len(records_of(expected)) > 20
    assert len(page_rows(in_wacz)) == len(page_rows(expected)) == len(web_pages(web))
    locations = {(row["archive"], row["archive_offset"]) for row in in_wacz.table().to_pylist()}
    expected_locations = {(row["archive"], row["archive_offset"]) for row in expected.table().to_pylist()}
    assert {(archive.replace("set.wacz/archive/", "warc/"), at) for archive, at in locations} == expected_locations


def test_equal_offsets_in_two_files_of_a_wacz_get_distinct_keys(crawl, web, tmp_path):
    torn = archive_web(web, tmp_path / "warc", 1)[0].read_bytes()[:-20]
    (tmp_path / "set.wacz").write_bytes(wacz({"a.warc.gz": torn, "b.warc.gz": torn}))
    rows = page_rows(crawl("set.wacz", snapshot="torn"))
    faults = [row["key"] for row in rows if row["rule"] == "truncated"]
    assert [key.partition(":")[0] for key in faults] == ["set.wacz/archive/a.warc.gz", "set.wacz/archive/b.warc.gz"]
    assert len({row["key"] for row in rows}) == len(rows) and any(row["rule"] == "duplicate_page" for row in rows)


def test_a_record_or_page_over_its_budget_is_dropped_by_rule(crawl, web, tmp_path):
    archive_web(web, tmp_path / "warc", 1)
    small = crawl("warc/*.warc.gz", snapshot="small", budget=Budget(record_bytes=300))
    assert "too_large" in {row["rule"] for row in page_rows(small)} and len(page_rows(small)) >= len(web_pages(web))
    few = crawl("warc/*.warc.gz", snapshot="few", budget=Budget(page_images=1))
    assert "page_over_budget" in {row["rule"] for row in page_rows(few)}


def test_records_without_a_page_are_counted_in_one_row_and_an_archive_without_a_page_says_so(crawl, web, tmp_path, caplog):
    pages = archive_web(web, tmp_path / "warc", 1)[0].read_bytes()
    image = record("http://a.sample/i", kind="resource", content_type="image/png")
    (tmp_path / "some.warc.gz").write_bytes(pages + image * 2 + record("http://a.sample/s", status=("404 Not Found", [])))
    (tmp_path / "none.warc.gz").write_bytes(image)
    (tmp_path / "empty.warc.gz").write_bytes(b"")
    (tmp_path / "old.arc.gz").write_bytes(gzip.compress(b"http://a.sample/ 192.0.2.1 20010101000000 text/html 9\n<img src=a>"))
    (tmp_path / "two.wacz").write_bytes(wacz({"in.wacz": wacz({"b.warc.gz": image})}))
    output = crawl("*.gz", "two.wacz", snapshot="counted")
    rows = {row["key"]: (row["rule"], row["value"]) for row in page_rows(output) if row["verdict"] == "dropped"}
    some = "answers that are not HTML (2), answers with another status (1)"
    left_out = "has no page; left out: answers that are not HTML (1)"
    assert rows == {
        "some.warc.gz": ("not_html", f"{len(web_pages(web))} pages read; left out: {some}"),
        "none.warc.gz": ("no_page", left_out),
        "empty.warc.gz": ("no_page", "has no page"),
        "two.wacz": ("no_page", left_out),
        "old.arc.gz:0": ("arc_file", "ARC files are not read: convert it with `warcio recompress OLD.arc NEW.warc.gz`"),
    }  # fmt: skip
    warned = [line.getMessage() for line in caplog.records]
    assert sorted(warned) == ["empty.warc.gz: has no page", f"none.warc.gz: {left_out}", f"two.wacz: {left_out}"]


def test_a_broken_file_in_a_wacz_gets_a_ledger_row(crawl, web, tmp_path):
    data = wacz({"a.warc.gz": archive_web(web, tmp_path / "warc", 1)[0].read_bytes(), "b.warc.zst": zstd.compress(b"x") * 3})
    (tmp_path / "set.wacz").write_bytes(data)
    rows = page_rows(crawl("set.wacz", snapshot="broken"))
    broken = [row for row in rows if row["verdict"] == "dropped" and row["key"].startswith("set.wacz/archive/b.warc.zst:")]
    assert [row["rule"] for row in broken] == ["bad_record"] * 3
