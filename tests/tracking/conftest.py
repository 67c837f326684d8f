"""A tiny project whose crawl, split and train are told to an MLflow of its own: real weights, no training."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import row
from tests.support.tracking.project import Project, finish, train_rows, weights


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project whose runs are logged at once, in its own MLflow."""
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.setenv("HEARSIGHT_TRACKING", "now")
    for name in ("dvc.yaml", "params.yaml"):
        (tmp_path / name).write_text("{}")
    return tmp_path


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    patch = pytest.MonkeyPatch()
    for name in ("MLFLOW_TRACKING_URI", "HEARSIGHT_PIPELINE_RUN"):
        patch.delenv(name, raising=False)
    patch.setenv("HEARSIGHT_FLOW_RUN", "flow-run-7")
    root = tmp_path_factory.mktemp("project")
    for command in ("init -q", "config user.email t@example.org", "config user.name t", "commit -q --allow-empty -m first"):
        subprocess.run(["git", "-C", str(root), *command.split()], check=True)
    files = weights(root / "made/0", 0) | weights(root / "made/1", 1)
    results = {"crawl": finish(root, "crawl", {}, [row("crawl", key="a")], snapshot="sample@1-" + "5" * 60)}
    results["split"] = finish(root, "split", {"input": "english/crawl"}, [row("split", key="a")])
    inputs = {"input": "english/split", "images": "english/crawl"}
    metrics = [("captioner-0/loss", 2.0, 1), ("captioner-0/loss", 1.0, 2), ("R@10", 0.5, None)]
    results["pretrain_retrieval"] = finish(root, "pretrain_retrieval", inputs, train_rows(files), files=files, metrics=metrics)
    from components.tracking.recorder import record_run

    for result in results.values():
        assert record_run(result)
    yield Project(root, results)
    patch.undo()
