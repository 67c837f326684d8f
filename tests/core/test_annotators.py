"""Results are cached by their annotator's version, so code that changes without a new version leaves stale results."""

from __future__ import annotations

import json
import shutil

from tests.core.annotators import RECORD, current_annotators
from tests.support import PROJECT


def test_annotator_code_changes_only_with_its_version():
    recorded = json.loads(RECORD.read_text())
    for name, now in current_annotators().items():
        assert name in recorded, f"{name} is new: record it with `python -m tests.core.annotators`"
        if now["code"] != recorded[name]["code"]:
            assert now["version"] > recorded[name]["version"], (
                f"{name} computes with other code under the same version: raise `version`, then `python -m tests.core.annotators`"
            )
    assert set(recorded) == set(current_annotators()), "an annotator was removed: `python -m tests.core.annotators`"


def test_code_changes_are_detected_and_comments_are_not(tmp_path):
    shutil.copytree(PROJECT / "components", tmp_path / "components", ignore=shutil.ignore_patterns("__pycache__"))
    before = current_annotators(tmp_path)
    name = next(name for name in before if name.startswith("components.vision."))
    path = tmp_path.joinpath(*name.split(".")[:-1]).with_suffix(".py")
    path.write_text(path.read_text() + "\n# a comment\n")
    assert current_annotators(tmp_path)[name] == before[name]
    path.write_text(path.read_text() + "\nMORE = 1\n")
    assert current_annotators(tmp_path)[name]["code"] != before[name]["code"]
