"""The filter with models of a hub: the score of image and text, and labels of one's own vocabulary; without them, as before."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from components.core.addresses import lineage_path
from components.core.digests import sha256_bytes
from components.core.errors import HearsightError
from components.core.graph import load_graph
from components.core.params import read_params_file
from components.core.rule_values import ANYTHING
from components.core.stage_output import StageOutput
from components.execution.stage import Stage
from components.hub.model import HubModel, find_model
from components.providers.registry import ProviderParams, ZeroShot, plan_for, plan_of
from components.stages.filter.cascade import RULES
from components.stages.filter.measured_values import measure_records
from components.stages.filter.run import run as run_filter
from components.tools.calibrate.run import calibrate
from components.tools.takedown.caches import find_annotations
from tests.support import PROJECT, WORKERS, make_stage
from tests.support.filter.candidates import ALTS, candidates, dictionary
from tests.support.filter.subjects import PAPER, subject
from tests.support.hub import make_clip
from tests.support.settings_files import copy_settings, write_settings

__all__ = ["dictionary"]
KEPT = {"kite": "A red kite above the hills of the country.", "boat": "A white boat on the water of a bay."}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a small CLIP, a vocabulary, and two more candidates that break no rule."""
    make_clip(tmp_path / "models" / "clip")
    (tmp_path / "labels.txt").write_text("kite\nboat\npeople\nbathtub\nhills\n", encoding="utf-8")
    for key, alt in KEPT.items():
        monkeypatch.setitem(ALTS, key, alt)
    return tmp_path


def run(root: Path, **params: object) -> tuple[StageOutput, Stage]:
    made = PAPER.model_copy(update={"min_label_confidence": 0.0, **params})
    job = make_stage(root, "filter", params=made, inputs={"input": candidates(root)})
    run_filter(job)
    job.finish()
    return StageOutput(job.out), job


CLIP = HubModel(model="models/clip")
LABELS = {"providers": ProviderParams(vision="hub"), "zero_shot": ZeroShot(model="models/clip", vocabulary="labels.txt")}


def values(output: StageOutput) -> dict[str, float]:
    rows = output.ledger().to_pylist()
    return {row["key"]: float(row["value"]) for row in rows if row["rule"] == "image_text"}


def stored(root: Path) -> set[str]:
    return {path.name.partition("-v")[0] for path in (root / ".hearsight" / "annotations").glob("*.sqlite")}


def test_without_a_model_plan_stores_and_records_are_those_of_the_embedded_providers(project: Path) -> None:
    assert plan_for(project, ProviderParams(), "en", ZeroShot(), HubModel()) == {
        "language": "embedded",
        "vision": "embedded",
        "text": "en",
    }
    _, job = run(project)
    assert not job.parents and not (project / ".hearsight" / "vocabularies").exists()
    assert stored(project) == {"nsfw.image", "parse.en", "polarity.en", "profanity.en", "recognition.embedded"}
    finding = RULES["image_text"].test(subject(image_text=-1.0), PAPER)
    assert finding.passed and finding.threshold == ANYTHING


def test_records_whose_cosine_is_too_low_are_dropped_with_it_and_the_model_is_a_parent(project: Path) -> None:
    output, job = run(project, **LABELS, image_text=CLIP, min_image_text=1.0)
    found = values(output)
    assert set(found) == set(KEPT) and all(-1 <= value < 1 for value in found.values())
    digest = find_model(project, "models/clip").digest
    assert {("model of labels", digest), ("model of image_text", digest)} <= {(p["name"], p["digest"]) for p in job.parents}
    between = sum(found.values()) / 2
    kept = run(project, **LABELS, image_text=CLIP, min_image_text=between)[0].table().to_pylist()
    assert [row["key"] for row in kept] == [max(found, key=lambda key: found[key])]


def test_a_changed_threshold_computes_nothing_again_and_a_changed_model_everything_of_its_own(project: Path) -> None:
    run(project, image_text=CLIP, min_image_text=-1.0, **LABELS)
    folder = project / ".hearsight" / "annotations"
    before = {path.name: path.stat().st_mtime_ns for path in folder.glob("*.sqlite")}
    run(project, image_text=CLIP, min_image_text=0.9, **LABELS)
    assert {path.name: path.stat().st_mtime_ns for path in folder.glob("*.sqlite")} == before
    make_clip(project / "models" / "clip", seed=1)
    run(project, image_text=CLIP, min_image_text=-1.0, **LABELS)
    new = {path.name for path in folder.glob("*.sqlite")} - set(before)
    assert {name.partition("-v")[0] for name in new} == {"image-text", "labels.hub"} and len(new) == 2


