"""Measured figures out of their range do not stop a stage, and are seen everywhere a person looks."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from components.cli.main import app
from components.core.addresses import docs_folder
from components.core.check_warnings import CheckWarning, read_warnings, upstream_outputs
from components.core.errors import HearsightError
from components.core.graph import load_graph
from components.core.manifest import WARNINGS
from components.core.stage_output import StageOutput
from components.execution.runner import _check
from components.stages.check import check
from tests.support import PROJECT, make_output, make_stage
from tests.support.check.boundaries import fill, make
from tests.support.check.corruptions import put
from tests.support.settings_files import copy_settings

LOOP = put(voice="mumbler", words=5, word_errors=40, characters=20, character_errors=150)
"""A recogniser that repeats itself: more errors than words, and a rate far above 1."""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(PROJECT / "expectations", tmp_path / "expectations")
    copy_settings(tmp_path)
    monkeypatch.setenv("HEARSIGHT_ROOT", str(tmp_path))
    monkeypatch.setenv("HEARSIGHT_WARM", "off")
    return tmp_path


def test_a_repeating_recogniser_gives_a_warning_in_the_output_and_data_docs(root: Path) -> None:
    make(root, "evaluate_speech", LOOP)
    done = CliRunner().invoke(app, ["check", "evaluate_speech"])
    assert done.exit_code == 0, done.output
    lines = [
        line for line in done.stderr.splitlines() if line.startswith("hearsight: warning: english/evaluate_speech: by_voice")
    ]
    assert len(lines) == 1 and "7.5" in lines[0] and "'character_error_rate'" in lines[0]
    assert json.loads(done.stdout)["warnings"] == 1
    docs = (docs_folder(root, "english", "evaluate_speech") / "index.html").read_text()
    (warning,) = check(root, "english", "evaluate_speech").warnings
    assert 'class="warning"' in docs and warning.why[:40] in docs
    assert (
        "If not met, a warning that stops nothing"
        in (docs_folder(root, "english", "evaluate_speech") / "by_voice.html").read_text()
    )


@pytest.mark.parametrize(("dataset", "warned"), [("english", 1), ("paper", 0)])
@pytest.mark.parametrize("stage", ["filter", "hypernymize"])
def test_that_nothing_is_kept_is_a_warning_but_for_the_papers_rules_on_the_demos_small_images(
    root: Path, stage: str, dataset: str, warned: int
) -> None:
    make_output(root, stage, [[]], dataset)
    assert len(check(root, dataset, stage).warnings) == warned


def test_a_run_keeps_its_warnings_in_the_output_and_other_warnings_leave_the_digest_of_its_data(root: Path) -> None:
    job = make_stage(root, "split")
    fill(job)
    warnings = [CheckWarning("english/split", "shards", "text", "expect_it", found, "it is measured") for found in "ab"]
    manifests = [_check(root, job, job.finish(), lambda *_, n=n: warnings[:n])[0] for n in range(3)]
    assert len({manifest.digest for manifest in manifests}) == 3
    assert len({manifest.data_digest for manifest in manifests}) == 1
    assert StageOutput(job.out).digest == manifests[-1].digest
    assert read_warnings([StageOutput(job.out)]) == warnings
    assert check(root, "english", "split"), "a file of warnings belongs to the output"


def test_a_failure_beside_a_warning_stops_the_boundary(root: Path) -> None:
    def both(rows: list[dict[str, object]], ledger: object) -> None:
        LOOP(rows, ledger)  # type: ignore[arg-type]
        rows[2]["words"] = 0

    make(root, "evaluate_speech", both)
    with pytest.raises(HearsightError, match="column 'words' fails"):
        check(root, "english", "evaluate_speech")


def test_an_unknown_severity_is_named(root: Path) -> None:
    make(root, "split")
    suite = json.loads((root / "expectations/split.json").read_text())
    suite["tables"]["shards"][0]["severity"] = "mild"
    (root / "expectations/split.json").write_text(json.dumps(suite))
    with pytest.raises(HearsightError, match=r"shards\[0\] has severity 'mild'"):
        check(root, "english", "split")


def test_a_damaged_file_of_warnings_is_named(root: Path) -> None:
    job = make_stage(root, "split")
    job.write_file(WARNINGS, b'[{"line": 1}]')
    job.finish()
    with pytest.raises(HearsightError, match="is not a warnings file"):
        read_warnings([StageOutput(job.out)])


def test_upstream_outputs_are_all_outputs_of_a_datasets_lineage(root: Path) -> None:
    def names(dataset: str) -> set[str]:
        return {output.name for output in upstream_outputs(load_graph(root), dataset)}

    assert {"spoken/evaluate_retrieval", "stamps/import_recordings"} & names("spoken") == {"spoken/evaluate_retrieval"}
    assert {"stamps_synthetic/synthesize", "english/synthesize", "english/crawl"} <= names("spoken")
    assert "captioners/cells/english-t2t8x8/train_captioner" in names("captioners")


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
