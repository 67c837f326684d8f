"""Run train_captioner: train a model for each seed, and publish the models."""

from __future__ import annotations

import json
from pathlib import Path

from components.core.addresses import PREPARED_FILE, installed_file
from components.execution.stage import Job, Stage
from components.stages.train_captioner import Params
from components.stages.train_captioner.jobs import train_captioner
from components.training.publishing import publish
from components.vision.image_encoders import PACKAGED, weights_digest


def run(stage: Stage) -> None:
    """Train a model for each seed and publish the models.

    Raises:
        HearsightError: the encoder's first weights cannot be read.
    """
    params: Params = stage.params
    training = params.training
    encoder = json.loads(stage.inputs["input"].file(PREPARED_FILE).read_text(encoding="utf-8"))["encoder"]
    if encoder["trained"]:
        # The digest of the file's content is part of the job's key, not only its path.
        encoder["weights"] = training.weights
        encoder["weights_sha256"] = starting_weights_digest(encoder["name"], stage.project, training.weights)
    settings = params.network.plain() | {"longest": training.longest, "min_count": training.min_count}
    jobs = [
        Job(f"{params.name}-{seed}", {"network": params.name, "seed": seed, "settings": settings, "encoder": encoder})
        for seed in training.seeds
    ]
    hardware = training.hardware
    resources = hardware.resources(stage.engine)
    folders = stage.jobs(train_captioner, jobs, step="models", params=hardware, version=1, resources=resources)
    splits = stage.inputs["input"].table(["split"])["split"].to_pylist()
    # Beside the jobs' results, so that other words train nothing again.
    publish(stage, jobs, folders, {"trained_on": {"domain": training.domain, "captions": splits.count("train")}})


def starting_weights_digest(name: str, project: Path, weights: str) -> str:
    """Return the digest of the weights that a trained encoder starts from; empty for random weights.

    Raises:
        HearsightError: the file cannot be read.
    """
    return weights_digest(name, installed_file(project, weights) if weights else None) if weights or name in PACKAGED else ""
