"""MLflow has one run for each trained model, with what a person compares, and everything else is beside it."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from components.tracking.lineage import trace_lineage
from components.tracking.model_runs import OF_CAPTIONERS, OF_RETRIEVAL, model_name
from components.tracking.record import RETRIEVAL, connect
from components.tracking.recorder import record_run
from components.tracking.writing import MOST
from tests.support import row
from tests.support.tracking.project import Project, finish, train_rows, weights

pytestmark = pytest.mark.long
STAGE = "pretrain_retrieval"


def model_runs(root: Path) -> dict[str, Any]:
    client = connect(root)
    experiment = client.get_experiment_by_name(RETRIEVAL)
    return {run.info.run_name: run for run in client.search_runs([experiment.experiment_id])}


def test_a_models_run_has_its_settings_curve_data_and_version(project: Project) -> None:
    client, runs = connect(project.root), model_runs(project.root)
    assert sorted(runs) == ["english-captioner-0", "english-captioner-1"]
    first, second = (runs[name] for name in sorted(runs))
    assert first.data.params.keys() == second.data.params.keys() and len(first.data.params) <= MOST
    differing = {name for name, value in first.data.params.items() if value != second.data.params[name]}
    assert differing == {"seed", "learning_rate"}, "what a comparison shows"
    curve = client.get_metric_history(second.info.run_id, "validation")
    assert [point.value for point in curve] == [0.1, 0.3]
    assert second.data.metrics["best_validation"] == 0.2
    inputs = {(each.dataset.name, each.dataset.digest) for each in second.inputs.dataset_inputs}
    assert inputs == {("english/split", project.digest("split")[:32]), ("english/crawl", project.digest("crawl")[:32])}
    tags = second.data.tags
    assert tags["hearsight.stage"] == STAGE and tags["hearsight.output_digest"] == project.digest(STAGE)
    assert len(tags["mlflow.source.git.commit"]) == 40
    version = client.get_model_version_by_alias("english-captioner", "best")
    assert version.run_id == second.info.run_id and second.info.status == "FINISHED"
    artifacts = {file.path for file in client.list_artifacts(second.info.run_id)}
    assert {"settings.json", "config.json", "history.csv", "output"} <= artifacts
    assert set(json.loads(Path(client.download_artifacts(second.info.run_id, "settings.json")).read_text())) == {
        STAGE, "split", "crawl",
    }  # fmt: skip


def test_the_same_model_in_another_output_keeps_its_run_and_both_versions_their_lineage(root: Path) -> None:
    files = weights(root / "made/0", 0)
    assert record_run(finish(root, STAGE, {}, train_rows(files), files=files))
    (before,) = model_runs(root).values()
    more = files | weights(root / "made/1", 1)
    assert record_run(finish(root, STAGE, {}, train_rows(more), files=more))
    runs = model_runs(root)
    assert len(runs) == 2 and runs[before.info.run_name].info.run_id == before.info.run_id
    assert runs[before.info.run_name].data.params == before.data.params
    for version in ("1", "2", "3"):
        assert trace_lineage(root, f"english-captioner/{version}")[0].model == f"english-captioner/{version}"


def test_an_evaluation_writes_its_scores_to_the_models_runs_and_the_last_one_counts(root: Path) -> None:
    files = weights(root / "made/0", 0) | weights(root / "made/1", 1)
    models = [model | {"kind": "dual_encoder"} for model in train_rows(files)]
    assert record_run(finish(root, STAGE, {}, models, files=files))
    inputs = {"input": f"english/{STAGE}"}

    def evaluate(key: str, low: float, high: float) -> None:
        scores = [("captioner-0", {"test/english/cider_d": low}), ("captioner-1", {"test/english/cider_d": high})]
        scores.append(("captioner-7", {"test/english/cider_d": 1.0}))  # not in this registry
        assert record_run(finish(root, "evaluate_retrieval", inputs, [row("evaluate_retrieval", key=key)], scores=scores))

    def scores() -> list[float]:
        return [run.data.metrics["test/english/cider_d"] for _, run in sorted(model_runs(root).items())]

    evaluate("first", 0.25, 0.5)
    assert scores() == [0.25, 0.5]
    evaluate("second", 0.75, 0.125)
    assert scores() == [0.75, 0.125]
    evaluate("first", 0.25, 0.5)
    assert scores() == [0.25, 0.5], "the first evaluation again, which MLflow knows"


def test_a_stages_run_has_few_metrics_and_its_table_has_every_figure(root: Path) -> None:
    metrics = [(f"figure {number}", float(number), None) for number in range(200)]
    usage = dict.fromkeys(("seconds", "records_out", "yield"), 1.0)
    made = replace(finish(root, "crawl", {}, [row("crawl", key="a")], metrics=metrics), usage=usage)
    run_id = record_run(made)
    client = connect(root)
    run = client.get_run(str(run_id))
    assert len(run.data.metrics) == MOST and len(run.data.params) <= MOST
    assert {"operations/yield", "operations/records_out", "operations/seconds", "record.kept"} <= run.data.metrics.keys()
    with Path(client.download_artifacts(str(run_id), "figures.csv")).open() as file:
        table = {line["figure"]: float(line["value"]) for line in csv.DictReader(file)}
    assert table == {name: value for name, value, _ in metrics} | {"record.kept": 1.0}


def test_parameters_of_all_kinds_of_models_stay_within_what_is_compared() -> None:
    for names in (OF_CAPTIONERS, OF_RETRIEVAL):
        assert len(names) + len(("set", "model", "seed", "parameters")) <= MOST


def test_models_are_named_as_in_tables() -> None:
    assert model_name("captioners/cells/english-t2t8x8", "t2t8x8-0") == "english-t2t8x8-0"
    assert model_name("captioners/cells/my-own-t2t8x8", "t2t8x8-12") == "my-own-t2t8x8-12"
    assert model_name("spoken", "mms-48-0") == "spoken-mms-48-0"
