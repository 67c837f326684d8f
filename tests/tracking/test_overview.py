"""``hearsight show`` of a dataset without a report: its stages, what each dropped, and what is still to run."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from typer.testing import CliRunner

from components.cli.main import app
from components.core.addresses import parse_output_path
from components.core.errors import HearsightError
from components.core.graph import load_graph
from components.core.ledger import dropped, kept, ledger_table
from components.core.records import OUTPUT_SCHEMAS
from components.tracking.overview import RESULT_STAGES, overview, pages
from tests.support import leave_warning, make_output, make_stage, row
from tests.support.app.project import finish
from tests.support.settings_files import copy_settings


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of no finished stages, in which commands run."""
    copy_settings(tmp_path)
    monkeypatch.setenv("HEARSIGHT_ROOT", str(tmp_path))
    monkeypatch.setenv("HEARSIGHT_TRACKING", "off")
    return tmp_path


def filtered(root: Path, dataset: str = "paper") -> None:
    """A finished filter that kept one record and dropped three."""
    job = make_stage(root, "filter", dataset)
    table = pa.Table.from_pylist([row("filter", key="k")], schema=OUTPUT_SCHEMAS["filter"][1])
    rules = ["min_words", "image_side", "min_words"]
    rows = [kept("k"), *(dropped(f"d{at}", rule, 1, 2) for at, rule in enumerate(rules))]
    job.write_shard("00000", table, ledger_table(rows))
    job.finish()


def show(dataset: str) -> str:
    shown = CliRunner().invoke(app, ["show", "--dataset", dataset])
    assert shown.exit_code == 0, shown.output
    return shown.output


def test_a_dataset_without_a_report_stage_shows_counts_rules_and_the_folder_of_its_records(root: Path) -> None:
    filtered(root)
    line = leave_warning(make_output(root, "hypernymize", [[row("hypernymize", key="k")]], "paper"))
    shown = show("paper")
    table = [text.split() for text in shown.splitlines()]
    assert ["filter", "4", "1", "25.0", "%", "min_words", "2,", "image_side", "1"] in table
    assert ["hypernymize", "1", "1", "100.0", "%"] in table
    assert "filter reads english/crawl (input)" in shown and "not finished" not in shown
    assert line in shown and str(root / "data/paper/hypernymize/shards") in shown and "make ui" in shown


def test_the_sizes_of_a_split_are_shown(root: Path) -> None:
    names = ["train", "train", "validation", "train", "test", "test"]
    make_output(root, "split", [[row("split", key=str(at), split=name) for at, name in enumerate(names)]], "english")
    assert "\ntrain 3, test 2, validation 1\nrecords of split, as Parquet: " in show("english")


def test_an_unfinished_chain_shows_its_finished_stages_and_the_next_command(root: Path) -> None:
    filtered(root, "english")
    shown = show("english")
    assert "25.0 %" in shown and "dvc repro crawl@english hypernymize@english dedup@english" in shown


def test_after_a_stage_has_run_again_its_counts_are_new_and_what_reads_it_is_marked_as_old(root: Path) -> None:
    for path in load_graph(root).inputs("report", "english").values():
        dataset, stage = parse_output_path(path)
        made = make_stage(root, stage, dataset)
        if stage in RESULT_STAGES:
            made.write_file("summary.txt", f"scores of {stage}\n".encode())
        made.finish()
    for stage in ("crawl", "filter", "hypernymize", "dedup", "report"):
        finish(root, "english", stage)
    shown = show("english")
    assert "older than" not in shown and "scores of evaluate_retrieval" in shown
    filtered(root, "english")
    shown = show("english")
    assert "25.0 %" in shown
    assert "  older than its inputs: hypernymize, report\n" in shown
    assert "  older than what its inputs are made from: dedup" in shown


def test_unknown_and_unfinished_datasets_give_a_one_line_error_with_the_next_step(root: Path) -> None:
    graph = load_graph(root)
    with pytest.raises(HearsightError, match=r"no stage of 'paper' has finished .* run `dvc repro filter@paper`"):
        overview(graph, "paper", {})
    with pytest.raises(HearsightError, match=r"no dataset 'papper' .* known are: english, .*paper"):
        overview(graph, "papper", {})


def test_pages_are_those_of_finished_stages(root: Path) -> None:
    job = make_stage(root, "evaluate_speech", "stamps_synthetic")
    job.write_file("listen.html", b"<p>")
    job.write_file("listen.txt", b"")
    job.finish()
    assert pages(load_graph(root), "stamps_synthetic") == {
        "voices, to listen to": str(root / "data/stamps_synthetic/evaluate_speech/listen.html")
    }
