"""A crawl over a base snapshot: conditional requests, snapshot chains, and their faults."""

from __future__ import annotations

import json
import shutil
from collections import Counter

import pytest

from components.core.errors import HearsightError
from components.web.store import FetchStore
from components.web.warc import Entry
from tests.support.crawl.counting_web import CountingWeb, Thing
from tests.support.crawl.crawls import interrupted
from tests.support.crawl.daily_site import HOST, image, ledger_rows, site


def test_an_image_without_validator_is_not_requested_while_fresh(crawl_day, tmp_path, monkeypatch):
    with CountingWeb(site(range(6), media_validator="none")) as web:
        crawl_day(web, "day-1")
        fresh = [one for one in crawl_day(web, "day-2", "day-1")[1] if "media" in one.url]
        assert [one.url for one in fresh] == ["http://media.sample/robots.txt"]
        always = [one for one in crawl_day(web, "day-2b", "day-1", fresh_for=0.0)[1] if one.url.endswith("-1.jpg")]
        assert len(always) == 6 and {one.status for one in always} == {200}
        with FetchStore(tmp_path / "data/store/day-2b") as store:  # asked for, found equal, and still not kept twice
            entries = [store.get(image(number, 1)) for number in range(6)]
            assert all(entry.held.startswith("day-1/") for entry in entries)
        # A copy from the future means that a clock was wrong: it is requested again.
        index = tmp_path / "data/store/day-1/index.jsonl"
        index.write_text(index.read_text().replace('"fetched": "20', '"fetched": "29'))
        wrong = [one for one in crawl_day(web, "day-2c", "day-1")[1] if one.url.endswith("-1.jpg")]
        assert len(wrong) == 6


def test_revisits_in_a_chain_refer_to_the_original_records(crawl_day, tmp_path):
    with CountingWeb(site(range(4))) as web:
        crawl_day(web, "day-1")
        for day in range(2, 6):
            _, asked, _ = crawl_day(web, f"day-{day}", f"day-{day - 1}")
            assert {one.status for one in asked if "robots" not in one.url and one.url != f"{HOST}/"} == {304}
    store = tmp_path / "data/store"
    with FetchStore(store / "day-5") as last:
        assert {entry.held.split("/")[0] for entry in last if entry.held} == {"day-1"}
        assert [base.snapshot for base in last.bases] == ["day-1", "day-2", "day-3", "day-4"]
        for middle in ("day-2", "day-3", "day-4"):  # nothing of theirs is needed to read it
            shutil.move(store / middle, tmp_path / middle)
        assert len({last.body(entry.url) for entry in last if entry.type == "image/jpeg"}) == 8
        assert last.verified_digest() == json.loads((store / "day-5/COMPLETE").read_bytes())["digest"]


