"""Test sets that `hearsight dataset add --test` writes: a trained captioner is tested on them, and DVC sees their changes."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
import yaml
from dvc.exceptions import ReproductionError
from dvc.repo import Repo
from typer.testing import CliRunner

from components.cli.main import app
from components.cli.stages import check_draft
from components.core.addresses import lineage_path
from components.core.files import publish_json
from components.core.graph import TEST_SETS, load_graph
from components.core.params import dataset_file
from components.core.stage_output import StageOutput
from components.core.yaml_edit import edited_yaml
from components.execution import runner
from flows.graph import read_tasks
from tests.support import InlineEngine
from tests.support.pipeline.drawings import captions, draw
from tests.support.pipeline.harness import ENVIRONMENT, Project, commit, make_project
from tests.support.settings_files import write_settings

# A whole run of DVC takes minutes on a busy machine.
pytestmark = [pytest.mark.long, pytest.mark.timeout(7200)]

OTHERS = (
    "filter", "hypernymize", "extract_descriptions", "dedup", "cluster", "synthesize", "import_recordings", "evaluate_speech",
    "pretrain_retrieval", "finetune_retrieval", "evaluate_retrieval", "build_search_index", "build_rating_items",
    "import_ratings", "evaluate_ratings", "report", "posts_report", "drift",
)  # fmt: skip
"""Stages that no dataset takes; dvc.yaml names them."""
UNUSED = "".join(f"  {stage}: {{}}\n" for stage in OTHERS)
PARAMS = f"""\
engine: {{kind: local, workers: 1}}
storage: {{kind: local, versioned: ""}}
chain:
  crawl: {{}}
  split: {{}}
  extract_features: {{}}
  evaluate_captioners:
    captioners: {{captioners: captioners/cells}}
{UNUSED}
captioners:
  sets: [drawn]
  tests: []
  networks: [rnn1x1]
  shared: {{}}
  evaluate_captioners: {{beam: 2, resamples: 20, examples: 2}}
"""
TESTS = ("coco", "c40", "flickr1k")
NETWORK = {"width": 16, "epochs": 2, "batch": 8, "optimiser": "adam", "learning_rate": 0.01, "self_critical": {"epochs": 0}}
TRAINING = {"training": {"seeds": [0], "min_count": 1}, "networks": {"rnn1x1": NETWORK}}


def add_files(root: Path) -> None:
    """The files of three published sets as their authors write them, and of one's own, with drawn images."""
    names = [f"d{n}.jpg" for n in range(24)]
    draw(root / "drawn", names)
    rows = [f"{text}\tdrawn/{name}\n" for n, name in enumerate(names) for text in captions(n, 2)]
    (root / "drawn.tsv").write_text("".join(rows))

    images = [{"filename": f"COCO_val2014_{n:012d}.jpg", "filepath": "val2014"} for n in range(6)]
    draw(root / "coco", [f"val2014/{image['filename']}" for image in images])
    for n, image in enumerate(images):
        image |= {"split": ("test", "restval")[n % 2], "sentences": [{"raw": text} for text in captions(n, 5)]}
    (root / "dataset_coco.json").write_text(json.dumps({"images": images, "dataset": "coco"}))

    listed = [{"id": n, "file_name": f"COCO_test2014_{n:012d}.jpg"} for n in range(3)]
    draw(root / "c40", [image["file_name"] for image in listed])
    notes = [{"image_id": image["id"], "id": 99, "caption": text} for image in listed for text in captions(image["id"], 40)]
    (root / "captions_c40.json").write_text(json.dumps({"images": listed, "annotations": notes}))

    draw(root / "flickr", [f"{n}.jpg" for n in range(4)])
    lines = [f"{n}.jpg#{at}\t{text}\n" for n in range(4) for at, text in enumerate(captions(n, 5))]
    (root / "results.token").write_text("".join(lines))
    (root / "flickr_1k_test.txt").write_text("1.jpg\n3.jpg\n")


