"""Archives as a source: the candidates of the live site with their locations, also from truncated files."""

from __future__ import annotations

import gzip
import random
import shutil

import pytest

from components.core.errors import HearsightError
from components.core.graph import load_graph
from components.core.stage_output import StageOutput
from components.execution.engine import LocalEngine
from components.stages.crawl import records
from components.stages.crawl.sources import source_pages
from components.stages.crawl.sources.inputs import draw_inputs, expand_inputs
from components.tracking.explain import explain
from tests.support.settings_files import copy_settings
from tests.support.web.archived import archive_web, record_at, web_pages, write_warc, write_wat


def rows(output: StageOutput, kind: str) -> list[dict]:
    return [row for row in output.ledger().to_pylist() if row["kind"] == kind]


def pairs(output: StageOutput) -> set[tuple[str, str, str]]:
    return {(row["page_url"], row["image_url"], row["alt"]) for row in output.table().to_pylist()}


def test_a_warc_gives_the_candidates_of_its_site(crawl, web, tmp_path):
    archive_web(web, tmp_path / "warc", 3)
    archived = crawl("warc/*.warc.gz", snapshot="archived")
    live = crawl(snapshot="live")
    assert pairs(archived) == pairs(live) and len(pairs(live)) > 20
    for row in archived.table().to_pylist():
        assert row["page_url"].encode() in record_at(tmp_path / row["archive"], row["archive_offset"])[:400]


def test_every_page_and_image_has_one_row(crawl, web, tmp_path):
    archive_web(web, tmp_path / "warc", 2)
    output = crawl("warc/part-00.warc.gz", "warc/part-01.warc.gz")
    pages, images = rows(output, "page"), rows(output, "record")
    assert {row["key"] for row in pages} == {url for url, _ in web_pages(web)} and len(pages) == len(web_pages(web))
    assert len({row["key"] for row in images}) == len(images)
    assert {"connection", "http_status", "robots", "empty_alt", "data_uri"} <= {row["rule"] for row in images}
    assert output.manifest.counts["record"]["kept"] == output.table().num_rows


def test_the_first_capture_of_a_page_is_used(crawl, web, tmp_path):
    pages = web_pages(web)
    write_warc(tmp_path / "a.warc.gz", pages[:4])
    write_warc(tmp_path / "b.warc.gz", [*pages[2:6], pages[2]])
    output = crawl("b.warc.gz", "a.warc.gz", "a.warc.gz")
    again = [row for row in rows(output, "page") if row["rule"] == "duplicate_page"]
    assert sorted(row["value"] for row in again) == sorted(url for url, _ in [*pages[2:4], pages[2]])
    assert len({row["key"] for row in rows(output, "page")}) == 4 + 5
    assert {row["archive"] for row in output.table().to_pylist() if row["page_url"] in {url for url, _ in pages[:4]}} == {
        "a.warc.gz"
    }


def test_a_truncated_part_is_a_ledger_row_and_the_rest_is_read(crawl, web, tmp_path):
    archive_web(web, tmp_path, 2)
    whole = crawl("part-0*.warc.gz", snapshot="whole")
    path = tmp_path / "part-00.warc.gz"
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 3 // 4])
    cut = crawl("part-0*.warc.gz", snapshot="cut")
    broken = [row for row in rows(cut, "page") if row["verdict"] == "dropped"]
    assert len(broken) == 1 and broken[0]["rule"] and "part-00.warc.gz at " in broken[0]["detail"]
    assert pairs(cut) < pairs(whole) and len(pairs(cut)) > len(pairs(whole)) // 2


def test_a_wat_gives_candidates_too(crawl, tmp_path):
    pages = [("http://meadow.sample/page-000.html", [("/images/0000.jpg", "A kite over the sea"), ("/images/0001.jpg", "")])]
    write_wat(tmp_path / "a.warc.wat.gz", pages)
    output = crawl("a.warc.wat.gz")
    assert pairs(output) == {(pages[0][0], "http://meadow.sample/images/0000.jpg", "A kite over the sea")}
    assert [row["rule"] for row in rows(output, "record")] == ["", "empty_alt"]


@pytest.mark.long
def test_chunk_and_row_group_sizes_do_not_change_the_output(crawl, web, tmp_path, monkeypatch):
    archive_web(web, tmp_path, 2)
    digest = crawl("part-0*.warc.gz").digest
    shutil.rmtree(tmp_path / ".hearsight")
    monkeypatch.setattr(source_pages, "IMAGES_PER_CHUNK", 7)
    monkeypatch.setattr(source_pages, "PAGES_PER_GROUP", 3)
    assert crawl("part-0*.warc.gz").digest == digest


