"""The crawl stage end to end over the fixture web: one ledger row per page and image, deterministic output."""

from __future__ import annotations

import random
import shutil
from collections import Counter

import pytest

from components.core.digests import sha256_bytes
from components.core.errors import HearsightError
from components.core.params import parse_settings
from components.core.stage_output import StageOutput
from components.sample import serving as sample_web_module
from components.sample.sites import Site
from components.stages.crawl import Params
from components.stages.crawl.sources.source_pages import record_key
from components.web.store import FetchStore
from tests.support.crawl.crawls import crawled, fixture_block, interrupted


def crawl(stage, **changes) -> StageOutput:
    return crawled(stage(**changes))


@pytest.fixture
def requests(monkeypatch):
    """The URLs requested from any sample web."""
    log: list[str] = []
    start = sample_web_module.SampleWeb.__init__

    def watched(self, *args, **kwargs):
        start(self, *args, **kwargs)
        self.log = log

    monkeypatch.setattr(sample_web_module.SampleWeb, "__init__", watched)
    return log


def rows(output: StageOutput, kind: str) -> list[dict]:
    return [row for row in output.ledger().to_pylist() if row["kind"] == kind]


def test_every_image_and_page_has_one_ledger_row_with_the_expected_rule(stage):
    output = crawl(stage)
    records, pages = rows(output, "record"), rows(output, "page")
    rules = Counter(row["rule"] for row in records if row["verdict"] == "dropped")
    assert rules == {
        "truncated_image": 2,
        "not_an_image": 2,
        "connection": 2,
        "http_status": 2,
        "robots": 2,
        "duplicate_pair": 4,
        "empty_alt": 2,
        "data_uri": 2,
    }
    assert Counter(row["rule"] for row in pages) == {"": 14, "redirect": 2, "http_status": 2, "robots": 2}
    assert len({row["key"] for row in records}) == len(records) == 8 * 3 + 2 * 11 + 2
    assert output.manifest.counts["record"]["kept"] == output.table().num_rows == 8 * 3 + 2 * 3
    broken = next(row for row in records if row["rule"] == "truncated_image")
    assert "truncated" in broken["value"] and "cut-off.jpg on http://" in broken["detail"]


def test_records_are_complete_and_sorted_and_contain_no_port(stage):
    table = crawl(stage).table().to_pylist()
    assert table == sorted(table, key=lambda row: (row["page_url"], row["position"]))
    for row in table:
        assert row["key"] == record_key(row["page_url"], row["position"], row["image_url"], row["alt"])
        assert row["host"].endswith(".sample") and ":" not in row["page_url"].removeprefix("http://")
        assert row["language"] == "en" and min(row["width"], row["height"]) >= 100 and row["alt"]


def test_media_hold_each_image_once_with_its_original_bytes(stage):
    output = crawl(stage)
    media = dict(zip(*(output.table().column(name).to_pylist() for name in ("image_sha256", "media")), strict=True))
    assert all(sha256_bytes(output.read_media(where)) == sha for sha, where in media.items())
    assert sum(shard.media["members"] for shard in output.manifest.shards) == len(media)
    assert len({row["media"] for row in output.table().to_pylist()}) == len(media)


def test_a_second_run_sends_no_request_and_gives_equal_bytes(stage, requests):
    first = crawl(stage).digest
    assert requests
    requests.clear()
    assert crawl(stage).digest == first and requests == []


@pytest.mark.long
def test_the_output_does_not_depend_on_the_order_of_answers(stage, tmp_path, monkeypatch):
    first = crawl(stage)
    parent = (tmp_path / "data/store/fixture/COMPLETE").read_text()
    for seed in (1, 2):
        for part in ("data/store", ".hearsight"):
            shutil.rmtree(tmp_path / part)
        chance = random.Random(seed)
        answer = Site.answer

        def late(self, target, answer=answer, chance=chance):
            import time

            time.sleep(chance.random() * 0.01)
            return answer(self, target)

        monkeypatch.setattr(Site, "answer", late)
        monkeypatch.setattr(
            "components.web.fetch.interleave_hosts", lambda urls, chance=chance: chance.sample(list(urls), len(list(urls)))
        )
        assert crawl(stage, per_host=1 + 7 * (seed % 2)).digest == first.digest
        assert (tmp_path / "data/store/fixture/COMPLETE").read_text() == parent
        monkeypatch.undo()


