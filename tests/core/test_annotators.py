"""Results are cached by their annotator's version, so code that changes without a new version leaves stale results."""

from __future__ import annotations

import json
import shutil

from tests.core import annotators
from tests.core.annotators import RECORD, REGISTRY, SPEECH, current_annotators, engines
from tests.support import PROJECT
from tests.support.import_graph import import_graph


def test_annotator_code_changes_only_with_its_version():
    recorded = json.loads(RECORD.read_text())
    new_engines = engines() - set(recorded)
    current = {name: now for name, now in current_annotators().items() if name not in new_engines}
    for name, now in current.items():
        assert name in recorded, f"{name} is new: record it with `python -m tests.core.annotators`"
        if now["code"] != recorded[name]["code"]:
            assert now["version"] > recorded[name]["version"], (
                f"{name} computes with other code under the same version: raise `version`, then `python -m tests.core.annotators`"
            )
    assert set(recorded) == set(current), "an annotator was removed: `python -m tests.core.annotators`"


def test_code_changes_are_detected_and_comments_are_not(tmp_path):
    shutil.copytree(PROJECT / "components", tmp_path / "components", ignore=shutil.ignore_patterns("__pycache__"))
    before = current_annotators(tmp_path)
    name = next(name for name in before if name.startswith("components.vision."))
    path = tmp_path.joinpath(*name.split(".")[:-1]).with_suffix(".py")
    path.write_text(path.read_text() + "\n# a comment\n")
    assert current_annotators(tmp_path)[name] == before[name]
    path.write_text(path.read_text() + "\nMORE = 1\n")
    assert current_annotators(tmp_path)[name]["code"] != before[name]["code"]


def test_code_of_a_versioned_step_counts_as_the_code_of_an_annotator(tmp_path):
    shutil.copytree(PROJECT / "components", tmp_path / "components", ignore=shutil.ignore_patterns("__pycache__"))
    before = current_annotators(tmp_path)
    for file, changed in {
        "models/captioners/aoanet.py": {
            "components.stages.train_captioner.run: models",
            "components.stages.evaluate_captioners.jobs: captions",
        },
        "retrieval/recipe.py": {f"components.stages.{stage}_retrieval.run: models" for stage in ("pretrain", "finetune")},
        "core/files.py": set(),
    }.items():
        path = tmp_path / "components" / file
        path.write_text(path.read_text() + "\nMORE = 1\n")
        now = current_annotators(tmp_path)
        assert {name for name in now if now[name] != before[name]} == changed
        before = now


def test_a_new_engine_changes_no_recorded_digest_and_a_changed_engine_changes_its_own(tmp_path, monkeypatch):
    shutil.copytree(PROJECT / "components", tmp_path / "components", ignore=shutil.ignore_patterns("__pycache__"))
    before = current_annotators(tmp_path)
    assert {"components.speech.voices.engine_flite", "components.speech.voices.engine_piper", SPEECH} <= set(before)
    voices = tmp_path / "components/speech/voices"
    (voices / "new_tone.py").write_text("from components.speech.voices.voice import EngineEntry\n\nENGINE = EngineEntry\n")
    graph = import_graph.__wrapped__()
    graph.add_import(importer=REGISTRY, imported="components.speech.voices.new_tone")
    graph.add_import(importer="components.speech.voices.new_tone", imported=annotators.ENTRY)
    monkeypatch.setattr(annotators, "import_graph", lambda: graph)
    added = current_annotators(tmp_path)
    assert set(added) - set(before) == {"components.speech.voices.new_tone"}
    assert {name: added[name] for name in before} == before
    for file, changed in {
        "engine_flite.py": {"components.speech.voices.engine_flite"},
        "onnx_noise.py": {"components.speech.voices.engine_piper"},
        "hosts.py": {SPEECH},
    }.items():
        path = voices / file
        path.write_text(path.read_text() + "\nMORE = 1\n")
        now = current_annotators(tmp_path)
        assert {name for name in now if now[name] != added[name]} == changed
        added = now
