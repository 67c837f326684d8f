"""A crawl over a base snapshot: existing shards keep their bytes, and later stages compute only the new shards."""

from __future__ import annotations

import shutil
from collections import Counter

import pyarrow as pa
import pytest

from components.core.ledger import kept, ledger_table
from components.core.records import FILTERED
from components.core.shards import TarReader
from components.execution.stage import ShardOut
from tests.support import make_stage
from tests.support.crawl.counting_web import CountingWeb, Thing
from tests.support.crawl.daily_site import HOST, SCENES, image, ledger_rows, page, site
from tests.support.crawl.fixture_web import drawn_image
from tests.support.crawl.social import file_digests

PAGES = 40


@pytest.mark.long
def test_a_crawl_over_a_base_fetches_only_new_content_and_appends_a_shard(crawl_day, tmp_path):
    with CountingWeb(site(range(PAGES * 2 + 20))) as web:
        first, asked, _ = crawl_day(web, "day-1")
        before, everything = file_digests(first), web.sent
        assert len(asked) == 2 + 1 + 300 and first.table().num_rows == 200
        web.things |= site(range(PAGES * 2 + 21))  # one page more, of a hundred
        second, asked, job = crawl_day(web, "day-2", "day-1")
        again = [one for one in asked if one.status == 200]
        assert {one.url for one in again} == {f"{HOST}/", f"{HOST}/p100.html", image(100, 0), image(100, 1)}
        assert sum(one.sent for one in asked) < 0.02 * everything
        assert all(one.conditional for one in asked if one.status == 304) and Counter(one.status for one in asked)[304] == 301
    after = file_digests(second)
    assert {name: after.get(name) for name in before} == before
    assert set(after) - set(before) == {"shards/00020.parquet", "media/00020.tar"}
    assert second.table().num_rows == 202 and not [row for row in ledger_rows(second) if row["rule"]]
    assert {name: value for name, value, _ in job.metrics}["crawl.kept"] == 301
    size = {
        day: sum(path.stat().st_size for path in (tmp_path / "data/store" / day).glob("segment-*")) for day in ("day-1", "day-2")
    }
    assert size["day-2"] < 0.25 * size["day-1"]


def test_later_stages_compute_only_the_new_shards(crawl_day, tmp_path):
    with CountingWeb(site(range(20))) as web:
        first, _, _ = crawl_day(web, "day-1")
        made = make_stage(tmp_path, "filter", params={}, inputs={"input": first})
        made.map(pass_on, first.shards, step="filter", params={})
        assert made.cache_summary() == {"filter": "0 of 4"}
        web.things |= site(range(21))
        second, _, _ = crawl_day(web, "day-2", "day-1")
    made = make_stage(tmp_path, "filter", params={}, inputs={"input": second})
    made.map(pass_on, second.shards, step="filter", params={})
    assert made.cache_summary() == {"filter": "4 of 5"}


def pass_on(table, task) -> ShardOut:
    """A filter without rules."""
    rows = [row | {"text": row["alt"], "labels": []} for row in table.to_pylist()]
    return ShardOut(pa.Table.from_pylist(rows, schema=FILTERED), ledger_table(kept(row["key"]) for row in rows))


def test_a_vanished_page_changes_only_its_shard_and_leaves_ledger_rows(crawl_day):
    with CountingWeb(site(range(20))) as web:
        first, _, _ = crawl_day(web, "day-1")
        before = file_digests(first)
        gone = set(first.table().filter(pa.compute.equal(first.table()["page_url"], f"{HOST}/p007.html"))["key"].to_pylist())
        web.things[f"{HOST}/"] = site([n for n in range(20) if n != 7])[f"{HOST}/"]
        second, _, _ = crawl_day(web, "day-2", "day-1")
        after = file_digests(second)
        rows = {row["key"]: row for row in ledger_rows(second) if row["rule"]}
        assert set(rows) == gone and {row["rule"] for row in rows.values()} == {"gone"}
        assert all(row["value"] == "its page is not kept" and "p007.html" in row["detail"] for row in rows.values())
        assert [row["key"] for row in ledger_rows(second, "page") if row["rule"] == "gone"] == [f"{HOST}/p007.html"]
        assert {name for name in before if after[name] != before[name]} == {"shards/00001.parquet", "media/00001.tar"}
        assert len(TarReader(second.path / "media/00001.tar")) == 8
        third, _, _ = crawl_day(web, "day-3", "day-2")
        assert file_digests(third) == after and not [row for row in ledger_rows(third) if row["rule"]]


def test_changed_pages_and_images_become_new_records_in_the_last_shard(crawl_day):
    with CountingWeb(site(range(10))) as web:
        first, _, _ = crawl_day(web, "day-1")
        before = first.table().to_pylist()
        web.things[image(3, 0)] = Thing(drawn_image(SCENES[-1], seed=9), "image/jpeg")
        web.things[f"{HOST}/p004.html"] = Thing(page(4).body.replace(b"Picture 4 0", b"Another words for 4"))
        second, _, _ = crawl_day(web, "day-2", "day-1")
    after = {row["key"]: row for row in second.table().to_pylist()}
    new = {key for key in after if key in set(second.shards[-1].read(["key"])["key"].to_pylist())}
    assert {after[key]["image_url"] for key in new} == {image(3, 0), image(4, 0)} and len(second.shards) == 3
    gone = [row for row in ledger_rows(second) if row["rule"] == "gone"]
    assert len(gone) == 1 and gone[0]["value"] == "no longer on its page" and image(4, 0) in gone[0]["detail"]
    assert len(after) == len(before) and len({row["key"] for row in ledger_rows(second)}) == len(before) + 1


def test_a_new_page_that_sorts_first_does_not_replace_an_existing_pair(crawl_day):
    with CountingWeb(site(range(5, 10))) as web:
        first, _, _ = crawl_day(web, "day-1")
        before = file_digests(first)
        extra = page(5)  # the same images with the same alts, on a page that sorts before p005
        web.things |= {f"{HOST}/p000.html": extra, f"{HOST}/": site([0, *range(5, 10)])[f"{HOST}/"]}
        second, _, _ = crawl_day(web, "day-2", "day-1")
    assert {name: file_digests(second)[name] for name in before} == before
    duplicates = [row for row in ledger_rows(second) if row["rule"] == "duplicate_pair"]
    assert len(duplicates) == 2 and all("p000.html" in row["detail"] for row in duplicates)
    assert {row["value"] for row in duplicates} <= set(first.table()["key"].to_pylist())


@pytest.mark.long
def test_the_output_depends_on_the_snapshots_only(crawl_day, tmp_path):
    """Whatever lies in data/ and in the caches, day 3 over days 2 and 1 is the same; and it asks for nothing."""
    with CountingWeb(site(range(12))) as web:
        crawl_day(web, "day-1")
        web.things |= site(range(13))
        crawl_day(web, "day-2", "day-1")
        web.things |= site(range(14))
        third, _, _ = crawl_day(web, "day-3", "day-2")
        whole = third.digest
        shutil.rmtree(tmp_path / ".hearsight")
        shutil.rmtree(tmp_path / "data/english")
        again, asked, _ = crawl_day(web, "day-3", "day-2")
        assert again.digest == whole and not asked and [len(s.read()) for s in again.shards] == [10, 10, 4, 2, 2]