@pytest.mark.long
def test_an_interrupted_crawl_resumes_without_repeating_requests(stage, tmp_path, requests):
    whole = crawl(stage).digest
    everything = Counter(requests)
    for part in ("data/store", ".hearsight"):
        shutil.rmtree(tmp_path / part)
    requests.clear()
    with interrupted(after=25):
        crawl(stage)
    with FetchStore(tmp_path / "data/store/fixture") as store:
        assert 0 < len(store) <= 25
        had = {entry.url for entry in store if not entry.failure}
    before = len(requests)
    assert crawl(stage).digest == whole
    again = set(requests[before:])
    assert not again & had and again | had == set(everything)


def test_a_changed_threshold_sends_no_request(stage, requests):
    kept = crawl(stage).table().num_rows
    requests.clear()
    output = crawl(stage, min_alt=40, max_image_bytes=15_000)
    assert 0 < output.table().num_rows < kept and requests == []
    assert {"image_too_large", "empty_alt"} <= {row["rule"] for row in rows(output, "record")}


def test_pages_over_the_depth_and_page_limits_are_in_the_ledger(stage):
    near = crawl(stage, depth=0, snapshot="near")
    assert {row["rule"] for row in rows(near, "page")} == {"", "depth"}
    few = crawl(stage, max_pages=5, snapshot="few")
    assert sum(row["rule"] == "page_limit" for row in rows(few, "page")) > 3


def test_a_complete_snapshot_that_lacks_a_page_is_an_error(stage):
    crawl(stage, depth=0)
    with pytest.raises(HearsightError, match=r"does not hold http://.*snapshot to a new name"):
        crawl(stage, depth=3)


@pytest.mark.parametrize("changes", [{"timeout": 0.0}, {"delay": -1.0}])
def test_a_number_out_of_its_range_is_a_one_line_error_that_names_the_setting(changes):
    ((name, value),) = changes.items()
    with pytest.raises(HearsightError, match=rf"crawl.*{name}") as raised:
        parse_settings(Params, fixture_block(**changes), "crawl")
    assert str(value) in str(raised.value) and "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seeds": ["meadow.sample"]}, "is not an http address"),
        ({"seeds": ["http://else.sample/"]}, "on no host of crawl.source.hosts"),
        ({"seeds": []}, "is empty"),
        ({"web": "open"}, "must give a contact"),
        ({"web_root": "nowhere"}, "holds no host folders"),
        ({"web_root": ""}, "web.root: is empty"),
        ({"snapshot": "../x"}, "cannot name a folder"),
        ({"web": "sample"}, "package .* is missing"),
    ],
)
def test_invalid_settings_are_one_line_errors(stage, changes, message):
    with pytest.raises(HearsightError, match=message) as caught:
        crawl(stage, **changes)
    assert "\n" not in str(caught.value)


def test_without_network_the_snapshot_stays_incomplete_and_the_next_run_retries(stage, tmp_path, monkeypatch, requests):
    proxy = sample_web_module.SampleWeb.proxy
    monkeypatch.setattr(sample_web_module.SampleWeb, "proxy", property(lambda self: "http://127.0.0.1:9"))
    with pytest.raises(HearsightError, match="none of the seeds can be reached"):
        crawl(stage, retries=0)
    assert not (tmp_path / "data/store/fixture/COMPLETE").exists() and requests == []
    monkeypatch.setattr(sample_web_module.SampleWeb, "proxy", proxy)
    assert crawl(stage).table().num_rows
