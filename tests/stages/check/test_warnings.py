"""Measured figures out of their range do not fail a gate, and are seen everywhere a person looks."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from components.cli.main import app
from components.core.check_warnings import read_warnings, upstream_outputs, warnings_path
from components.core.errors import HearsightError
from components.core.gates import gate_bytes
from components.core.graph import load_graph
from components.core.stage_output import StageOutput
from components.stages.check import check, docs_folder
from tests.settings_files import copy_settings
from tests.stages.check.boundaries import make
from tests.stages.check.corruptions import put
from tests.support import PROJECT

LOOP = put(voice="mumbler", words=5, word_errors=40, characters=20, character_errors=150)
"""A recogniser that repeats itself: more errors than words, and a rate far above 1."""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(PROJECT / "expectations", tmp_path / "expectations")
    copy_settings(tmp_path)
    monkeypatch.setenv("HEARSIGHT_ROOT", str(tmp_path))
    monkeypatch.setenv("HEARSIGHT_WARM", "off")  # a fork would take this process's arguments, which are pytest's
    return tmp_path


def test_a_repeating_recogniser_gives_a_warning_in_the_output_the_file_and_data_docs(root: Path) -> None:
    stage_output = StageOutput(make(root, "evaluate_speech", LOOP))
    done = CliRunner().invoke(app, ["check", "evaluate_speech"])
    assert done.exit_code == 0, done.output
    lines = [
        line for line in done.stderr.splitlines() if line.startswith("hearsight: warning: english/evaluate_speech: by_voice")
    ]
    assert len(lines) == 1 and "7.5" in lines[0] and "'character_error_rate'" in lines[0]
    assert json.loads(done.stdout)["warnings"] == 1
    assert (root / "reports/gates/english/evaluate_speech.json").read_bytes() == gate_bytes(
        stage_output.name, stage_output.digest
    )
    result = read_warnings(root, ["english/evaluate_speech"])
    assert [(each.table, each.column) for each in result] == [("by_voice", "character_error_rate")]
    docs = docs_folder(root, "english", "evaluate_speech")
    assert 'class="warning"' in (docs / "index.html").read_text() and result[0].why[:40] in (docs / "index.html").read_text()
    assert "Warning, does not fail the gate" in (docs / "by_voice.html").read_text()


def test_the_next_check_replaces_the_warnings_and_a_valid_output_has_none(root: Path) -> None:
    make(root, "evaluate_speech", LOOP)
    assert check(root, "english", "evaluate_speech").warnings
    make(root, "evaluate_speech")
    assert check(root, "english", "evaluate_speech").warnings == []
    assert json.loads(warnings_path(root, "english", "evaluate_speech").read_bytes())["warnings"] == []


def test_a_failure_beside_a_warning_stops_the_boundary_and_keeps_the_warning(root: Path) -> None:
    def both(rows: list[dict[str, object]], ledger: object) -> None:
        LOOP(rows, ledger)  # type: ignore[arg-type]
        rows[2]["words"] = 0

    make(root, "evaluate_speech", both)
    with pytest.raises(HearsightError, match="column 'words' fails"):
        check(root, "english", "evaluate_speech")
    assert not (root / "reports/gates/english/evaluate_speech.json").exists()
    assert len(read_warnings(root, ["english/evaluate_speech"])) == 1


def test_a_damaged_output_keeps_no_warnings_of_an_earlier_check(root: Path) -> None:
    folder = make(root, "evaluate_speech", LOOP)
    check(root, "english", "evaluate_speech")
    (folder / "shards/00000.parquet").unlink()
    with pytest.raises(HearsightError, match="file_matches_manifest"):
        check(root, "english", "evaluate_speech")
    assert read_warnings(root, ["english/evaluate_speech"]) == []


def test_an_unknown_severity_is_named(root: Path) -> None:
    make(root, "split")
    suite = json.loads((root / "expectations/split.json").read_text())
    suite["tables"]["shards"][0]["severity"] = "mild"
    (root / "expectations/split.json").write_text(json.dumps(suite))
    with pytest.raises(HearsightError, match=r"shards\[0\] has severity 'mild'"):
        check(root, "english", "split")


def test_a_damaged_file_of_warnings_is_named(root: Path) -> None:
    path = warnings_path(root, "english", "split")
    path.parent.mkdir(parents=True)
    path.write_text('{"warnings": [{"line": 1}]}')
    with pytest.raises(HearsightError, match="is not a warnings file"):
        read_warnings(root, ["english/split"])


def test_upstream_outputs_are_all_outputs_of_a_datasets_lineage(root: Path) -> None:
    result = upstream_outputs(load_graph(root), "spoken")
    assert {"spoken/evaluate_retrieval", "stamps/import_recordings"} & set(result) == {"spoken/evaluate_retrieval"}
    assert {"stamps_synthetic/synthesize", "english/synthesize", "english/crawl"} <= set(result)
    assert "captioners/cells/english-t2t8x8/train_captioner" in upstream_outputs(load_graph(root), "captioners")


MEASURED = (
    "character_error_rate", "p", "off", "level", "lead", "tail", "seconds_per_character", "output", "word_errors", "row_count",
)  # fmt: skip
"""Columns of measured figures: a failing expectation may hold them to what is possible and to nothing narrower."""


@pytest.mark.parametrize("suite", sorted((PROJECT / "expectations").glob("*.json")), ids=lambda path: path.stem)
def test_suites_bound_measured_figures_by_warnings_or_their_possible_range(suite: Path) -> None:
    for entries in json.loads(suite.read_text())["tables"].values():
        for entry in entries:
            if entry.get("column") in MEASURED and entry.get("severity") != "warning":
                assert entry.get("min_value", 0) == 0 and entry.get("max_value", 0) in (0, 1), entry
                assert "mostly" not in entry