def add(root: Path, *words: str) -> str:
    done = CliRunner().invoke(app, ["dataset", "add", *words], env={"HEARSIGHT_ROOT": str(root)})
    assert done.exit_code == 0, done.output
    return done.output


def add_sets(root: Path) -> None:
    """Write a training set and three test sets by one command each."""
    write_settings(root, yaml.safe_load(PARAMS))
    add(root, "drawn", "--table", "tsv:drawn.tsv")
    with edited_yaml(dataset_file(root, "drawn")) as content:
        content["train_captioner"] = TRAINING
    karpathy = add(root, "coco", "--table", "karpathy:dataset_coco.json", "--images", "coco", "--test")
    assert "next: dvc repro evaluate_captioners@captioners" in karpathy
    add(root, "c40", "--table", "coco:captions_c40.json", "--images", "c40", "--test")
    add(root, "flickr1k", "--table", "flickr30k:results.token", "--images", "flickr", "--list", "flickr_1k_test.txt", "--test")


def dvc(project: Project, *words: str) -> tuple[int, str]:
    environment = {**ENVIRONMENT, "HEARSIGHT_ROOT": str(project.root)}
    done = subprocess.run(["dvc", *words], cwd=project.root, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def extra(root: Path) -> None:
    add_files(root)
    add_sets(root)


def pass_on(project: Project, *datasets: str) -> None:
    """Let DVC run the entries that hand lineages of test sets to the evaluation."""
    with Repo(str(project.root)) as repo:
        for dataset in datasets:
            repo.reproduce(f"{TEST_SETS}@{dataset}", single_item=True)


def stub(project: Project, dataset: str, digest: str) -> Path:
    """Stand in for a set whose features have been made; return their lineage."""
    lineage = lineage_path(project.root / "data" / dataset / "extract_features")
    publish_json(lineage, {"manifest_sha256": digest})
    return lineage


def test_a_changed_test_set_is_evaluated_again_and_one_that_failed_its_check_is_not(tmp_path: Path, monkeypatch) -> None:
    project = make_project(tmp_path / "project", {}, add_sets)
    monkeypatch.chdir(project.root)
    for dataset in TESTS:
        stub(project, dataset, "a" * 64)
    for name in (
        "reports/lineage/captioners/cells/drawn-rnn1x1/train_captioner.json",
        "data/captioners/evaluate_captioners/manifest.json",
        "reports/lineage/captioners/evaluate_captioners.json",
        "reports/data_docs/captioners/evaluate_captioners/index.html",
    ):
        (project.root / name).parent.mkdir(parents=True, exist_ok=True)
        (project.root / name).write_text("{}")
    for name in ("evaluate_captioners.json", "table.csv"):
        (project.root / "reports" / "captioners").mkdir(parents=True, exist_ok=True)
        (project.root / "reports" / "captioners" / name).write_text("{}")

    tasks = {task.address: task.upstream for task in read_tasks(project.root, ["evaluate_captioners@captioners"])}
    assert {f"{TEST_SETS}@{name}" for name in TESTS} <= set(tasks["evaluate_captioners@captioners"])
    assert tasks[f"{TEST_SETS}@coco"] == ("extract_features@coco",)

    def stale() -> object:
        with Repo(str(project.root)) as repo:
            return repo.status("evaluate_captioners@captioners")

    pass_on(project, *TESTS)
    commit(project, "evaluate_captioners@captioners")
    assert stale() == {}
    stub(project, "c40", "b" * 64)
    pass_on(project, "c40")
    assert stale() == {"evaluate_captioners@captioners": [{"changed deps": {"reports/captioner_tests": "modified"}}]}
    lineage_path(project.root / "data" / "c40" / "extract_features").unlink()
    with pytest.raises(ReproductionError):
        pass_on(project, "c40")


@pytest.mark.slow
def test_a_trained_captioner_is_tested_on_every_added_set_with_all_its_references(tmp_path: Path, monkeypatch) -> None:
    project = make_project(tmp_path / "project", {}, extra)
    for name in ("HEARSIGHT_TRACKING", "HEARSIGHT_WORDNET"):
        monkeypatch.setenv(name, ENVIRONMENT[name])
    monkeypatch.setattr(runner, "make_engine", lambda *_: InlineEngine())
    graph = load_graph(project.root)
    for stage in graph.stages:
        for dataset in graph.chain.get(stage, {}):
            runner.run_stage(project.root, stage, dataset, check=check_draft)
    scores = json.loads((project.root / "data" / "captioners" / "evaluate_captioners" / "scores.json").read_text())
    counted = {name: (table["items"], table["references"]) for name, table in scores.items()}
    assert counted["coco"] == (3, 15) and counted["c40"] == (3, 120) and counted["flickr1k"] == (2, 10)
    assert all("drawn-rnn1x1" in table["cells"] for table in scores.values())
    assert "constant" in scores["drawn"] and "constant" not in scores["coco"]

    monkeypatch.chdir(project.root)
    pass_on(project, *TESTS)
    commit(project)
    table = project.root / "captions_c40.json"
    table.write_text(table.read_text().replace("a red square drawn as number 1", "a small red box"))
    with edited_yaml(dataset_file(project.root, "c40")) as content:
        content["crawl"]["snapshot"] = "c40-2"
    code, printed = dvc(project, "repro", "evaluate_captioners@captioners")
    assert code == 0, printed[-3000:]
    changed = [f"{stage}@c40" for stage in ("crawl", "split", "extract_features")]
    tested = [f"{TEST_SETS}@c40", "evaluate_captioners@captioners"]
    assert re.findall(r"^Running stage '(.+)'", printed, re.MULTILINE) == [*changed, *tested]
    records = StageOutput(project.root / "data" / "captioners" / "evaluate_captioners").table(["test", "references"]).to_pylist()
    assert any("a small red box" in record["references"] for record in records if record["test"] == "c40")


def test_one_command_leads_from_a_table_to_a_trained_evaluated_and_registered_captioner(tmp_path: Path, monkeypatch) -> None:
    def extra(root: Path) -> None:
        write_settings(root, yaml.safe_load(PARAMS))
        names = [f"d{n}.jpg" for n in range(24)]
        draw(root / "drawn", names)
        (root / "drawn.tsv").write_text("".join(f"{captions(n, 1)[0]}\tdrawn/{name}\n" for n, name in enumerate(names)))
        add(root, "drawn", "--table", "tsv:drawn.tsv")
        with edited_yaml(dataset_file(root, "drawn")) as content:
            content["train_captioner"] = TRAINING
        assert "next: dvc repro evaluate_captioners@own\n" in add(root, "own", "--table", "tsv:drawn.tsv", "--train")

    project = make_project(tmp_path / "project", {}, extra)
    code, printed = dvc(project, "repro", "evaluate_captioners@own")
    assert code == 0, printed[-3000:]
    stages = ["crawl@own", "split@own", "extract_features@own", "train_captioner@own-rnn1x1", "evaluate_captioners@own"]
    assert re.findall(r"^Running stage '(.+)'", printed, re.MULTILINE) == stages
    monkeypatch.setenv("HEARSIGHT_ROOT", str(project.root))
    shown = CliRunner().invoke(app, ["show", "--dataset", "own"])
    assert shown.exit_code == 0 and "own-rnn1x1" in shown.output and "constant caption" in shown.output
    described = CliRunner().invoke(
        app, ["describe", "--outputs", "--model", "own-rnn1x1", str(project.root / "drawn" / "d1.jpg")]
    )
    assert described.exit_code == 0 and json.loads(described.output)["model"] == "own-rnn1x1"