def test_a_complete_snapshot_does_not_read_its_archives(crawl, web, tmp_path):
    archive_web(web, tmp_path, 2)
    digest = crawl("part-0*.warc.gz").digest
    for path in tmp_path.glob("*.warc.gz"):
        path.unlink()
    assert crawl("part-0*.warc.gz").digest == digest


def test_many_ledger_rows_close_a_shard(crawl, web, tmp_path, monkeypatch):
    archive_web(web, tmp_path, 1)
    monkeypatch.setattr(records, "MAX_ROWS_PER_SHARD", 10)
    output = crawl("part-00.warc.gz", min_alt=10_000)
    assert len(output.manifest.shards) > 3 and len(output.ledger()) == len({row["key"] for row in output.ledger().to_pylist()})


@pytest.mark.long
def test_path_lists_name_archives(crawl, web, tmp_path):
    archive_web(web, tmp_path / "warc", 2)
    (tmp_path / "warc.paths.gz").write_bytes(gzip.compress(b"warc/part-00.warc.gz\nwarc/part-01.warc.gz\n"))
    listed = crawl("warc.paths.gz", snapshot="listed")
    assert listed.digest == crawl("warc/*.warc.gz", snapshot="globbed").digest


@pytest.mark.long
@pytest.mark.parametrize("signed", [True, False])
def test_a_list_in_s3_names_archives_in_s3_which_worker_processes_read(crawl, web, tmp_path, bucket, monkeypatch, signed):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "x") if signed else monkeypatch.delenv(name, raising=False)
    parts = archive_web(web, tmp_path / "warc", 3)
    for part in parts:
        bucket.upload_file(str(part), "archive", f"crawl/{part.name}", ExtraArgs={"ACL": "public-read"})
    listed = "".join(f"crawl/{part.name}\n" for part in parts)
    bucket.put_object(Bucket="archive", Key="warc.paths.gz", Body=gzip.compress(listed.encode()), ACL="public-read")
    remote = crawl("s3://archive/warc.paths.gz", snapshot="remote", engine=LocalEngine(2))
    assert pairs(remote) == pairs(crawl("warc/*.warc.gz", snapshot="local")) and remote.table().num_rows > 20
    row = remote.table().to_pylist()[0]
    key = row["archive"].removeprefix("s3://archive/crawl/")
    assert row["page_url"].encode() in record_at(tmp_path / "warc" / key, row["archive_offset"])[:400]
    drawn = crawl("s3://archive/warc.paths.gz", snapshot="drawn", sample=2, sample_seed=1)
    assert len({row["archive"] for row in drawn.table().to_pylist()}) == 2


def test_a_sample_is_seeded_and_mostly_stable_when_the_list_grows(tmp_path):
    names = [f"part-{at:05d}.warc.gz" for at in range(1000)]
    drawn = draw_inputs(names, 100, 7)
    assert drawn == sorted(set(drawn)) and len(drawn) == 100 and set(drawn) < set(names)
    assert draw_inputs(random.Random(1).sample(names, 1000), 100, 7) == drawn != draw_inputs(names, 100, 8)
    grown = draw_inputs([*names, *(f"more-{at:05d}.warc.gz" for at in range(100))], 100, 7)
    assert len(set(grown) & set(drawn)) > 80
    assert draw_inputs(names, 0, 7) == names
    with pytest.raises(HearsightError, match="asks for 1001 of 1000"):
        draw_inputs(names, 1001, 7)


def test_expanded_inputs_are_unique_and_sorted(tmp_path):
    for name in ("b.warc.gz", "a.warc.gz", "deep/c.warc.gz", "odd[1].warc.gz"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert expand_inputs(["*.warc.gz", "a.warc.gz", "**/c.warc.gz"], tmp_path) == [
        "a.warc.gz",
        "b.warc.gz",
        "deep/c.warc.gz",
        "odd[1].warc.gz",
    ]
    assert expand_inputs(["odd[1].warc.gz", "s3://commoncrawl/x.warc.gz"], tmp_path) == [
        "odd[1].warc.gz",
        "s3://commoncrawl/x.warc.gz",
    ]


@pytest.mark.long
def test_explain_shows_page_archive_and_offset(crawl, web, tmp_path):
    archive_web(web, tmp_path, 1)
    output = crawl("part-00.warc.gz")
    copy_settings(tmp_path)
    for row in output.table().to_pylist()[:3]:
        (history,) = explain(load_graph(tmp_path), row["key"])
        where = f"on {row['page_url']} in part-00.warc.gz at {row['archive_offset']}"
        assert history.events[0].detail == f"{row['image_url']} {where}"
        page = [history for history in explain(load_graph(tmp_path), row["page_url"]) if history.kind == "page"]
        assert page[0].events[0].detail.endswith(f"images, in part-00.warc.gz at {row['archive_offset']}")
