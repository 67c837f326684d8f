"""Finished outputs with lineage and weights, as the runner leaves them for MLflow."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from components.core.digests import digest_value, sha256_file
from components.core.ledger import kept, ledger_table
from components.core.records import OUTPUT_SCHEMAS
from components.core.stage_output import StageOutput
from components.execution.runner import StageResult, write_lineage
from tests.support import make_stage, row

FEATURES = 8
REGIONS = 3


@dataclass
class Project:
    """The project's root and the results of its stages."""

    root: Path
    results: dict[str, StageResult]

    def digest(self, stage: str) -> str:
        return self.results[stage].manifest.digest


def finish(root: Path, stage: str, inputs: dict[str, str], rows: list[dict[str, Any]], **more: Any) -> StageResult:
    """Write one output with its lineage, as the runner does; of the dataset ``english``, or of ``dataset``."""
    dataset = more.get("dataset", "english")
    parents = {name: StageOutput(root / "data" / path) for name, path in inputs.items()}
    job = make_stage(root, stage, dataset, inputs=parents)
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
    return StageResult(
        root=root, dataset=dataset, stage=stage, out=job.out, manifest=manifest, lineage=lineage,
        metrics=more.get("metrics", []), cached={}, scores=more.get("scores", []), given={"nested": {"names": ["a"]}},
    )  # fmt: skip


def weights(folder: Path, seed: int) -> dict[str, Path]:
    """A small captioner with random weights, saved as the train stage saves one."""
    import torch

    from components.models.captioners import build
    from components.models.captioners.interface import CaptionerConfig
    from components.models.trained_captioner import ImageCaptioner, save_trained
    from components.models.vocabulary import SPECIAL
    from components.stages.train_captioner import CaptionerSettings

    torch.manual_seed(seed)
    vocabulary = [*SPECIAL, "dog", "runs"]
    config = CaptionerConfig(
        "t2t8x8", len(vocabulary), image_features=FEATURES, width=8, heads=2, layers=1, feedforward=16, longest=4
    )
    folder.mkdir(parents=True)
    settings = CaptionerSettings(learning_rate=0.001 * (seed + 1)).plain()
    content = {"kind": "captioner", "seed": seed, "network": config.plain(), "settings": settings}
    save_trained(folder, ImageCaptioner(build(config)).state_dict(), vocabulary, content)
    (folder / "history.csv").write_text(
        "epoch,phase,loss,validation,reward\n0,cross_entropy,2.5,0.1,\n1,cross_entropy,1.5,0.3,\n"
    )
    return {f"models/captioner-{seed}/{name}": folder / name for name in ("weights.safetensors", "config.json", "history.csv")}


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