def test_the_digest_covers_content_only_and_verification_includes_the_base(crawl_day, tmp_path):
    with CountingWeb(site(range(4))) as web:
        crawl_day(web, "day-1")
        crawl_day(web, "day-2", "day-1")
        crawl_day(web, "alone")
        store = tmp_path / "data/store"
        digests = [json.loads((store / name / "COMPLETE").read_bytes())["digest"] for name in ("day-1", "day-2", "alone")]
        assert len(set(digests)) == 1
        segment = store / "day-1/segment-00000.warc.gz"
        data = segment.read_bytes()
        segment.write_bytes(data[: len(data) // 2])
        with pytest.raises(HearsightError, match="base 'day-1' of 'day-2' has lost some"):
            crawl_day(web, "day-2", "day-1")
        segment.write_bytes(data)
        complete = (store / "day-1/COMPLETE").read_text()
        (store / "day-1/COMPLETE").write_text(complete.replace(digests[0], "0" * 64))
        with pytest.raises(HearsightError, match="base 'day-1' of 'day-2' was changed after"):
            crawl_day(web, "day-2", "day-1")
        shutil.rmtree(store / "day-1")
        with pytest.raises(HearsightError, match="is not a complete snapshot"):
            crawl_day(web, "day-2", "day-1")


def test_a_damaged_body_in_the_base_is_an_error_that_names_its_file(crawl_day, tmp_path):
    with CountingWeb(site(range(2))) as web:
        crawl_day(web, "day-1")
        crawl_day(web, "day-2", "day-1")
    segment = tmp_path / "data/store/day-1/segment-00000.warc.gz"
    with FetchStore(tmp_path / "data/store/day-1") as store:
        entry = store.get(image(0, 0))
    data = bytearray(segment.read_bytes())
    data[entry.offset + entry.length - 12] ^= 255
    segment.write_bytes(data)
    with FetchStore(tmp_path / "data/store/day-2") as store, pytest.raises(HearsightError, match=r"damaged.*") as caught:
        store.body(image(0, 0))
    assert "day-1" in str(caught.value)


@pytest.mark.long
def test_an_invalid_base_is_a_one_line_error(crawl_day):
    with CountingWeb(site(range(1))) as web:
        crawl_day(web, "day-1")
        crawl_day(web, "day-2", "day-1")
        for snapshot, base, message in (
            ("day-2", "", "builds on 'day-1', not on none"),
            ("day-2", "other", "builds on 'day-1', not on 'other'"),
            ("day-1", "day-2", "builds on no base, not on 'day-2'"),
            ("day-3", "nowhere", "is not a complete snapshot"),
            ("day-3", "day-3", "cannot be its own base"),
            ("day-3", "../x", "base.* cannot name a folder"),
        ):
            with pytest.raises(HearsightError, match=message) as caught:
                crawl_day(web, snapshot, base)
            assert "\n" not in str(caught.value)


def test_an_interrupted_crawl_over_a_base_resumes(crawl_day, tmp_path):
    with CountingWeb(site(range(10))) as web:
        crawl_day(web, "day-1")
        web.things |= site(range(11))
        whole = crawl_day(web, "day-2", "day-1")[0].digest
        shutil.rmtree(tmp_path / "data/store/day-2")
        with interrupted(after=12):
            crawl_day(web, "day-2", "day-1")
        # Worse than an interruption: the index is lost, and only the WARC records tell.
        (tmp_path / "data/store/day-2/index.jsonl").unlink()
        with FetchStore(tmp_path / "data/store/day-2", writer=True) as store:
            had = {entry.url for entry in store}
            assert had and any(entry.held for entry in store)
        second, asked, _ = crawl_day(web, "day-2", "day-1")
        assert second.digest == whole and not had & {one.url for one in asked}


def test_warcio_reads_the_revisit_records(crawl_day, tmp_path):
    from warcio.archiveiterator import ArchiveIterator

    with CountingWeb(site(range(2))) as web:
        crawl_day(web, "day-1")
        crawl_day(web, "day-2", "day-1")
    with (tmp_path / "data/store/day-2/segment-00000.warc.gz").open("rb") as handle:
        kinds = Counter((record.rec_type, record.http_headers.get_statuscode()) for record in ArchiveIterator(handle))
    assert kinds[("revisit", "304")] == 7 and kinds[("revisit", "200")] == 1  # the front page has no validator


def test_an_unsolicited_304_is_a_ledger_row_and_no_record(crawl_day):
    things = site(range(2))
    things[image(1, 0)] = Thing(b"", "image/jpeg", status=304, validator="none")
    with CountingWeb(things) as web:
        output, _, _ = crawl_day(web, "day-1")
    assert [(row["rule"], row["value"]) for row in ledger_rows(output) if row["rule"]] == [("http_status", "304")]


def test_index_entries_of_an_earlier_version_are_still_read(tmp_path):
    """An index written by an earlier version names neither times nor other snapshots."""
    with FetchStore(tmp_path / "s", writer=True) as store:
        store.add(Entry("http://a.sample/x", 200), b"body", [], "OK")
    index = tmp_path / "s/index.jsonl"
    line = {name: value for name, value in json.loads(index.read_text()).items() if name not in ("tdm", "fetched", "held")}
    index.write_text(json.dumps(line) + "\n")
    with FetchStore(tmp_path / "s") as store:
        assert store.body("http://a.sample/x") == b"body"
