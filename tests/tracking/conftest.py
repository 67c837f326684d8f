"""A tiny project whose crawl, split and train are told to an MLflow of its own: real weights, no training."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from components.core.digests import digest_value, sha256_file
from components.core.ledger import kept, ledger_table
from components.core.records import OUTPUT_SCHEMAS
from components.core.stage_output import StageOutput
from components.execution.output_lineage import write_lineage
from components.execution.runner import StageResult
from tests.support import make_stage, row

FEATURES, REGIONS = 8, 3


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project whose runs are logged at once, in its own MLflow."""
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.setenv("HEARSIGHT_TRACKING", "now")
    for name in ("dvc.yaml", "params.yaml"):
        (tmp_path / name).write_text("{}")
    return tmp_path


@dataclass
class Project:
    """The project's root and the results of its stages."""

    root: Path
    results: dict[str, StageResult]

    def digest(self, stage: str) -> str:
        return self.results[stage].manifest.digest


def finish(root: Path, stage: str, inputs: dict[str, str], rows: list[dict[str, Any]], **more: Any) -> StageResult:
    """Write one output with its lineage, as the runner does."""
    parents = {name: StageOutput(root / "data" / path) for name, path in inputs.items()}
    job = make_stage(root, stage, inputs=parents)
    import pyarrow as pa

    for name, path in more.get("files", {}).items():
        job.write_file(name, path)
    job.write_shard(
        "00000", pa.Table.from_pylist(rows, schema=OUTPUT_SCHEMAS[stage][1]), ledger_table(kept(r["key"]) for r in rows)
    )
    if snapshot := more.get("snapshot"):
        job.note_parent("snapshot", snapshot)
    params = more.get("params", {"seed": 1, "nested": {"rate": 0.5, "names": ["a"]}})
    manifest = job.finish()
    lineage = write_lineage(job, params, digest_value(params))
    metrics = more.get("metrics", [])
    return StageResult(
        root=root, dataset="english", stage=stage, out=job.out, manifest=manifest, lineage=lineage, metrics=metrics, cached={}
    )


def weights(folder: Path, seed: int) -> dict[str, Path]:
    """A small captioner with random weights, saved as the train stage saves one."""
    import torch

    from components.models.captioners import build
    from components.models.captioners.interface import CaptionerConfig
    from components.models.trained_captioner import ImageCaptioner, save_trained
    from components.models.vocabulary import SPECIAL

    torch.manual_seed(seed)
    vocabulary = [*SPECIAL, "dog", "runs"]
    config = CaptionerConfig(
        "t2t8x8", len(vocabulary), image_features=FEATURES, width=8, heads=2, layers=1, feedforward=16, longest=4
    )
    folder.mkdir(parents=True)
    save_trained(folder, ImageCaptioner(build(config)).state_dict(), vocabulary, {"network": config.plain()})
    return {f"models/captioner-{seed}/{name}": folder / name for name in ("weights.safetensors", "config.json")}


def train_rows(files: dict[str, Path]) -> list[dict[str, Any]]:
    rows = []
    for name, path in files.items():
        if name.endswith("safetensors"):
            seed = int(name.split("/")[1].split("-")[1])
            rows.append(
                row(
                    "pretrain_retrieval", key=f"captioner-{seed}", kind="captioner", seed=seed, weights=name,
                    weights_sha256=sha256_file(path),
                    validation=0.1 * (seed + 1),
                )
            )  # fmt: skip
    return rows


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
    inputs = {"input": "english/split", "pictures": "english/crawl"}
    metrics = [("captioner-0/loss", 2.0, 1), ("captioner-0/loss", 1.0, 2), ("R@10", 0.5, None)]
    results["pretrain_retrieval"] = finish(root, "pretrain_retrieval", inputs, train_rows(files), files=files, metrics=metrics)
    from components.tracking.recorder import record_run

    for result in results.values():
        assert record_run(result)
    yield Project(root, results)
    patch.undo()
