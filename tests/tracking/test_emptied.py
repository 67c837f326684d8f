"""An output without records says which rule of which ledger dropped them, and which setting to change."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from components.cli.stages import check_draft
from components.core.errors import HearsightError
from components.core.graph import load_graph
from components.core.ledger import dropped, kept, ledger_table
from components.core.records import OUTPUT_SCHEMAS
from components.core.stage_output import StageOutput
from components.execution import runner
from components.execution.stage import Stage
from components.stages.crawl import run as crawling
from components.tracking.emptied import why_empty
from tests.support import InlineEngine, make_stage
from tests.support.crawl.fixture_web import drawn_image
from tests.support.datasets import project
from tests.support.settings_files import edit_settings


def finish(root: Path, stage: str, rows: list[dict[str, str]], dataset: str = "english") -> StageOutput:
    """A finished output of no records with these ledger rows."""
    job = make_stage(root, stage, dataset)
    job.write_shard("00000", pa.Table.from_pylist([], schema=OUTPUT_SCHEMAS[stage][1]), ledger_table(rows))
    job.finish()
    return StageOutput(job.out)


def test_the_rule_that_dropped_most_is_named_with_an_example_and_its_setting(tmp_path: Path) -> None:
    root = project(tmp_path)
    sides = [dropped(f"a{at}", "image_side", 320 + at, "> 400 px") for at in range(3)]
    output = finish(root, "filter", [*sides, dropped("b", "min_words", 1, ">= 2")])
    assert str(why_empty(load_graph(root), "filter", output)) == (
        f"{root}/datasets/english.yaml: filter.sides_over: filter of english kept none of 4 records: image_side dropped 3, "
        "min_words dropped 1 (image_side: 320, allowed: more than 400 px) — change filter.sides_over, and run again"
    )


def test_a_stage_that_nothing_entered_names_the_stage_before_that_dropped_everything(tmp_path: Path) -> None:
    root = project(tmp_path)
    finish(root, "crawl", [kept("p", kind="page")])
    finish(root, "filter", [dropped("a", "image_side", 320, "> 400 px")])
    finish(root, "hypernymize", [])
    found = why_empty(load_graph(root), "dedup", finish(root, "dedup", []))
    assert found is not None and "filter of english kept none of 1 records: image_side dropped 1" in str(found)


def test_a_crawl_asks_for_another_snapshot_and_a_page_rule_counts_if_there_was_no_image(tmp_path: Path) -> None:
    root = project(tmp_path)
    rows = [kept("p", kind="page"), dropped("q", "private_address", "10.0.0.1", "public addresses only", kind="page")]
    found = str(why_empty(load_graph(root), "crawl", finish(root, "crawl", rows)))
    assert "kept none of 1 pages: private_address dropped 1 (private_address: 10.0.0.1, allowed: public addresses only)" in found
    assert "english.yaml: crawl.allow_private" in found and "change crawl.allow_private and crawl.snapshot" in found


def test_an_output_with_records_or_without_any_row_has_no_reason(tmp_path: Path) -> None:
    root = project(tmp_path)
    assert why_empty(load_graph(root), "crawl", finish(root, "crawl", [])) is None


@pytest.mark.long
def test_the_failed_check_of_a_real_crawl_says_what_dropped_its_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = project(tmp_path)
    (root / "a.jpg").write_bytes(drawn_image(("red", "kite", "on the blue sea")))
    (root / "captions.tsv").write_text("\ta.jpg\n\ta.jpg\nA kite\tcaptions.tsv\n")
    source = {"kind": "table", "layout": "tsv", "inputs": ["captions.tsv"], "language": "en"}
    edit_settings(root, lambda content: content["stamps"].update(crawl={"snapshot": "mine-1", "source": source}))
    monkeypatch.setattr(runner, "make_engine", lambda *_: InlineEngine())
    with pytest.raises(
        HearsightError, match=r"crawl of stamps kept none of 3 records: empty_alt dropped 2, not_an_image dropped 1"
    ):
        runner.run_stage(root, "crawl", "stamps", check=check_draft)
    assert not (root / "data" / "stamps" / "crawl").exists()


def private_site(root: Path, **changes: object) -> Stage:
    """The crawl of a seed on this machine."""
    source = {"kind": "site", "seeds": ["http://localhost:9/"], "hosts": ["localhost:9"]}
    block = {"snapshot": "mine-1", "source": source, "contact": "mail@example.org", "retries": 0, **changes}
    edit_settings(root, lambda content: content["english"].update(crawl=block))
    return make_stage(root, "crawl", "english", runner.stage_settings(load_graph(root), "crawl", "english"))


def test_a_site_at_a_private_address_names_the_setting_and_goes_on_with_it_under_the_same_snapshot(tmp_path: Path) -> None:
    root = project(tmp_path)
    with pytest.raises(HearsightError, match=r"crawl.allow_private: localhost is a private address.*--allow-private"):
        crawling.run(private_site(root))
    with pytest.raises(HearsightError, match="none of the seeds can be reached"):
        crawling.run(private_site(root, allow_private=True))
