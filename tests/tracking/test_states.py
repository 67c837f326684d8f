"""The states of outputs: up to date after a run, and what a change of settings, inputs, outputs and checks makes of them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from components.core.graph import load_graph
from components.tracking.states import CHANGED, FAILED, NOT_RUN, UP_TO_DATE, WARNINGS, OutputState, output_states
from tests.support import PROJECT, leave_warning, make_output
from tests.support.app.project import fail, finish, new_project
from tests.support.settings_files import edit_settings


@pytest.fixture
def root(tmp_path: Path) -> Path:
    new_project(tmp_path)
    finish(tmp_path, "english", "crawl")
    finish(tmp_path, "english", "filter")
    return tmp_path


def state(root: Path, name: str) -> OutputState:
    return output_states(load_graph(root))[name]


def test_what_has_run_and_passed_is_up_to_date_and_the_rest_has_not_run(root):
    states = output_states(load_graph(root))
    assert states["english/crawl"].state == states["english/filter"].state == UP_TO_DATE
    assert states["english/dedup"].state == states["captioners/cells/english-t2t8x8/train_captioner"].state == NOT_RUN


def test_another_setting_changes_its_stage_alone(root):
    edit_settings(root, lambda content: content["english"]["crawl"]["source"].update(max_pages=4001))
    assert (state(root, "english/crawl").state, state(root, "english/crawl").changes) == (CHANGED, ("settings",))
    assert state(root, "english/filter").state == UP_TO_DATE


def test_another_code_changes_its_stage(root, monkeypatch):
    shutil.copytree(PROJECT / "components", root / "components", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr("components.core.graph.CODE_ROOT", root)
    assert state(root, "english/filter").state == UP_TO_DATE
    with (root / "components" / "stages" / "filter" / "__init__.py").open("a") as file:
        file.write("RULE = 1\n")
    assert state(root, "english/filter").changes == ("code",)


def test_an_input_written_anew_changes_the_stage_that_reads_it(root):
    make_output(root, "crawl", [[], []], "english")
    assert state(root, "english/filter").changes == ("inputs",)


def test_what_is_made_from_an_old_output_is_old_too_and_other_settings_make_nothing_old(root):
    for stage in ("hypernymize", "dedup"):
        finish(root, "english", stage)
    edit_settings(root, lambda content: content["english"]["filter"].update(sides_over=98))
    assert state(root, "english/dedup").state == UP_TO_DATE
    make_output(root, "crawl", [[], []], "english")
    assert not state(root, "english/crawl").old
    assert state(root, "english/filter").changes == ("settings", "inputs")
    hypernymize = state(root, "english/hypernymize")
    assert (hypernymize.state, hypernymize.changes, hypernymize.old) == (CHANGED, ("earlier",), True)
    assert state(root, "english/dedup").changes == ("inputs",), "it reads the images of the crawl"


def test_an_output_changed_after_its_run_is_changed(root):
    make_output(root, "filter", [[], []], "english")
    assert state(root, "english/filter").changes == ("output",)
    (root / "data" / "english" / "filter" / "manifest.json").write_bytes(b"{}")
    assert state(root, "english/filter").changes == ("output",)


def test_a_failed_check_names_each_expectation_once_until_the_output_is_written_again(root):
    draft = fail(root, "english", "filter", "expect_it")
    failed = state(root, "english/filter")
    (failure,) = failed.failures
    assert failed.state == FAILED and failure.table == "shards" and failure.text == "key expect_it found <3>"
    docs = root / "reports" / "data_docs" / "english" / "filter"
    assert failure.page == docs / "shards.html"
    later = (docs / "index.html").stat().st_mtime + 5
    os.utime(draft / "manifest.json", (later, later))
    assert state(root, "english/filter").state == NOT_RUN


def test_warnings_are_shown_and_do_not_change_an_output(root):
    leave_warning(finish(root, "english", "filter"))
    warned = state(root, "english/filter")
    assert warned.state == WARNINGS and warned.warnings[0].table == "by_voice"
