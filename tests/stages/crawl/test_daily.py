"""The next day's crawl: nothing is fetched twice, old shards keep their bytes, and the later stages see only what is new."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest

from components.core.digests import sha256_file
from components.core.errors import HearsightError
from components.core.ledger import kept, ledger_table
from components.core.records import FILTERED
from components.core.shards import TarReader
from components.core.stage_output import StageOutput
from components.execution.stage import ShardOut
from components.web.store import FetchStore
from components.web.warc import Entry
from tests.stages.crawl.conftest import crawled, fixture_params
from tests.stages.crawl.counting_web import CountingWeb, Thing
from tests.stages.crawl.fixture_web import COLOURS, PLACES, THINGS, picture
from tests.support import make_stage

SCENES = [(colour, thing, place) for colour in COLOURS for thing in THINGS for place in PLACES]
HOST, MEDIA = "http://a.sample", "http://media.sample"
PAGES = 40


def page(number: int, text: str = "") -> Thing:
    """Page ``number`` with two pictures of its own, one on each host."""
    images = "".join(f'<img src="{image(number, at)}" alt="Picture {number} {at} of many">' for at in (0, 1))
    return Thing(f"<!doctype html><html lang=en><p>{text} {images}".encode())


def image(number: int, at: int) -> str:
    return f"{(HOST, MEDIA)[at]}/{number:03d}-{at}.jpg"


def site(numbers, media_validator: str = "modified") -> dict[str, Thing]:
    things = {f"{HOST}/robots.txt": Thing(b"User-agent: *\nAllow: /\n", "text/plain")}
    links = "".join(f'<a href="/p{number:03d}.html">x</a>' for number in numbers)
    things[f"{HOST}/"] = Thing(f"<!doctype html><html lang=en>{links}".encode(), validator="none")
    for number in numbers:
        things[f"{HOST}/p{number:03d}.html"] = page(number)
        for at in (0, 1):
            data = picture(SCENES[(2 * number + at) % len(SCENES)], seed=number)
            things[image(number, at)] = Thing(data, "image/jpeg", validator=("etag", media_validator)[at])
    return things


@pytest.fixture
def crawl(tmp_path: Path):
    """Crawls ``web`` into a snapshot; returns (output, what was asked meanwhile, the stage)."""

    def go(web: CountingWeb, snapshot: str, base: str = "", **changes):
        start = len(web.log)
        values = {"web": "open", "proxy": web.proxy, "contact": "mail@example.org", "seeds": [f"{HOST}/"], "hosts": ["a.sample"]}
        params = fixture_params(**(values | {"snapshot": snapshot, "base": base, "max_pages": 1000} | changes))
        job = make_stage(tmp_path, "crawl", params=params)
        return crawled(job), web.log[start:], job

    return go


def shards(output: StageOutput) -> dict[str, str]:
    """Every file of shards and media → its digest."""
    return {
        f"{folder}/{path.name}": sha256_file(path)
        for folder in ("shards", "media")
        for path in sorted((output.path / folder).iterdir())
    }


def ledger(output: StageOutput, kind: str = "record") -> list[dict]:
    return [row for row in output.ledger().to_pylist() if row["kind"] == kind]


def test_a_second_day_fetches_only_what_is_new_and_appends_its_shard(crawl, tmp_path):
    with CountingWeb(site(range(PAGES * 2 + 20))) as web:
        first, asked, _ = crawl(web, "day-1")
        before, everything = shards(first), web.sent
        assert len(asked) == 2 + 1 + 300 and first.table().num_rows == 200
        web.things |= site(range(PAGES * 2 + 21))  # one page more, of a hundred
        second, asked, job = crawl(web, "day-2", "day-1")
        again = [one for one in asked if one.status == 200]
        assert {one.url for one in again} == {f"{HOST}/", f"{HOST}/p100.html", image(100, 0), image(100, 1)}
        assert sum(one.sent for one in asked) < 0.02 * everything
        assert all(one.conditional for one in asked if one.status == 304) and Counter(one.status for one in asked)[304] == 301
    after = shards(second)
    assert {name: after.get(name) for name in before} == before
    assert set(after) - set(before) == {"shards/00020.parquet", "media/00020.tar"}
    assert second.table().num_rows == 202 and not [row for row in ledger(second) if row["rule"]]
    assert {name: value for name, value, _ in job.metrics}["crawl.kept"] == 301
    size = {
        day: sum(path.stat().st_size for path in (tmp_path / "data/store" / day).glob("segment-*")) for day in ("day-1", "day-2")
    }
    assert size["day-2"] < 0.25 * size["day-1"]


def test_the_later_stages_compute_only_the_new_shards(crawl, tmp_path):
    with CountingWeb(site(range(20))) as web:
        first, _, _ = crawl(web, "day-1")
        made = make_stage(tmp_path, "filter", params={}, inputs={"input": first})
        made.map(pass_on, first.shards, step="filter", params={})
        assert made.cache_summary() == {"filter": "0 of 4"}
        web.things |= site(range(21))
        second, _, _ = crawl(web, "day-2", "day-1")
    made = make_stage(tmp_path, "filter", params={}, inputs={"input": second})
    made.map(pass_on, second.shards, step="filter", params={})
    assert made.cache_summary() == {"filter": "4 of 5"}


def pass_on(table, task) -> ShardOut:
    """A filter without rules."""
    rows = [row | {"text": row["alt"], "labels": []} for row in table.to_pylist()]
    return ShardOut(pa.Table.from_pylist(rows, schema=FILTERED), ledger_table(kept(row["key"]) for row in rows))


def test_what_is_gone_leaves_its_shard_and_a_row_and_no_other_shard_changes(crawl):
    with CountingWeb(site(range(20))) as web:
        first, _, _ = crawl(web, "day-1")
        before = shards(first)
        gone = set(first.table().filter(pa.compute.equal(first.table()["page_url"], f"{HOST}/p007.html"))["key"].to_pylist())
        web.things[f"{HOST}/"] = site([n for n in range(20) if n != 7])[f"{HOST}/"]
        second, _, _ = crawl(web, "day-2", "day-1")
        after = shards(second)
        rows = {row["key"]: row for row in ledger(second) if row["rule"]}
        assert set(rows) == gone and {row["rule"] for row in rows.values()} == {"gone"}
        assert all(row["value"] == "its page is not kept" and "p007.html" in row["detail"] for row in rows.values())
        assert [row["key"] for row in ledger(second, "page") if row["rule"] == "gone"] == [f"{HOST}/p007.html"]
        assert [name for name in before if after[name] != before[name]] == ["shards/00001.parquet", "media/00001.tar"]
        assert len(TarReader(second.path / "media/00001.tar")) == 8
        third, _, _ = crawl(web, "day-3", "day-2")
        assert shards(third) == after and not [row for row in ledger(third) if row["rule"]]


def test_changed_pages_and_pictures_are_new_records_at_the_end(crawl):
    with CountingWeb(site(range(10))) as web:
        first, _, _ = crawl(web, "day-1")
        before = first.table().to_pylist()
        web.things[image(3, 0)] = Thing(picture(SCENES[-1], seed=9), "image/jpeg")
        web.things[f"{HOST}/p004.html"] = Thing(page(4).body.replace(b"Picture 4 0", b"Another words for 4"))
        second, _, _ = crawl(web, "day-2", "day-1")
    after = {row["key"]: row for row in second.table().to_pylist()}
    new = {key for key in after if key in set(second.shards[-1].read(["key"])["key"].to_pylist())}
    assert {after[key]["image_url"] for key in new} == {image(3, 0), image(4, 0)} and len(second.shards) == 3
    gone = [row for row in ledger(second) if row["rule"] == "gone"]
    assert len(gone) == 1 and gone[0]["value"] == "no longer on its page" and image(4, 0) in gone[0]["detail"]
    assert len(after) == len(before) and len({row["key"] for row in ledger(second)}) == len(before) + 1


def test_a_new_page_that_sorts_first_does_not_drive_out_the_pair_that_is_there(crawl):
    with CountingWeb(site(range(5, 10))) as web:
        first, _, _ = crawl(web, "day-1")
        before = shards(first)
        extra = page(5)  # the same pictures with the same alts, on a page that sorts before p005
        web.things |= {f"{HOST}/p000.html": extra, f"{HOST}/": site([0, *range(5, 10)])[f"{HOST}/"]}
        second, _, _ = crawl(web, "day-2", "day-1")
    assert {name: shards(second)[name] for name in before} == before
    duplicates = [row for row in ledger(second) if row["rule"] == "duplicate_pair"]
    assert len(duplicates) == 2 and all("p000.html" in row["detail"] for row in duplicates)
    assert {row["value"] for row in duplicates} <= set(first.table()["key"].to_pylist())


def test_the_output_is_a_function_of_the_snapshots_alone(crawl, tmp_path):
    """Whatever lies in data/ and in the caches, day 3 over days 2 and 1 is the same; and it asks for nothing."""
    with CountingWeb(site(range(12))) as web:
        crawl(web, "day-1")
        web.things |= site(range(13))
        crawl(web, "day-2", "day-1")
        web.things |= site(range(14))
        third, _, _ = crawl(web, "day-3", "day-2")
        whole = third.digest
        shutil.rmtree(tmp_path / ".hearsight")
        shutil.rmtree(tmp_path / "data/english")
        again, asked, _ = crawl(web, "day-3", "day-2")
        assert again.digest == whole and not asked and [len(s.read()) for s in again.shards] == [10, 10, 4, 2, 2]


def test_a_picture_without_a_validator_is_not_asked_for_while_it_is_fresh(crawl, tmp_path, monkeypatch):
    with CountingWeb(site(range(6), media_validator="none")) as web:
        crawl(web, "day-1")
        fresh = [one for one in crawl(web, "day-2", "day-1")[1] if "media" in one.url]
        assert [one.url for one in fresh] == ["http://media.sample/robots.txt"]
        always = [one for one in crawl(web, "day-2b", "day-1", fresh_for=0.0)[1] if one.url.endswith("-1.jpg")]
        assert len(always) == 6 and {one.status for one in always} == {200}
        with FetchStore(tmp_path / "data/store/day-2b") as store:  # asked for, found equal, and still not kept twice
            entries = [store.get(image(number, 1)) for number in range(6)]
            assert all(entry.held.startswith("day-1/") for entry in entries)
        # A copy from the future tells of a clock that went wrong: it is asked for.
        index = tmp_path / "data/store/day-1/index.jsonl"
        index.write_text(index.read_text().replace('"fetched": "20', '"fetched": "29'))
        wrong = [one for one in crawl(web, "day-2c", "day-1")[1] if one.url.endswith("-1.jpg")]
        assert len(wrong) == 6


def test_a_chain_refers_to_the_records_themselves(crawl, tmp_path):
    with CountingWeb(site(range(4))) as web:
        crawl(web, "day-1")
        for day in range(2, 6):
            _, asked, _ = crawl(web, f"day-{day}", f"day-{day - 1}")
            assert {one.status for one in asked if "robots" not in one.url and one.url != f"{HOST}/"} == {304}
    store = tmp_path / "data/store"
    with FetchStore(store / "day-5") as last:
        assert {entry.held.split("/")[0] for entry in last if entry.held} == {"day-1"}
        assert [base.snapshot for base in last.bases] == ["day-1", "day-2", "day-3", "day-4"]
        for middle in ("day-2", "day-3", "day-4"):  # nothing of theirs is needed to read it
            shutil.move(store / middle, tmp_path / middle)
        assert len({last.body(entry.url) for entry in last if entry.type == "image/jpeg"}) == 8
        assert last.verified_digest() == json.loads((store / "day-5/COMPLETE").read_bytes())["digest"]


def test_the_digest_is_of_content_and_the_check_covers_the_base(crawl, tmp_path):
    with CountingWeb(site(range(4))) as web:
        crawl(web, "day-1")
        crawl(web, "day-2", "day-1")
        crawl(web, "alone")
        store = tmp_path / "data/store"
        digests = [json.loads((store / name / "COMPLETE").read_bytes())["digest"] for name in ("day-1", "day-2", "alone")]
        assert len(set(digests)) == 1
        segment = store / "day-1/segment-00000.warc.gz"
        data = segment.read_bytes()
        segment.write_bytes(data[: len(data) // 2])
        with pytest.raises(HearsightError, match="base 'day-1' of 'day-2' has lost some"):
            crawl(web, "day-2", "day-1")
        segment.write_bytes(data)
        said = (store / "day-1/COMPLETE").read_text()
        (store / "day-1/COMPLETE").write_text(said.replace(digests[0], "0" * 64))
        with pytest.raises(HearsightError, match="base 'day-1' of 'day-2' was changed after"):
            crawl(web, "day-2", "day-1")
        shutil.rmtree(store / "day-1")
        with pytest.raises(HearsightError, match="is not a complete snapshot"):
            crawl(web, "day-2", "day-1")


def test_a_damaged_body_of_the_base_is_told_by_its_file(crawl, tmp_path):
    with CountingWeb(site(range(2))) as web:
        crawl(web, "day-1")
        crawl(web, "day-2", "day-1")
    segment = tmp_path / "data/store/day-1/segment-00000.warc.gz"
    with FetchStore(tmp_path / "data/store/day-1") as store:
        entry = store.get(image(0, 0))
    data = bytearray(segment.read_bytes())
    data[entry.offset + entry.length - 12] ^= 255
    segment.write_bytes(data)
    with FetchStore(tmp_path / "data/store/day-2") as store, pytest.raises(HearsightError, match=r"damaged.*") as caught:
        store.body(image(0, 0))
    assert "day-1" in str(caught.value)


@pytest.mark.parametrize(
    ("snapshot", "base", "message"),
    [
        ("day-2", "", "builds on 'day-1', not on none"),
        ("day-2", "other", "builds on 'day-1', not on 'other'"),
        ("day-1", "day-2", "builds on no base, not on 'day-2'"),
        ("day-3", "nowhere", "is not a complete snapshot"),
        ("day-3", "day-3", "cannot be its own base"),
        ("day-3", "../x", "base.* cannot name a folder"),
    ],
)
def test_a_base_that_makes_no_sense_is_one_line(crawl, snapshot, base, message):
    with CountingWeb(site(range(1))) as web:
        crawl(web, "day-1")
        crawl(web, "day-2", "day-1")
        with pytest.raises(HearsightError, match=message) as caught:
            crawl(web, snapshot, base)
    assert "\n" not in str(caught.value)


def test_an_interrupted_second_day_is_taken_up(crawl, tmp_path, monkeypatch):
    from components.web.fetch import Fetcher

    with CountingWeb(site(range(10))) as web:
        crawl(web, "day-1")
        web.things |= site(range(11))
        whole = crawl(web, "day-2", "day-1")[0].digest
        shutil.rmtree(tmp_path / "data/store/day-2")
        ask, left = Fetcher._ask, [12]

        async def breaks(self, url, role):
            left[0] -= 1
            if left[0] < 0:
                raise KeyboardInterrupt
            return await ask(self, url, role)

        monkeypatch.setattr(Fetcher, "_ask", breaks)
        with pytest.raises(KeyboardInterrupt):
            crawl(web, "day-2", "day-1")
        monkeypatch.setattr(Fetcher, "_ask", ask)
        # Worse than an interruption: the index is lost, and only the WARC records tell.
        (tmp_path / "data/store/day-2/index.jsonl").unlink()
        with FetchStore(tmp_path / "data/store/day-2", writer=True) as store:
            had = {entry.url for entry in store}
            assert had and any(entry.held for entry in store)
        second, asked, _ = crawl(web, "day-2", "day-1")
        assert second.digest == whole and not had & {one.url for one in asked}


def test_any_warc_tool_reads_the_revisits(crawl, tmp_path):
    from warcio.archiveiterator import ArchiveIterator

    with CountingWeb(site(range(2))) as web:
        crawl(web, "day-1")
        crawl(web, "day-2", "day-1")
    with (tmp_path / "data/store/day-2/segment-00000.warc.gz").open("rb") as handle:
        kinds = Counter((record.rec_type, record.http_headers.get_statuscode()) for record in ArchiveIterator(handle))
    assert kinds[("revisit", "304")] == 7 and kinds[("revisit", "200")] == 1  # the front page has no validator


def test_a_304_nobody_asked_for_is_a_row_and_no_record(crawl):
    things = site(range(2))
    things[image(1, 0)] = Thing(b"", "image/jpeg", status=304, validator="none")
    with CountingWeb(things) as web:
        output, _, _ = crawl(web, "day-1")
    assert [(row["rule"], row["value"]) for row in ledger(output) if row["rule"]] == [("http_status", "304")]


def test_entries_of_before_are_still_read(tmp_path):
    """An index written by an earlier version names neither times nor other snapshots."""
    with FetchStore(tmp_path / "s", writer=True) as store:
        store.add(Entry("http://a.sample/x", 200), b"body", [], "OK")
    index = tmp_path / "s/index.jsonl"
    line = {name: value for name, value in json.loads(index.read_text()).items() if name not in ("tdm", "fetched", "held")}
    index.write_text(json.dumps(line) + "\n")
    with FetchStore(tmp_path / "s") as store:
        assert store.body("http://a.sample/x") == b"body"
