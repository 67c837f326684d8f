"""What MLflow is told, that it is told once, and that a walk refuses every digest that does not match."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
import yaml

from components.core.digests import sha256_file
from components.core.errors import HearsightError
from components.tracking.lineage import Step, trace_lineage
from components.tracking.record import connect
from components.tracking.recorder import close_pipeline, flush, open_pipeline, record_failure, record_run
from components.tracking.writing import metric_name
from tests.support import row
from tests.support.settings_files import copy_settings
from tests.support.tracking.project import FEATURES, REGIONS, Project, finish

BEST = "english-captioner@best"


def runs_of(project: Project, stage: str) -> list[Any]:
    client = connect(project.root)
    experiment = client.get_experiment_by_name("english")
    return list(
        client.search_runs([experiment.experiment_id], f"tags.`hearsight.stage` = '{stage}' and attributes.status = 'FINISHED'")
    )


def refused(project: Project, target: str = BEST) -> str:
    with pytest.raises(HearsightError) as caught:
        trace_lineage(project.root, target)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@contextmanager
def tag(project: Project, stage: str, name: str, value: str) -> Iterator[None]:
    client, run = connect(project.root), runs_of(project, stage)[0]
    client.set_tag(run.info.run_id, name, value)
    yield
    client.set_tag(run.info.run_id, name, run.data.tags[name])


@contextmanager
def changed(path: Path) -> Iterator[Path]:
    before = path.read_bytes()
    path.write_bytes(before[:-1] + bytes([before[-1] ^ 1]))
    yield path
    path.write_bytes(before)


def test_a_tracked_run_has_its_parameters_metrics_and_tags(project: Project) -> None:
    (run,) = runs_of(project, "pretrain_retrieval")
    digest = project.digest("pretrain_retrieval")
    assert run.info.run_name == f"pretrain_retrieval@{digest[:8]}"
    client = connect(project.root)
    own = {"seed": 1, "nested": {"rate": 0.5, "names": ["a"]}}
    assert run.data.params == {"nested.names": '["a"]'}, "what the dataset's file gives"
    settings = json.loads(Path(client.download_artifacts(run.info.run_id, "settings.json")).read_text())
    assert settings == {"pretrain_retrieval": own, "split": own, "crawl": own}, "everything that it was made with"
    assert run.data.metrics["R_at_10"] == 0.5
    assert run.data.metrics["record.kept"] == 2
    assert [m.value for m in client.get_metric_history(run.info.run_id, "captioner-0/loss")] == [2.0, 1.0]
    tags = run.data.tags
    assert tags["hearsight.output_digest"] == digest
    assert len(tags["mlflow.source.git.commit"]) == 40
    assert tags["hearsight.flow_run"] == "flow-run-7"
    inputs = {(i.dataset.name, i.dataset.digest) for i in run.inputs.dataset_inputs}
    assert inputs == {("english/split", project.digest("split")[:32]), ("english/crawl", project.digest("crawl")[:32])}


def test_adding_the_same_item_again_changes_no_file(project: Project) -> None:
    client = connect(project.root)
    before = len(client.search_model_versions("name = 'english-captioner'"))
    again = record_run(project.results["pretrain_retrieval"])
    assert [run.info.run_id for run in runs_of(project, "pretrain_retrieval")] == [again]
    assert len(client.search_model_versions("name = 'english-captioner'")) == before == 2


def test_the_best_model_loads_back_and_runs(project: Project) -> None:
    connect(project.root)
    import mlflow

    version = connect(project.root).get_model_version_by_alias("english-captioner", "best")
    assert version.tags["hearsight.key"] == "captioner-1"
    loaded = mlflow.pyfunc.load_model(f"models:/{BEST}")
    captions = loaded.predict(np.ones((2, REGIONS, FEATURES), np.float32))
    assert len(captions) == 2
    assert set(" ".join(captions).split()) <= {"dog", "runs"}


def test_lineage_leads_from_a_model_to_its_snapshot(project: Project) -> None:
    steps = trace_lineage(project.root, BEST)
    assert [(step.stage, step.digest) for step in steps[:-1]] == [
        (s, project.digest(s)) for s in ("pretrain_retrieval", "split", "crawl")
    ]
    assert steps[0].model == "english-captioner/2"
    assert steps[0].flow_run == "flow-run-7"
    assert all(step.on_disk == "same" and step.commit and step.run_id for step in steps[:-1])
    assert steps[-1] == Step("", "snapshot", "sample@1-" + "5" * 60)
    assert json.loads(json.dumps(steps[0].plain()))["run"] == steps[0].run


def test_lineage_of_a_version_and_of_its_weights_file_are_equal(project: Project) -> None:
    path = project.root / "data/english/pretrain_retrieval/models/captioner-1/weights.safetensors"
    assert (
        trace_lineage(project.root, str(path))
        == trace_lineage(project.root, "english-captioner/2")
        == trace_lineage(project.root, BEST)
    )


def test_an_unknown_target_names_the_known_ones(project: Project) -> None:
    for target in ("english-captioner@bets", "nothing", "english-captioner/77"):
        assert f"known are: {BEST}" in refused(project, target)


@pytest.mark.parametrize("stage", ["pretrain_retrieval", "split", "crawl"])
def test_a_renamed_run_is_refused(project: Project, stage: str) -> None:
    with tag(project, stage, "mlflow.runName", "nice run"):
        assert f"its name does not match its output: it should be {stage}@{project.digest(stage)[:8]}" in refused(project)


@pytest.mark.long
@pytest.mark.parametrize("stage", ["pretrain_retrieval", "split", "crawl"])
@pytest.mark.parametrize("name", ["output_digest", "manifest_md5", "parents", "params_sha256", "code_sha256"])
def test_a_broken_tag_is_refused_by_name(project: Project, stage: str, name: str) -> None:
    wrong = "[]" if name == "parents" else "0" * 64
    with tag(project, stage, f"hearsight.{name}", wrong):
        message = refused(project)
    assert project.digest(stage)[:8] in message if name == "output_digest" else name in message
    trace_lineage(project.root, BEST)


def test_a_broken_manifest_on_disk_is_refused(project: Project) -> None:
    for stage in ("crawl", "split", "pretrain_retrieval"):
        with changed(project.root / f"data/english/{stage}/manifest.json"):
            assert f"data/english/{stage}/manifest.json: does not match" in refused(project)


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b"[]", b"3", b"{}", b'{"parents": [3], "params": {}, "code_sha256": ""}'])
def test_a_damaged_copy_of_the_lineage_in_mlflow_is_one_line(project: Project, data: bytes) -> None:
    folder = Path(runs_of(project, "split")[0].info.artifact_uri.removeprefix("file://"))
    with changed(folder / "output" / "lineage.json") as path:
        path.write_bytes(data)
        assert "its copy of the output's records cannot be read" in refused(project)


def test_broken_weights_are_refused_in_the_registry_and_on_disk(project: Project) -> None:
    version = connect(project.root).get_model_version_by_alias("english-captioner", "best")
    stored = (
        connect(project.root).get_logged_model(version.source.removeprefix("models:/")).artifact_location.removeprefix("file://")
    )
    (path,) = Path(stored).rglob("weights.safetensors")
    with changed(path):
        assert "the weights artifact does not match" in refused(project)
    on_disk = project.root / "data/english/pretrain_retrieval/models/captioner-1/weights.safetensors"
    with changed(on_disk):
        assert "no registered model has these weights" in refused(project, str(on_disk))


def test_broken_tags_of_a_model_are_refused(project: Project) -> None:
    client = connect(project.root)
    version = client.get_model_version_by_alias("english-captioner", "best")
    for name in ("output_digest", "weights_sha256"):
        client.set_model_version_tag(version.name, version.version, f"hearsight.{name}", "1" * 64)
        assert "11111111" in refused(project)
        client.set_model_version_tag(version.name, version.version, f"hearsight.{name}", version.tags[f"hearsight.{name}"])
    trace_lineage(project.root, BEST)


def test_a_version_of_another_models_run_is_refused(project: Project) -> None:
    client = connect(project.root)
    run_id = client.get_model_version_by_alias("english-captioner", "best").run_id
    weights = client.get_run(run_id).data.tags["hearsight.weights_sha256"]
    client.set_tag(run_id, "hearsight.weights_sha256", "1" * 64)
    assert "the model was registered by run" in refused(project)
    client.set_tag(run_id, "hearsight.weights_sha256", weights)
    trace_lineage(project.root, BEST)


def test_a_version_of_an_older_store_which_its_stages_run_registered_has_its_lineage(project: Project) -> None:
    client = connect(project.root)
    version = client.get_model_version_by_alias("english-captioner", "best")
    stage_run = client.get_run(version.run_id).data.tags["hearsight.stage_run"]
    client.create_registered_model("older")
    client.create_model_version("older", version.source, stage_run, tags=version.tags)
    assert trace_lineage(project.root, "older/1")[0].digest == project.digest("pretrain_retrieval")


def lock(project: Project, **wrong: str) -> Path:
    import hashlib

    stages = {}
    for stage in ("crawl", "split", "pretrain_retrieval"):
        path = f"reports/lineage/english/{stage}.json"
        md5 = hashlib.md5((project.root / path).read_bytes()).hexdigest()
        stages[f"{stage}@english"] = {
            "cmd": "",
            "deps": [{"path": path, "md5": wrong.get(stage, md5)}, {"path": "x", "md5": "y"}],
        }
    copy_settings(project.root)
    path = project.root / "dvc.lock"
    path.write_text(yaml.safe_dump({"schema": "2.0", "stages": stages}))
    return path


def test_dvc_lock_leads_back_to_the_runs(project: Project) -> None:
    steps = trace_lineage(project.root, str(lock(project)))
    assert [step.stage for step in steps] == ["pretrain_retrieval", "split", "crawl"]
    assert steps[0].run_id == trace_lineage(project.root, BEST)[0].run_id
    assert "reports/lineage/english/split.json: no finished run made the output of this lineage (md5 beefbeef)" in refused(
        project, str(lock(project, split="beef" * 8))
    )


def test_a_renamed_stages_entry_of_dvc_lock_does_not_count(project: Project) -> None:
    path = lock(project)
    content = yaml.safe_load(path.read_text())
    gone = {"path": "reports/lineage/english/crawl.json", "md5": "beef" * 8}
    content["stages"]["check@english-crawl"] = {"cmd": "", "outs": [gone]}
    path.write_text(yaml.safe_dump(content))
    assert len(trace_lineage(project.root, str(path))) == 3


def test_a_failed_stage_leaves_a_failed_run_with_its_line(project: Project) -> None:
    run_id = record_failure(project.root, "english", "filter", {"a": 1}, "params.yaml: a is odd")
    run = connect(project.root).get_run(run_id)
    assert run.info.status == "FAILED"
    assert run.info.run_name == "filter@failed"
    assert run.data.tags["hearsight.error"] == "params.yaml: a is odd"


def test_an_unreachable_tracker_loses_no_run(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    result = finish(project.root, "dedup", {"input": "english/crawl"}, [row("dedup", key="a")])
    with monkeypatch.context() as patch:
        patch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:9")
        patch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
        assert record_run(result) is None
    warning = capsys.readouterr().err
    assert warning.count("\n") == 1
    assert "the run of english/dedup is not in MLflow" in warning
    assert not runs_of(project, "dedup")
    (results,) = flush(project.root)
    assert [run.info.run_id for run in runs_of(project, "dedup")] == [results]
    assert flush(project.root) == []


def test_a_run_logged_late_has_the_files_of_its_own_output(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("HEARSIGHT_TRACKING", "queue")
        first = finish(project.root, "cluster", {"input": "english/crawl"}, [row("cluster", key="a")])
        assert record_run(first) is None
        shutil.rmtree(first.out)
        second = finish(project.root, "cluster", {"input": "english/crawl"}, [row("cluster", key="b")])
        assert record_run(second) is None
    assert not runs_of(project, "cluster")
    logged = flush(project.root)
    client = connect(project.root)
    for run_id, result in zip(logged, (first, second), strict=True):
        assert client.get_run(run_id).data.tags["hearsight.output_digest"] == result.manifest.digest
        path = client.download_artifacts(run_id, "output/manifest.json")
        assert sha256_file(Path(path)) == result.manifest.digest
    assert not any((project.root / ".hearsight" / "runs").iterdir())


@pytest.mark.long
def test_a_killed_logger_loses_no_run_and_logs_none_twice(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEARSIGHT_TRACKING", "background")
    stages = ("import_recordings", "evaluate_speech", "report")
    for stage in stages:
        rows = [row(stage, key="a")]
        assert record_run(finish(project.root, stage, {"input": "english/crawl"}, rows)) is None
    queue = project.root / ".hearsight" / "runs"
    deadline = time.monotonic() + 200
    while len(list(queue.glob("*.json"))) == len(stages):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    # It has logged one record: the kill finds it in the middle of another, or between two.
    (logger,) = loggers(project.root)
    logger.kill()
    logger.wait()
    flush(project.root)
    assert not any(queue.iterdir())
    for stage in stages:
        assert len(runs_of(project, stage)) == 1


def loggers(root: Path) -> list[psutil.Process]:
    return [
        one
        for one in psutil.process_iter(["cmdline"])
        if str(root) in (one.info["cmdline"] or []) and "components.tracking.logger" in one.info["cmdline"]
    ]


def test_a_pipeline_run_holds_its_stages(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = open_pipeline(project.root, ["english"], "12345678-abc")
    monkeypatch.setenv("HEARSIGHT_PIPELINE_RUN", opened["english"])
    run_id = record_run(finish(project.root, "filter", {"input": "english/crawl"}, [row("filter", key="a")]))
    close_pipeline(project.root, opened, finished=True)
    client = connect(project.root)
    assert client.get_run(run_id).data.tags["mlflow.parentRunId"] == opened["english"]
    assert client.get_run(opened["english"]).info.status == "FINISHED"


def test_newer_data_on_disk_is_not_reported_as_damage(project: Project) -> None:
    weights = project.root / "data/english/pretrain_retrieval/models/captioner-1/weights.safetensors"
    assert sha256_file(weights)
    newer = finish(project.root, "split", {"input": "english/crawl"}, [row("split", key="a"), row("split", key="b")])
    record_run(newer)
    assert {step.stage: step.on_disk for step in trace_lineage(project.root, BEST)}["split"] == "newer"
    finish(project.root, "split", {"input": "english/crawl"}, [row("split", key="a")])


def test_names_are_written_in_mlflows_characters() -> None:
    assert metric_name("english/R@10 (%)") == "english/R_at_10 ___"
