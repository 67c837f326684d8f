"""MLflow's artifacts of a project in S3 are in its bucket, and the project's MLflow server shows them."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path

import pytest

from components.tracking.record import connect, experiment_id
from flows.ui import mlflow_server
from tests.support.execution.ray_support import free_port
from tests.support.storage.projects import in_bucket, settings
from tests.support.storage.server import S3Server

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]


def test_artifacts_are_logged_to_the_bucket_and_shown(server: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MLFLOW_TRACKING_URI", "MLFLOW_S3_ENDPOINT_URL"):
        monkeypatch.setenv(name, "")  # so that what is set below is restored
        monkeypatch.delenv(name)
    root = in_bucket(tmp_path / "project", server)
    client = connect(root)
    experiment = experiment_id(client, root, "english")
    assert client.get_experiment(experiment).artifact_location == f"{settings(server).url}/mlflow/english"
    run = client.create_run(experiment).info.run_id
    (tmp_path / "figure.txt").write_text("a figure")
    client.log_artifact(run, str(tmp_path / "figure.txt"), "files")
    assert server.stored() == [f"mlflow/english/{run}/artifacts/files/figure.txt"]
    with mlflow_server(root, free_port()) as url:
        listing = f"{url}/ajax-api/2.0/mlflow/artifacts/list?run_id={run}&path=files"
        with urllib.request.urlopen(listing) as answer:
            assert [entry["path"] for entry in json.load(answer)["files"]] == ["files/figure.txt"]
        with urllib.request.urlopen(f"{url}/get-artifact?run_id={run}&path=files/figure.txt") as answer:
            assert answer.read() == b"a figure"
