"""Pretraining and fine-tuning of tiny dual encoders by their stages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from components.core.stage_output import StageOutput
from components.retrieval.pairs import SpokenSet
from components.stages import finetune_retrieval, pretrain_retrieval
from components.stages.finetune_retrieval.run import run as run_finetune_retrieval
from components.stages.pretrain_retrieval.run import run as run_pretrain_retrieval
from components.training.settings import REFERENCE
from tests.support import make_stage
from tests.support.retrieval.training import OPTIMISATION

MODEL: dict[str, Any] = {
    "optimisation": OPTIMISATION | {"epochs": 2},
    "clips": {"frames": 16, "mask_coefficients": 2, "mask_frames": 3, "held": 10},
    "loss": {
        "margin": 0.001, "margin_factor": 1.002, "margin_every": 1000, "triplet_margin": 1.0,
        "scope": "global", "matching": ["image", "text", "group"],
    },
}  # fmt: skip
TOWERS: dict[str, Any] = {
    "speech": "convolutions", "image": "features", "weights": "", "side": 0, "embedding": 4, "scale": 8.0, "pool_padding": True,
    "norm_momentum": 0.1, "dropout": 0.1, "layers": 2, "channels": 8,
}  # fmt: skip
HARDWARE = REFERENCE.model_dump(mode="json")


def pretrain(root: Path, one: SpokenSet, **changed: Any) -> StageOutput:
    chosen = {"rows": ["mms-4"], "seeds": [0], "towers": TOWERS, "model": MODEL, "hardware": HARDWARE} | changed
    inputs = {"input": one.speech, "images": one.images, "more": one.speech, "more_images": one.images}
    stage = make_stage(root, "pretrain_retrieval", "spoken", pretrain_retrieval.Params.model_validate(chosen), inputs)
    run_pretrain_retrieval(stage)
    stage.finish()
    return StageOutput(stage.out)


def fine_tune(root: Path, one: SpokenSet, start: StageOutput, **changed: Any) -> tuple[StageOutput, dict[str, str]]:
    chosen = {"rows": ["both-100"], "seeds": [0], "pretrained": "mms-4", "loss": "mms", "model": MODEL, "hardware": HARDWARE}
    inputs = {"input": one.speech, "images": one.images, "start": start}
    stage = make_stage(root, "finetune_retrieval", "stamps", finetune_retrieval.Params.model_validate(chosen | changed), inputs)
    run_finetune_retrieval(stage)
    stage.finish()
    return StageOutput(stage.out), stage.cache_summary()


def config_of(models: StageOutput, key: str) -> dict[str, Any]:
    return json.loads(models.file(f"models/{key}/config.json").read_text())
