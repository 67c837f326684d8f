"""An expensive result is cached by its annotator's version, so code that changes without a new one is a stale cache."""

from __future__ import annotations

import json
import shutil

from tests.core.annotators import RECORD, present
from tests.support import PROJECT


def test_annotator_code_changes_only_with_its_version():
    recorded = json.loads(RECORD.read_text())
    for name, now in present().items():
        assert name in recorded, f"{name} is new: record it with `python -m tests.core.annotators`"
        if now["code"] != recorded[name]["code"]:
            assert now["version"] > recorded[name]["version"], (
                f"{name} computes with other code under the same version: raise `version`, then `python -m tests.core.annotators`"
            )
    assert set(recorded) == set(present()), "an annotator is gone: `python -m tests.core.annotators`"


def test_the_guard_sees_a_changed_line_and_not_a_changed_comment(tmp_path):
    shutil.copytree(PROJECT / "components", tmp_path / "components", ignore=shutil.ignore_patterns("__pycache__"))
    before = present(tmp_path)
    name = next(name for name in before if name.startswith("components.vision."))
    path = tmp_path.joinpath(*name.split(".")[:-1]).with_suffix(".py")
    path.write_text(path.read_text() + "\n# a comment\n")
    assert present(tmp_path)[name] == before[name]
    path.write_text(path.read_text() + "\nMORE = 1\n")
    assert present(tmp_path)[name]["code"] != before[name]["code"]
