"""The index as an MLflow model: logged with its files, registered, and served in another interpreter."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from components.core.addresses import lineage_path
from components.core.errors import HearsightError
from components.execution.runner import StageResult
from components.search.searcher import SEARCH
from components.search.served import DEFAULTS, load, query_of
from components.speech.audio.files import to_flac
from components.tracking.lineage import trace_lineage
from components.tracking.models import OUT, PARAMS, log_search
from components.tracking.record import connect
from components.tracking.recorder import record_run
from tests.support import PROJECT
from tests.support.search_index.world import clip, drawn_image

pytestmark = pytest.mark.long

ASK = """
import json, sys, pandas
import mlflow
from mlflow.pyfunc.scoring_server import invocations
model = mlflow.pyfunc.load_model("models:/stamps-search@best")
asked = json.load(sys.stdin)
served = invocations(json.dumps(asked["request"]), "application/json", model, model.metadata.get_input_schema())
path = model.predict(pandas.DataFrame({"path": [asked["path"]]}), params={"k": 1, "kind": "speech"})
print("ANSWER" + json.dumps({"status": served.status, "content": json.loads(served.response), "path": path.to_dict("records")}))
"""


@pytest.fixture(scope="module")
def told(stage: Any) -> Any:
    patch = pytest.MonkeyPatch()
    for name in ("MLFLOW_TRACKING_URI", "HEARSIGHT_PIPELINE_RUN"):
        patch.delenv(name, raising=False)
    patch.setenv("HEARSIGHT_TRACKING", "now")
    lineages = {name: json.loads(lineage_path(output.path).read_text()) for name, output in stage.inputs.items()}
    for name, output in stage.inputs.items():
        record_run(StageResult(stage.project, "stamps", output.path.name, output.path, output.manifest, lineages[name], [], {}))
    own = json.loads(lineage_path(stage.out).read_text())
    result = StageResult(stage.project, "stamps", "build_search_index", stage.out, stage.manifest, own, stage.metrics, {})
    assert record_run(result)
    yield result
    patch.undo()


def test_the_registered_model_answers_json_and_paths_in_a_fresh_interpreter(told: StageResult, tmp_path: Path) -> None:
    (tmp_path / "query.flac").write_bytes(to_flac(clip(6)))
    content = [base64.b64encode(each).decode() for each in (drawn_image(3), (tmp_path / "query.flac").read_bytes())]
    # What `mlflow models serve` takes in, read and answered by its own code.
    request = {
        "dataframe_split": {"columns": ["content"], "data": [[each] for each in content]},
        "params": {"k": 2, "language": "es", "images": True},
    }
    asked = {"request": request, "path": str(tmp_path / "query.flac")}
    uri = f"sqlite:///{(told.root / 'mlflow.db').resolve()}"
    environment = os.environ | {"MLFLOW_TRACKING_URI": uri, "MLFLOW_DISABLE_TELEMETRY": "true", "PYTHONPATH": str(PROJECT)}
    done = subprocess.run(
        [sys.executable, "-c", ASK], input=json.dumps(asked), capture_output=True, text=True, cwd=tmp_path, env=environment
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    answer = json.loads(done.stdout.rpartition("ANSWER")[2])
    assert answer["status"] == 200, answer["content"]
    result = answer["content"]["predictions"]
    assert list(result[0]) == list(OUT)
    assert [(r["query"], r["kind"], r["rank"]) for r in result] == [
        (q, kind, n) for q in (0, 1) for kind in ("image", "speech") for n in (1, 2)
    ]
    assert all("es" in row["languages"] and base64.b64decode(row["image"])[:2] == b"\xff\xd8" for row in result)
    assert result[6]["key"] == "03es.0" and answer["path"][0]["key"] == "03es.0"
    assert len(answer["path"]) == 1


def test_the_registered_model_contains_the_index_and_has_its_lineage(told: StageResult) -> None:
    client = connect(told.root)
    version = client.get_model_version_by_alias("stamps-search", "best")
    assert version.tags["hearsight.key"] == "both-100-0"
    stored = client.get_logged_model(version.source.removeprefix("models:/")).artifact_location.removeprefix("file://")
    (about,) = Path(stored).rglob("search.json")
    for path in (told.out / SEARCH).rglob("*"):
        if path.is_file():
            assert (about.parent / path.relative_to(told.out / SEARCH)).read_bytes() == path.read_bytes()
    assert next(step.stage for step in trace_lineage(told.root, "stamps-search@best")) == "build_search_index"
    record_run(told)
    log_search(
        client,
        client.search_runs([client.get_experiment_by_name("stamps").experiment_id])[0].info.run_id,
        told.out,
        _record(told),
    )
    assert len(client.search_model_versions("name = 'stamps-search'")) == 1


def _record(told: StageResult) -> Any:
    from components.tracking.record import Record

    return Record(dataset="stamps", stage="build_search_index", digest=told.manifest.digest)


def test_an_invalid_row_is_named_in_the_error(stage: Any) -> None:
    served = load(stage.out / SEARCH)
    rows = pd.DataFrame({"content": [drawn_image(3), None], "path": [None, None]})
    with pytest.raises(HearsightError, match="row 1: has neither content nor path"):
        served.predict(rows)
    for row, what in (
        ({"content": b"x", "path": "y"}, "both content and path"),
        ({"content": "no base64!"}, "not base64"),
        ({"content": 7}, "type int"),
        ({"path": "-"}, "no such file"),
        ({}, "neither"),
    ):
        with pytest.raises(HearsightError, match=what):
            query_of(row, "row 0")
    good = pd.DataFrame({"content": [drawn_image(3)]})
    refused = (
        ({"kind": "text"}, "is not a kind"),
        ({"k": 0}, "cannot give 0"),
        ({"language": "de"}, "known are es, fr"),
    )
    for params, what in refused:
        with pytest.raises(HearsightError, match=what):
            served.predict(good, params)
    assert list(served.predict(good, {"k": 1}).columns) == list(OUT)


def test_the_parameters_of_the_signature_are_those_of_the_model() -> None:
    assert {name: default for name, (_, default) in PARAMS.items()} == DEFAULTS