def test_labels_are_those_of_the_vocabulary_compared_by_stem_and_hypernymize_needs_no_model(project: Path) -> None:
    output, _ = run(project, **LABELS)
    rows = {row["key"]: row for row in output.table().to_pylist()}
    assert set(rows) == set(KEPT)
    assert {label["label"] for label in rows["kite"]["labels"]} == {"kite", "boat", "people", "bathtub", "hills"}
    assert sum(label["confidence"] for label in rows["kite"]["labels"]) == pytest.approx(1, abs=1e-3)
    ledger = {row["key"]: row for row in output.ledger().to_pylist()}
    assert ledger["nothing"]["rule"] == "label_overlap" and "recognition.embedded" not in stored(project)
    assert plan_of(project, output)["vision"] == "embedded"
    assert json.loads(output.file("providers.json").read_bytes())["vision"] == "hub"


def test_workers_share_one_file_of_vectors(project: Path) -> None:
    made = PAPER.model_copy(update=LABELS | {"image_text": CLIP})
    job = make_stage(project, "filter", params=made, inputs={"input": candidates(project)}, engine=WORKERS)
    run_filter(job)
    assert len(list((project / ".hearsight" / "vocabularies").glob("*.npy"))) == 1


@pytest.fixture
def finished(project: Path) -> Path:
    """A whole project whose english filter names the model."""
    output, _ = run(project, image_text=CLIP, min_image_text=0.0)
    copy_settings(project)
    made = PAPER.model_copy(update={"image_text": CLIP, "min_label_confidence": 0.0})
    lineage_path(output.path).parent.mkdir(parents=True)
    lineage_path(output.path).write_text(json.dumps({"params": made.plain()}))
    return project


def test_explain_shows_the_cosine_from_the_cache_alone(finished: Path) -> None:
    graph = load_graph(finished)
    (found,) = (each for each in measure_records(graph, "english", ["kite"])["kite"] if each.rule == "image_text")
    assert found.passed is not None and -1 <= float(found.value) <= 1 and found.threshold == ">= 0.0"
    assert found.setting == "english.filter.min_image_text"
    for path in (finished / ".hearsight" / "annotations").glob("image-text*"):
        path.unlink()
    (found,) = (each for each in measure_records(graph, "english", ["kite"])["kite"] if each.rule == "image_text")
    assert found.passed is None and found.note == "no answer of image-text is in the cache"


def test_calibrate_finds_the_cosine_at_which_a_share_of_what_the_other_rules_keep_passes(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEARSIGHT_TRACKING", "off")
    content = read_params_file(PROJECT / "params.yaml")
    own = {"image_text": {"model": "models/clip"}, "min_label_confidence": 0.0}
    content["english"]["filter"] = content["paper"]["filter"] | own
    write_settings(finished, content)
    out = tmp_path / "calibrated"
    half = calibrate(finished, "english", ["image_text"], "", out, pass_rate=0.5)
    whole = calibrate(finished, "english", ["image_text"], "", out, pass_rate=1.0)
    assert half["candidates"] == len(ALTS) and half["pass_all"] <= 2
    found = values(run(finished, image_text=CLIP, min_image_text=1.0)[0])
    assert half["thresholds"] == {"image_text": max(found.values())} and whole["thresholds"] == {
        "image_text": min(found.values())
    }
    rates = list(csv.DictReader((out / "rates.tsv").open(), delimiter="\t"))
    assert {row["setting"] for row in rates} == {"min_image_text"}
    with pytest.raises(HearsightError, match=r"alts.txt: image_text needs a model, and candidates"):
        calibrate(finished, "english", ["image_text"], str(tmp_path / "alts.txt"), out)
    with pytest.raises(HearsightError, match=r"filter.image_text: image_text needs a model"):
        calibrate(finished, "paper", ["image_text"], "", out)


def test_a_takedown_finds_scores_by_the_image_and_by_the_text(project: Path) -> None:
    run(project, image_text=CLIP, min_image_text=-1.0)
    for digest in (sha256_bytes(KEPT["kite"].encode()), candidates(project).table().to_pylist()[0]["image_sha256"]):
        search = SimpleNamespace(matcher=SimpleNamespace(digests=frozenset({digest})), keys=frozenset())
        found = {path.name.partition("-v")[0]: keys for path, keys in find_annotations(project / ".hearsight", search)}
        assert found["image-text"] and all(digest in key for key in found["image-text"])


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"image_text": HubModel(model="models/none")}, "is no folder"),
        ({"image_text": HubModel(model="openai/clip")}, "names no commit"),
        (LABELS | {"zero_shot": ZeroShot(model="models/clip", vocabulary="none.txt")}, "cannot be read"),
        (LABELS | {"zero_shot": ZeroShot()}, "does not say how"),
        (LABELS | {"zero_shot": ZeroShot(model="models/clip")}, "does not say how"),
        (LABELS | {"zero_shot": ZeroShot(model="models/clip", vocabulary="labels.txt", prompt="a photo")}, "does not say how"),
    ],
)
def test_what_cannot_be_used_ends_the_run_before_any_record_is_judged(project: Path, params: dict, said: str) -> None:
    with pytest.raises(HearsightError, match=said):
        run(project, **params)
    assert not stored(project)
