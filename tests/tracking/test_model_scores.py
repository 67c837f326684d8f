"""Human figures are metrics of the rated model and of the rated dataset in MLflow."""

from __future__ import annotations

from pathlib import Path

import pytest

from components.tracking.model_scores import find_subjects
from components.tracking.record import connect
from components.tracking.recorder import record_run
from tests.support import row
from tests.support.tracking.project import finish, train_rows, weights

pytestmark = pytest.mark.long


def test_figures_are_metrics_of_the_rated_model_and_dataset(root: Path) -> None:
    files = weights(root / "made/0", 0)
    models = [one | {"kind": "dual_encoder", "key": "mms-48-0"} for one in train_rows(files)]
    trained = finish(root, "pretrain_retrieval", {}, models, files=files)
    split = finish(root, "split", {}, [row("split", key="a")])
    finish(root, "build_rating_items", {"captions": "english/split"}, [row("build_rating_items", key="i")])
    finish(root, "import_ratings", {"input": "english/build_rating_items"}, [row("import_ratings", key="i.a")])
    finish(root, "evaluate_retrieval", {"input": "english/pretrain_retrieval"}, [row("evaluate_retrieval", key="q.0")])
    inputs = {name: f"english/{stage}" for name, stage in
              (("input", "import_ratings"), ("items", "build_rating_items"), ("retrieval", "evaluate_retrieval"))}  # fmt: skip
    scores = [
        ("mms-48-0", {"human/image_to_speech/human_r_at_1": 0.25}),
        ("other-0", {"human/image_to_speech/human_r_at_1": 0.5}),
        ("", {"human/good_2_of_3": 0.75, "human/truth_centre/good_5_of_5": 0.5}),
    ]
    rated = finish(root, "evaluate_ratings", inputs, [row("evaluate_ratings", key="i")], scores=scores)
    assert record_run(trained)
    run_id = record_run(rated)
    client = connect(root)
    (version,) = client.search_model_versions("name = 'english-dual_encoder'")
    model = client.get_logged_model(str(version.source).removeprefix("models:/"))
    metrics = {metric.key: metric for metric in model.metrics or []}
    found = metrics["human/image_to_speech/human_r_at_1"]
    assert (found.value, found.dataset_name, found.run_id) == (0.25, "english/split", version.run_id)
    assert found.dataset_digest == split.manifest.digest[:32]
    logged = client.get_run(str(run_id)).data.metrics
    assert logged["human/good_2_of_3"] == 0.75 and logged["human/truth_centre/good_5_of_5"] == 0.5


def test_a_lineage_of_another_output_is_no_parent(root: Path) -> None:
    evaluated = finish(root, "evaluate_retrieval", {}, [row("evaluate_retrieval", key="q.0")])
    parent = {"name": "retrieval", "output": "english/evaluate_retrieval", "manifest_sha256": "0" * 64}
    assert find_subjects(root, "evaluate_ratings", [parent]) == []
    assert find_subjects(root, "evaluate_ratings", [parent | {"manifest_sha256": evaluated.manifest.digest}]) == []
    assert find_subjects(root, "evaluate_ratings", [parent | {"output": "english/missing"}]) == []
    assert find_subjects(root, "split", [parent]) == []
